package enrolment

import (
	"fmt"
	"net/http"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/protocol/wire"
)

// Reason is why a request was refused.
type Reason uint64

// The reasons. To who is not known to be a member a service says Refused, Busy
// and, once an invite was taken, Failed: nothing that tells one wrong invite
// from another.
const (
	Refused     Reason = 1
	Revoked     Reason = 2
	Left        Reason = 3
	Expired     Reason = 4
	NotYetValid Reason = 5
	Busy        Reason = 6
	Failed      Reason = 7
)

var reasons = map[Reason]struct {
	err    error
	status int
}{
	Refused:     {ErrRefused, http.StatusForbidden},
	Revoked:     {ErrRevoked, http.StatusForbidden},
	Left:        {ErrLeft, http.StatusForbidden},
	Expired:     {ErrExpired, http.StatusForbidden},
	NotYetValid: {ErrNotYetValid, http.StatusForbidden},
	Busy:        {ErrBusy, http.StatusTooManyRequests},
	Failed:      {ErrFailed, http.StatusServiceUnavailable},
}

// Err is the sentinel of the reason, or ErrAnswer for one that this version
// does not know.
func (r Reason) Err() error {
	if known, ok := reasons[r]; ok {
		return known.err
	}
	return fmt.Errorf("%w: reason %d", ErrAnswer, uint64(r))
}

// Status is the HTTP status that goes with the reason (RFC 9110 §15, RFC 6585
// §4).
func (r Reason) Status() int {
	if known, ok := reasons[r]; ok {
		return known.status
	}
	return http.StatusForbidden
}

// Refusal is the answer to a request that is not granted.
type Refusal struct {
	_      struct{} `cbor:",toarray"`
	Reason Reason
	Object []byte // the signed revocation of who was revoked, otherwise empty
}

func (r Refusal) validate() error { return size("object", r.Object, 0, wire.MaxObject) }
func (Refusal) limits() canonical.Limits {
	return canonical.Limits{MaxBytes: wire.MaxObject + 64, MaxDepth: 2, MaxItems: 8}
}
