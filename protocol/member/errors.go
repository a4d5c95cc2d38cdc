package member

import (
	"errors"

	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/token"
)

// Why a demand, a message or this very member was refused.
var (
	ErrResource  = errors.New("resource is not in the group configuration")
	ErrWaiters   = errors.New("too many programs wait for this resource")
	ErrRevoked   = errors.New("this member's certificate is revoked")
	ErrLeft      = errors.New("this member has left the group")
	ErrExpired   = errors.New("this member's certificate is not valid now")
	ErrHeld      = errors.New("the program that asks runs under a grant of this resource")
	ErrNotDue    = errors.New("the operation ran too recently")
	ErrVolatile  = errors.New("this member's journal does not outlive a restart of the machine")
	ErrStopping  = errors.New("the member is shutting down")
	ErrKey       = errors.New("private key does not belong to the certificate")
	ErrNotMember = errors.New("journal belongs to another member")
)

// rejection is why a message of a peer is not looked at: the metric label.
type rejection string

func (r rejection) Error() string { return string(r) }

// reasonOf is the metric label of a dropped message.
func reasonOf(err error) string {
	if r, ok := errors.AsType[rejection](err); ok {
		return string(r)
	}
	for _, r := range []struct {
		err  error
		name string
	}{
		{token.ErrUnknownSigner, "unknown signer"}, {token.ErrSignature, "signature"},
		{token.ErrSigner, "signer"}, {token.ErrChain, "chain"}, {token.ErrField, "policy field"},
		{token.ErrMalformed, "malformed object"}, {handoff.ErrPaused, "recalling"}, {handoff.ErrAddress, "address"}, {handoff.ErrUnsettled, "unsettled"},
	} {
		if errors.Is(err, r.err) {
			return r.name
		}
	}
	return "other"
}
