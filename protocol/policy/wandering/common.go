package wandering

import (
	"math/rand/v2"

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
	Tuning
	isFair bool // the preset
	self   ident.Member
	roster policy.Roster
	rng    rand.Rand

	drawn, members []ident.Member // scratch

	early clock.Instant // no operation begins before
	holding
	observations observations
}

// dueAt is when a member that was served then may operate again.
func (c *common) dueAt(served clock.Instant) clock.Instant { return served.Add(c.min) }

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
	c.members = c.roster.Witnesses(m, c.Witnesses, c.members[:0])
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
	return c.isFair && c.ran && c.Now >= c.came.Add(c.spans.rest)
}

// tell sends a message.
func (c *common) tell(to ident.Member, m *body) {
	if to.IsZero() || to == c.self {
		return
	}
	c.Tell(to, m.append)
}
