package member

import (
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// world answers the handoff's questions.
type world struct {
	*core
	candidates *candidates
	admission  *admission
}

// Key is the key of a member, dead or alive.
func (w world) Key(id ident.Member) *signature.PublicKey { return w.dir.Key(id) }

// Choose draws the next holder.
func (w world) Choose(exclude func(ident.Member) bool) (ident.Member, bool) {
	return w.candidates.choose(exclude)
}

// Shuns reports whether a policy has no token passed to a member.
func (w world) Shuns(id ident.Member) bool { return w.candidates.isShunned(id) }

// Standing is nil for a member that may take part in a new handoff.
func (w world) Standing(id ident.Member) error { return w.standing(id) }

// Certificate is the encoded certificate of a member, or "".
func (w world) Certificate(id ident.Member) string { return w.dir.RawCertificate(id) }

// Circulates reports whether this group has the slot of a genesis.
func (w world) Circulates(g token.GenesisBody) bool {
	return w.admission.slots.configured(g.Resource, g.Slot) != nil
}

// Admits says whether a token may make a hop to this member.
func (w world) Admits(g token.GenesisBody, hop uint64) (wire.Refusal, bool) {
	switch {
	case !w.Circulates(g):
		return wire.RefuseResource, false
	case !w.admission.isTimely(g, hop):
		return wire.RefuseClock, false
	case hop > w.admission.mostHops(g):
		return wire.RefuseHop, false
	case hop == 1 && !w.admitsNewborn(g):
		return wire.RefuseNewborn, false
	}
	return 0, true
}

// admitsNewborn reports whether the slot's policy takes a token from the member that has just
// made it (rule P-69).
func (w world) admitsNewborn(g token.GenesisBody) bool {
	p, ok := w.admission.slots.configured(g.Resource, g.Slot).policy.(policy.Admitter)
	return !ok || p.Admits(w.now.Boot, g.Generator)
}

// LastOperation is when the operation last ran in a slot, as far as it is known
// here, in ms since 1970.
func (w world) LastOperation(g token.GenesisBody) uint64 {
	if s := w.admission.slots.byKey[slotKey{g.Resource, g.Slot}]; s != nil {
		return s.lastOperation / 1000
	}
	return 0
}
