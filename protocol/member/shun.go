package member

import (
	"fmt"
	"maps"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// maxShunned bounds the members that policies have this one pass no token to: as many as
// all liars of a large group.
const maxShunned = 256

// PassesNoTokens is the kind of report about a member that gets no tokens for a while, as it has
// not passed one on.
const PassesNoTokens = "passes no tokens on"

// shun passes no token to a member until an instant, as a policy wants it.
func (m *Member) shun(s *slot, a *policy.Action) {
	_, shunned := m.shuns[a.To]
	switch {
	case a.At <= m.now.Boot:
		delete(m.shuns, a.To)
	case !shunned && len(m.shuns) >= maxShunned:
		return
	default:
		m.shuns[a.To] = a.At
	}
	m.ring.due = true
	if a.Struck {
		m.emit(effect.Report{
			Kind: PassesNoTokens, About: a.To,
			Detail: fmt.Sprintf("%v: a token that this member had was kept or lost; it gets none for %v", s.key, a.At.Sub(m.now.Boot).Round(time.Second)),
		})
	}
}

// isShunned reports whether a policy has this member pass no token to another one now.
func (m *Member) isShunned(id ident.Member) bool {
	until, shunned := m.shuns[id]
	if shunned && until <= m.now.Boot {
		maps.DeleteFunc(m.shuns, func(_ ident.Member, until clock.Instant) bool { return until <= m.now.Boot })
		return false
	}
	return shunned
}

// readReceipt is policy.Surroundings' Receipt.
func (m *Member) readReceipt(raw []byte) (policy.Receipt, bool) {
	b, err := m.handoff.Receipt(raw)
	if err != nil {
		return policy.Receipt{}, false
	}
	p := m.peers[b.Signer]
	return policy.Receipt{
		Token: b.Token, Hop: b.Hop, Signer: b.Signer,
		Current: p != nil && p.hello != nil && p.hello.Incarnation == b.Incarnation,
	}, true
}
