package member

import (
	"fmt"
	"maps"
	"slices"
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

// shun is until when the policy of one slot has a member get no token, and whether that is so although nobody else is
// left: one that is struck stays so to the end.
type shun struct {
	slot         slotKey
	until        clock.Instant
	firm, struck bool
	untaken      bool // only as it has not taken a token
}

// shuns are those of all slots, by the member: at most maxShunned of them, and one of each slot.
type shuns map[ident.Member][]shun

// until is when a member gets tokens again.
func (s shuns) until(id ident.Member) (until clock.Instant) {
	for _, e := range s[id] {
		until = max(until, e.until)
	}
	return until
}

// isFirm reports whether a member gets none although nobody else is left.
func (s shuns) isFirm(id ident.Member, now clock.Instant) bool {
	return slices.ContainsFunc(s[id], func(e shun) bool { return e.firm && e.until > now })
}

// candidates selects the next holder of a token: a member that takes part and answers, and
// that no policy shuns.
type candidates struct {
	*core
	live  *liveness
	shuns shuns
}

// shun passes no token to a member until an instant, as a policy wants it. It changes nothing that the policy of
// another slot wants.
func (c *candidates) shun(s *slot, a *policy.Action) {
	list, struck := c.shuns[a.To], a.Struck
	if i := slices.IndexFunc(list, func(e shun) bool { return e.slot == s.key }); i >= 0 {
		struck = struck || list[i].struck && list[i].until > c.now.Boot
		list = slices.Delete(list, i, i+1)
	}
	if a.At > c.now.Boot && (len(c.shuns) < maxShunned || c.shuns[a.To] != nil) {
		list = append(list, shun{slot: s.key, until: a.At, firm: a.Firm || struck, struck: struck, untaken: a.Untaken && !struck})
	}
	if c.shuns[a.To] = list; len(list) == 0 {
		delete(c.shuns, a.To)
	}
	c.changed = true
	if a.Struck {
		c.emit(effect.Report{
			Kind: PassesNoTokens, About: a.To,
			Detail: fmt.Sprintf("%v: a token that this member had was kept or lost; it gets none for %v", s.key, a.At.Sub(c.now.Boot).Round(time.Second)),
		})
	}
}

// isShunned reports whether a policy has this member pass no token to another one now. A member
// that is not shunned firmly gets a token where nobody else is left: a member that kept the token
// instead would be struck for that.
func (c *candidates) isShunned(id ident.Member) bool {
	if c.shuns[id] == nil {
		return false
	}
	if c.shuns.until(id) <= c.now.Boot {
		maps.DeleteFunc(c.shuns, func(id ident.Member, _ []shun) bool { return c.shuns.until(id) <= c.now.Boot })
		return false
	}
	return c.shuns.isFirm(id, c.now.Boot) || c.hasUnshunned()
}

// isShunnedLate reports whether a member that was to get the token before, and has accepted it late, does not get it: it is shunned
// for more than that it has not taken one.
func (c *candidates) isShunnedLate(id ident.Member) bool {
	more := func(e shun) bool { return !e.untaken && e.until > c.now.Boot }
	return slices.ContainsFunc(c.shuns[id], more) && c.isShunned(id)
}

// hasUnshunned reports whether this member can pass a token to a member that is not shunned, as far
// as it knows.
func (c *candidates) hasUnshunned() bool {
	return c.dir.Count(c.now.Wall, func(id ident.Member) bool {
		return c.shuns.until(id) > c.now.Boot || c.live.absences.isAbsent(id) || c.live.detector.hasStated(id) || c.live.detector.isSuspect(id)
	}) > 0
}

// avoids reports whether a member is not chosen as the next holder: it does not answer, as far as
// this member can tell, or a policy shuns it. Other members may reach it all the same.
func (c *candidates) avoids(id ident.Member) bool {
	return c.live.detector.isUnresponsive(id) || c.isShunned(id)
}

// size is how many there are, without those that are avoided.
func (c *candidates) size() int { return c.dir.Count(c.now.Wall, c.avoids) }

// choose draws the next holder, if need be one that does not answer.
func (c *candidates) choose(exclude func(ident.Member) bool) (ident.Member, bool) {
	id, ok := c.dir.Choose(c.sources.member, c.now.Wall, func(id ident.Member) bool {
		return c.avoids(id) || exclude(id)
	})
	if ok || len(c.live.detector.suspects)+len(c.live.detector.stated)+len(c.shuns) == 0 {
		return id, ok
	}
	return c.dir.Choose(c.sources.member, c.now.Wall, func(id ident.Member) bool { // a member that may be dead is better than none
		return c.isShunned(id) || exclude(id)
	})
}
