package wandering

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
)

// common is what all parts of a walker share: the step in progress, the token here, and what is known of other
// tokens.
type common struct {
	host.Talker
	spans
	isFair      bool // the preset
	timekeepers int  // of each member, under fair (P-41)
	self        ident.Member
	roster      policy.Roster
	rng         rand.Rand

	weights map[string]int // by class; nil: all members have the same
	class   func(ident.Member) string

	drawn, members []ident.Member // scratch

	early clock.Instant // no operation begins before
	holding
	declined     []ident.Member // have not taken the token since the operation last ran here, if a pass has come back since
	observations observations
}

// dueAt is when a member of a weight that was served then may operate again.
func (c *common) dueAt(served clock.Instant, weight int) clock.Instant {
	return served.Add(c.minOf(weight))
}

// minOf is how long it takes a member of a weight to be due: a wait of Δmin, as waits are weighed.
func (c *common) minOf(weight int) time.Duration { return c.min / time.Duration(weight) }

// weightOf is the weight of a member, as far as is known here. Nobody claims one: it follows from its certificate.
func (c *common) weightOf(m ident.Member) int {
	if c.weights == nil || c.class == nil {
		return policy.OrdinaryWeight
	}
	return cmp.Or(c.weights[c.class(m)], policy.OrdinaryWeight)
}

// ownMin is minOf this member.
func (c *common) ownMin() time.Duration { return c.minOf(c.weightOf(c.self)) }

// waited is how long a member of a weight has waited that was served then, as waits are weighed.
func (c *common) waited(served clock.Instant, weight int) time.Duration {
	return policy.Weighted(c.Now.Sub(served), weight)
}

// othersThan reports whether members other than m keep this member's turns. If they
// do, and no member keeps those of m, then m is suspected here or not eligible, and only
// its own word says when it was served.
func (c *common) othersThan(m ident.Member) bool {
	list := c.roster.Witnesses(c.self, 2, nil)
	return len(list) > 1 || len(list) == 1 && list[0] != m
}

// sight is what peers are told about the token here. It is zero if peers have rejected that.
func (c *common) sight() sight {
	if c.observations.fateOf(&c.token.ID) == shunned {
		return sight{}
	}
	return sight{id: c.token.ID, born: c.token.Born, hop: c.token.Hop, age: millis(c.Now.Sub(c.birth))}
}

// timekeepersOf are the members that keep the turns of m. The next call overwrites them.
func (c *common) timekeepersOf(m ident.Member) []ident.Member {
	c.members = c.roster.Witnesses(m, c.timekeepers, c.members[:0])
	return c.members
}

// isTimekeeper reports whether a member keeps the turns of m.
func (c *common) isTimekeeper(m, keeper ident.Member) bool {
	return contains(c.timekeepersOf(m), keeper)
}

// mayRun reports whether the operation may begin: a program wants it, Δmin has passed
// since it last ran, and the token has not outstayed the longest rest.
func (c *common) mayRun() bool {
	return c.Demand && !c.running && c.Now >= c.early && !c.outstayed()
}

// outstayed reports whether the preset fair passes the token on before the operation
// runs under it here again: others may be due that this member does not know.
func (c *common) outstayed() bool {
	return c.isFair && c.ran && (c.Now >= c.came.Add(c.spans.rest) || c.isPressed())
}

// isPressed reports whether a member that waits may have this one struck before the next program has ended: the token has
// been here for too long. Any other member may take it instead.
func (c *common) isPressed() bool {
	return c.awaited && c.Now >= c.since.Add(c.spans.again) && !c.offeredToAll()
}

// offeredToAll reports whether the token was offered to all others since the operation last ran here, or to so many that none
// may be left. Those that have not taken it may be drawn no more.
func (c *common) offeredToAll() bool {
	return c.untaken >= min(host.MaxUntaken, c.roster.Size()+len(c.untakenBy()))
}

// untakenBy are the members that have not taken the token since the operation last ran here.
func (c *common) untakenBy() []ident.Member {
	if c.untaken == 0 {
		return nil
	}
	return c.declined
}

// tell sends a message.
func (c *common) tell(to ident.Member, m *body) {
	if to.IsZero() || to == c.self {
		return
	}
	c.Tell(to, m.append)
}
