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

// shun is until when a member gets no token, and whether that is so although nobody else is left: one that is
// struck stays so to the end.
type shun struct {
	until        clock.Instant
	firm, struck bool
}

// shun passes no token to a member until an instant, as a policy wants it.
func (m *Member) shun(s *slot, a *policy.Action) {
	before, shunned := m.shuns[a.To]
	switch {
	case a.At <= m.now.Boot:
		delete(m.shuns, a.To)
	case !shunned && len(m.shuns) >= maxShunned:
		return
	default:
		struck := a.Struck || before.struck && before.until > m.now.Boot
		m.shuns[a.To] = shun{until: a.At, firm: a.Firm || struck, struck: struck}
	}
	m.ring.due = true
	if a.Struck {
		m.emit(effect.Report{
			Kind: PassesNoTokens, About: a.To,
			Detail: fmt.Sprintf("%v: a token that this member had was kept or lost; it gets none for %v", s.key, a.At.Sub(m.now.Boot).Round(time.Second)),
		})
	}
}

// isShunned reports whether a policy has this member pass no token to another one now. One that is not shunned
// firmly gets a token where nobody else is left: who keeps it instead would be struck for that.
func (m *Member) isShunned(id ident.Member) bool {
	s, shunned := m.shuns[id]
	if shunned && s.until <= m.now.Boot {
		maps.DeleteFunc(m.shuns, func(_ ident.Member, s shun) bool { return s.until <= m.now.Boot })
		return false
	}
	return shunned && (s.firm || m.hasUnshunned())
}

// hasUnshunned reports whether this member can pass a token to somebody who is not shunned, as far as
// it knows.
func (m *Member) hasUnshunned() bool {
	return m.dir.Count(m.now.Wall, func(id ident.Member) bool {
		return m.shuns[id].until > m.now.Boot || m.isAbsent(id) || m.hasStated(id) || m.suspected(id)
	}) > 0
}
