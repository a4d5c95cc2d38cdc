package member

import "errors"

// Why a demand, a message or this very member was refused.
var (
	ErrResource  = errors.New("resource is not in the group configuration")
	ErrWaiters   = errors.New("too many programs wait for this resource")
	ErrRevoked   = errors.New("this member's certificate is revoked")
	ErrLeft      = errors.New("this member has left the group")
	ErrExpired   = errors.New("this member's certificate is not valid now")
	ErrHeld      = errors.New("the program that asks runs under a grant of this resource")
	ErrNotDue    = errors.New("the operation ran too recently")
	ErrStopping  = errors.New("the member is shutting down")
	ErrKey       = errors.New("private key does not belong to the certificate")
	ErrNotMember = errors.New("journal belongs to another member")
)
