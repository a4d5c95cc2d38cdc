package gate

import (
	"fmt"
	"maps"

	"github.com/wandertoken/wander/protocol/ident"
)

// Check returns the first invariant that does not hold, or nil. Tests and simulations call it after every step.
func (g *Gate) Check() error {
	seen := make(map[ident.Member]bool)
	for i, s := range g.slots {
		id := s.session.permit.Title.Holder
		bad := ""
		switch {
		case s.state >= states:
			bad = "no state"
		case s.state == Idle && (s.session.number > 0 || s.settling || s.recorded || s.hook.run != 0):
			bad = "idle with a session"
		case s.occupies(id) && seen[id]:
			bad = "two sessions of a member"
		case (s.state == Opening || s.state == Open) && (s.session.number == 0 || s.session.reason != 0):
			bad = "open without a session, or one that ends"
		case (s.state == Opening || s.state == Closing && !s.settling) != (s.hook.run != 0):
			bad = "a hook that is not waited for, or the reverse"
		case s.state == Closing && s.session.reason == 0:
			bad = "closing for no reason"
		case s.slow > 0 && (s.state != Closing || s.settling):
			bad = "slow without a close hook"
		case g.hours.Closed && (s.serves() || len(s.waiters) > 0):
			bad = "somebody in, or waiting, outside the windows"
		case s.session.number > g.fence:
			bad = "a number that was not given"
		case s.state == Stuck && (!s.recorded || !s.session.abandoned):
			bad = "stuck without a record"
		case i < g.settings.Slots && g.isStuck(i) && len(s.waiters) > 0, i >= g.settings.Slots && len(s.waiters) > 0, len(s.waiters) > MaxWaiters:
			bad = "too many waiters"
		}
		for j, w := range s.waiters {
			for _, o := range s.waiters[:j] {
				if o.is(w.permit) {
					bad = "two waiters of a member and token"
				}
			}
		}
		if bad != "" {
			return fmt.Errorf("%w: slot %d in %v: %s", ErrInvariant, i, s.state, bad)
		}
		if s.occupies(id) {
			seen[id] = true
		}
	}
	if len(g.slots) < g.settings.places() || len(g.slots) > MaxSlots || len(g.revoked) > MaxRevoked {
		return fmt.Errorf("%w: %d slots, %d revoked", ErrInvariant, len(g.slots), len(g.revoked))
	}
	return g.memory.check(g.fence)
}

func (m *memory) check(fence uint64) error {
	if len(m.members) > maxMembers || len(m.generators) > maxMembers {
		return fmt.Errorf("%w: %d members, %d generators", ErrInvariant, len(m.members), len(m.generators))
	}
	for mem := range maps.Values(m.members) {
		if mem.served > fence || len(mem.titles) > MaxTitles {
			return fmt.Errorf("%w: a member with %d titles and session %d", ErrInvariant, len(mem.titles), mem.served)
		}
	}
	for mem := range maps.Values(m.generators) {
		if len(mem.tokens) > MaxTokens {
			return fmt.Errorf("%w: a generator with %d tokens", ErrInvariant, len(mem.tokens))
		}
	}
	return nil
}
