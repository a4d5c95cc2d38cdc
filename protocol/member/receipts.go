package member

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

// receipts reads the receipts that policies show each other.
type receipts struct {
	*core
	custody *custody
}

// read is policy.Surroundings' Receipt.
func (r *receipts) read(raw []byte) (policy.Receipt, bool) {
	b, err := r.custody.handoff.Receipt(raw)
	if err != nil {
		return policy.Receipt{}, false
	}
	p := r.peers.of(b.Signer)
	current := p != nil && p.hello != nil && p.hello.Incarnation == b.Incarnation
	same, serial := r.comparesOpening(b.Signer, token.PositionOf(b.Extensions))
	return policy.Receipt{
		Token: b.Token, Hop: b.Hop, Signer: b.Signer,
		Current: current, SameProcess: current && same, Serial: serial,
	}, true
}

// comparesOpening reports whether the position of a receipt is in its signer's present opening (H-70), as the endpoint
// record of that one says, and the serial of the custody. The custody memory of a volatile member begins with its
// process, and has no serials.
func (r *receipts) comparesOpening(signer ident.Member, p token.Position) (same bool, serial uint64) {
	e, known := r.dir.EndpointBody(signer)
	switch now := token.PositionOf(e.Extensions); {
	case !known:
		return false, 0
	case now.IsZero():
		return true, 0
	case p.IsZero():
		return true, policy.Unnamed
	default:
		return now.Opening == p.Opening && now.Tag == p.Tag, p.Serial
	}
}
