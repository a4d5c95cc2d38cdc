package wire

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// Refusal says why an OFFER was refused.
type Refusal uint64

// The reasons for a refusal. None of them is about a token already sent: that
// is a VOID or nothing.
const (
	RefuseBusy     Refusal = 1 // no room for another reservation
	RefuseStopping Refusal = 2 // the member is shutting down
	RefuseResource Refusal = 3 // unknown resource or slot: the configurations differ
	RefuseClock    Refusal = 4 // genesis time outside the clock allowance
	RefuseSigner   Refusal = 5 // a signer is revoked or expired
	RefuseTitle    Refusal = 6 // the genesis does not verify, or is another token's
	maxRefusal             = RefuseTitle
)

var refusalNames = [...]string{
	RefuseBusy: "busy", RefuseStopping: "stopping", RefuseResource: "unknown resource",
	RefuseClock: "genesis time", RefuseSigner: "signer not valid", RefuseTitle: "bad title",
}

func (r Refusal) String() string {
	if r >= 1 && r <= maxRefusal {
		return refusalNames[r]
	}
	return fmt.Sprintf("refusal %d", uint64(r))
}

// Refuse answers an OFFER that the member does not accept.
//
//	refuse = [ token: hash, hop: uint, reason: uint, retry_after: uint ]
type Refuse struct {
	_          struct{} `cbor:",toarray"`
	Token      ident.Token
	Hop        uint64
	Reason     Refusal // unknown reasons are read as busy
	RetryAfter uint64  // ms; 0: no advice
}

// Type is TypeRefuse.
func (*Refuse) Type() Type { return TypeRefuse }

func (m *Refuse) validate() error {
	if m.Reason == 0 {
		return fmt.Errorf("%w: refusal without a reason", ErrMalformed)
	}
	return hop(m.Hop)
}
