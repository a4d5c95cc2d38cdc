package enrolment

import (
	"errors"
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/duration"
)

// What a service answers instead of doing what it was asked. Each but ErrAnswer
// has a Reason on the wire.
var (
	// ErrRefused says no more than that. It is the answer to everybody who has
	// not shown a member's certificate, whatever is wrong: an invite that is
	// not known, was used or has ended, a wrong secret, a request that does not
	// fit it, a body that is none. The authority's own log has the reason.
	ErrRefused = errors.New("refused by the authority")
	// ErrRevoked says that the member has been revoked; the revocation comes
	// with it.
	ErrRevoked = errors.New("member has been revoked")
	// ErrLeft says that the member has left the group.
	ErrLeft = errors.New("member has left the group")
	// ErrExpired says that the certificate that the member showed has expired.
	ErrExpired = errors.New("certificate has expired")
	// ErrNotYetValid says that by the service's clock the certificate that the
	// member showed is not valid yet.
	ErrNotYetValid = errors.New("certificate is not valid yet by the authority's clock")
	// ErrBusy says that the service has too much to do, or too much from this
	// address or member. It comes as a *BusyError.
	ErrBusy = errors.New("the authority is busy")
	// ErrFailed says that the service could not do it for a reason of its own.
	ErrFailed = errors.New("the authority failed")
	// ErrAnswer says that an answer is not what it should be.
	ErrAnswer = errors.New("invalid answer from the authority")
)

// Why there was no answer.
var (
	// ErrUnreachable says that none of the addresses was reached.
	ErrUnreachable = errors.New("the authority is unreachable")
	// ErrImpostor says that what answered did not prove to be the service of
	// this group: nothing was sent to it.
	ErrImpostor = errors.New("not the enrolment service of this group")
	// ErrClock says that the certificate of the service is not valid by this
	// machine's clock. It comes as a *ClockError. Nothing was sent.
	ErrClock = errors.New("the clocks of this machine and the authority differ too much")
)

// Why a message is not one.
var (
	// ErrMalformed says that bytes are not the strict encoding of the message,
	// or that one of its limits is exceeded. It wraps the reason.
	ErrMalformed = errors.New("malformed enrolment message")
	// ErrVersion says that a message is of another version.
	ErrVersion = errors.New("enrolment message of an unknown version")
)

// BusyError says when to try again. It matches ErrBusy.
type BusyError struct {
	After time.Duration // 0 if the service did not say
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%v: try again in %v", ErrBusy, e.After)
}

// Unwrap makes errors.Is find ErrBusy.
func (e *BusyError) Unwrap() error { return ErrBusy }

// ClockError says how far the clocks are apart at least. It matches ErrClock.
type ClockError struct {
	Now, NotBefore, NotAfter time.Time // this machine's clock; of the service's certificate
}

func (e *ClockError) Error() string {
	off, how := e.Difference(), "early"
	if off < 0 {
		how = "late"
	}
	return fmt.Sprintf("%v: this machine's clock reads %s, at least %s too %s",
		ErrClock, e.Now.UTC().Format(time.RFC3339), duration.Format(off.Abs().Round(time.Second)), how)
}

// Difference is how much this machine's clock has to be put forward at least,
// negative for backward.
func (e *ClockError) Difference() time.Duration {
	if e.Now.Before(e.NotBefore) {
		return e.NotBefore.Sub(e.Now)
	}
	return e.NotAfter.Sub(e.Now)
}

// Unwrap makes errors.Is find ErrClock.
func (e *ClockError) Unwrap() error { return ErrClock }

// RevokedError brings the signed revocation of the member that asked, not
// verified. It matches ErrRevoked.
type RevokedError struct {
	Revocation []byte // may be empty
}

func (*RevokedError) Error() string { return ErrRevoked.Error() }

// Unwrap makes errors.Is find ErrRevoked.
func (*RevokedError) Unwrap() error { return ErrRevoked }
