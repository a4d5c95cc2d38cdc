package wire

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// Refusal says why an OFFER was refused.
type Refusal uint64

// The reasons for a refusal. A REFUSE only answers an OFFER: a receiver
// declines a transfer by VOID.
const (
	RefuseBusy      Refusal = 1
	RefuseStopping  Refusal = 2
	RefuseResource  Refusal = 3
	RefuseClock     Refusal = 4
	RefuseSigner    Refusal = 5
	RefuseTitle     Refusal = 6
	RefuseRecalling Refusal = 7
	RefuseHop       Refusal = 8
	RefuseNewborn   Refusal = 9
	maxRefusal              = RefuseNewborn
)

var refusalErrors = [...]error{
	RefuseBusy: ErrBusy, RefuseStopping: ErrStopping, RefuseResource: ErrResource,
	RefuseClock: ErrClock, RefuseSigner: ErrSigner, RefuseTitle: ErrTitle,
	RefuseRecalling: ErrRecalling, RefuseHop: ErrHop, RefuseNewborn: ErrNewborn,
}

func (r Refusal) known() bool { return r >= 1 && r <= maxRefusal }

// Err returns the sentinel of the reason, and ErrBusy for a reason that this
// version does not know.
func (r Refusal) Err() error {
	if r.known() {
		return refusalErrors[r]
	}
	return ErrBusy
}

func (r Refusal) String() string {
	if r.known() {
		return r.Err().Error()
	}
	return fmt.Sprintf("refusal %d", uint64(r))
}

// Refuse answers an OFFER that the member does not accept.
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
