package directory

import "errors"

// Why a member is not eligible, or an object about it was not taken. A
// certificate that is not valid at the time is certificate.ErrExpired or
// certificate.ErrNotYetValid.
var (
	// ErrUnknown says that there is no certificate of the member.
	ErrUnknown = errors.New("member is not known")
	// ErrRevoked says that the CA has revoked the member, for ever.
	ErrRevoked = errors.New("member is revoked")
	// ErrFull says that as many members are known as SetLimit permits, or
	// MaxMembers revocations, and this would be one more.
	ErrFull = errors.New("directory is full")
)
