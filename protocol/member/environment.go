package member

import (
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// environment answers the handoff's questions.
type environment struct {
	*core
	candidates *candidates
	admission  *admission
}

// Key is the key of a member, dead or alive.
func (e environment) Key(id ident.Member) *signature.PublicKey { return e.dir.Key(id) }

// Choose draws the next holder.
func (e environment) Choose(exclude func(ident.Member) bool) (ident.Member, bool) {
	return e.candidates.choose(exclude)
}

// Shuns reports whether a policy has no token passed to a member.
func (e environment) Shuns(id ident.Member) bool { return e.candidates.isShunned(id) }

// ShunsLate reports whether a policy has no token passed to a member although it was to get it before, and has accepted it
// late: not where it is shunned only for that.
func (e environment) ShunsLate(id ident.Member) bool { return e.candidates.isShunnedLate(id) }

// Eligible is nil for a member that may take part in a new handoff.
func (e environment) Eligible(id ident.Member) error { return e.eligible(id) }

// Certificate is the encoded certificate of a member, or "".
func (e environment) Certificate(id ident.Member) string { return e.dir.RawCertificate(id) }

// Circulates reports whether this group has the slot of a genesis.
func (e environment) Circulates(g token.GenesisBody) bool {
	return e.admission.slots.configured(g.Resource, g.Slot) != nil
}

// Admits says whether a token may make a hop to this member.
func (e environment) Admits(made token.Genesis, hop uint64) (wire.Refusal, bool) {
	switch g := made.Body(); {
	case !e.Circulates(g):
		return wire.RefuseResource, false
	case !e.admission.isTimely(g, hop):
		return wire.RefuseClock, false
	case hop > e.admission.mostHops(g):
		return wire.RefuseHop, false
	case hop == 1 && !e.admission.admitsNewborn(made):
		return wire.RefuseNewborn, false
	}
	return 0, true
}

// LastOperation is when the operation last ran in a slot, as far as it is known
// here, in ms since 1970.
func (e environment) LastOperation(g token.GenesisBody) uint64 {
	if s := e.admission.slots.byKey[slotKey{g.Resource, g.Slot}]; s != nil {
		return s.lastOperation / 1000
	}
	return 0
}
