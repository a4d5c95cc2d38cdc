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

const (
	// maxShunned bounds the members that policies have this one pass no token to: as many as
	// all liars of a large group.
	maxShunned = 256

	// shunReported is how long a member is shunned at least for the operator to hear of it. A
	// shorter time is one in which it is asked what became of a token.
	shunReported = time.Minute
)

// shun passes no token to a member until an instant, as a policy wants it.
func (m *Member) shun(s *slot, id ident.Member, until clock.Instant) {
	before, shunned := m.shuns[id]
	switch {
	case until <= m.now.Boot:
		delete(m.shuns, id)
	case !shunned && len(m.shuns) >= maxShunned:
		return
	default:
		m.shuns[id] = until
	}
	m.ring.due = true
	if until >= max(before, m.now.Boot).Add(shunReported) {
		m.emit(effect.Report{
			Kind: "passes no tokens on", About: id,
			Detail: fmt.Sprintf("%v: a token that this member had was lost, and it gave no account of it; it gets none for %v", s.key, until.Sub(m.now.Boot).Round(time.Second)),
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
