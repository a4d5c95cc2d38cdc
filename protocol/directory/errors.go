package directory

import "errors"

// Why a member is not eligible, or an object about it was not taken. A
// certificate that is not valid at the time is certificate.ErrExpired or
// certificate.ErrNotYetValid.
var (
	// ErrUnknown says that there is no certificate of the member.
	ErrUnknown = errors.New("member is not known")
	// ErrRevoked says that the CA has revoked the member, permanently.
	ErrRevoked = errors.New("member is revoked")
	// ErrLeft says that the member has left, permanently.
	ErrLeft = errors.New("member has left")
	// ErrFailed says that a quorum of witnesses could not reach the member,
	// which has not signed a new endpoint record since.
	ErrFailed = errors.New("member has failed")
	// ErrRetired says that the CA key that has signed the member's certificate
	// is not in force any more: it needs a certificate of one that is.
	ErrRetired = errors.New("certificate is of a retired CA key")
	// ErrForgotten says that the certificate ended so long ago that its member
	// has been forgotten.
	ErrForgotten = errors.New("certificate ended too long ago")
	// ErrEntry says that the objects of one entry of a page are about
	// different members.
	ErrEntry = errors.New("entry about different members")
	// ErrFull says that as many members are known as SetLimit permits, or
	// MaxMembers revocations, and this would be one more.
	ErrFull = errors.New("directory is full")
)
