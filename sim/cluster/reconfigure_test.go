package cluster

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/ring"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/token"
)

// place is one slot of one resource.
type place struct {
	resource string
	slot     uint64
}

// alive are the tokens that somebody has custody of, or has sent and nobody has
// answered for, by their slot.
func (c *cluster) alive() map[place][]ident.Token {
	born, list := c.born(), make(map[place][]ident.Token)
	for t := range c.stand().hops {
		list[born[t]] = append(list[born[t]], t)
	}
	return list
}

// made is how many tokens of each slot have been generated.
func (c *cluster) made() map[place]int {
	list := make(map[place]int)
	for _, p := range c.born() {
		list[p]++
	}
	return list
}

func (c *cluster) born() map[ident.Token]place {
	born := make(map[ident.Token]place)
	for _, n := range c.nodes {
		for _, e := range n.disk.history {
			if g, ok := e.Record.(*journal.Generated); ok {
				b, id, err := token.PeekGenesis(c.group.ID(), g.Genesis)
				must(err)
				born[ident.Token(id)] = place{b.Resource, b.Slot}
			}
		}
	}
	return born
}

// shared are the slots of some resources.
func shared(resources []group.Resource) map[place]bool {
	list := make(map[place]bool)
	for _, r := range resources {
		for n := range uint64(r.Slots) {
			list[place{r.Name, n}] = true
		}
	}
	return list
}

// oneTokenPolicies are those under which a slot has one token, as long as none is lost.
var oneTokenPolicies = []struct{ policy, preset string }{
	{catalog.Wandering, wandering.Fair}, {catalog.Wandering, wandering.Light}, {catalog.Wandering, wandering.Paper},
	{catalog.Ring, ring.E.String()}, {catalog.Ring, ring.Q.String()},
}

// drawShared draws what a group shares: one to three resources of one to three slots,
// under any policy of one token, with any times.
func drawShared(r *rand.Rand) (list []group.Resource) {
	ms := func(low, high int) time.Duration { return time.Duration(low+r.IntN(high-low+1)) * time.Millisecond }
	for i := range 3 {
		if r.IntN(3) == 0 && (i < 2 || len(list) > 0) {
			continue
		}
		p := oneTokenPolicies[r.IntN(len(oneTokenPolicies))]
		added := group.Resource{
			Name: fmt.Sprintf("r%d", i), Policy: p.policy, Slots: 1 + r.IntN(3), MaxHold: ms(100, 3000),
			Params: policy.Params{
				Preset: p.preset, OperationTime: ms(50, 1000), MembersMax: 2 + r.IntN(20), SkipDelay: ms(10, 200),
			},
		}
		if p.preset == wandering.Paper {
			added.RegenerationMean = 10000 * time.Hour
		}
		list = append(list, added.WithDefaults())
	}
	return list
}

// reconfigured is a group that is given one configuration after the other.
type reconfigured struct {
	*cluster
	t    *testing.T
	r    *rand.Rand
	kept map[place]ident.Token // that a slot has had since it was added
	had  map[place]int         // how many tokens had been generated at the last look
}

func newReconfigured(t *testing.T, seed uint64) *reconfigured {
	r := rand.New(rand.NewPCG(seed, 0x7265636f6e66))
	s := setting{
		seed: seed, resources: drawShared(r), tuning: handoff.DefaultTuning, checkpointAfter: 100,
		constants: group.Settings{GossipInterval: time.Second, ClockAllowance: clockAllowance},
		net:       networkSetting{delay: 10 * time.Millisecond, jitter: 20 * time.Millisecond, notice: time.Second, idle: idleTimeout},
	}
	for i := range 3 + r.IntN(6) {
		s.members = append(s.members, memberSetting{durable: true, found: i == 0, driving: driving(r.IntN(3))})
	}
	c, err := newCluster(s, nil)
	require.NoError(t, err)
	for _, n := range c.nodes {
		n.start(false)
		n.meetSomebody()
		(&schedule{c: c}).demands(n, 2*time.Second)
	}
	g := &reconfigured{cluster: c, t: t, r: r, kept: make(map[place]ident.Token)}
	c.runFor(20 * time.Second)
	g.look(shared(c.resources), nil)
	return g
}

// change gives one member a new configuration, which tells the others.
func (g *reconfigured) change() {
	g.resources = drawShared(g.r)
	c, err := g.ca.configure(g.resources, g.constants)
	require.NoError(g.t, err)
	g.nodes.one(g.r).put(member.Learn{Configuration: c.Raw()})
}

// look waits until everybody goes by the newest configuration, the programs of before
// have ended, and slots that were added have their token. Then every slot has one token,
// that from before unless some configuration meanwhile lacked it.
func (g *reconfigured) look(always, some map[place]bool) {
	g.runFor(8 * time.Second)
	for _, n := range g.nodes {
		require.Equal(g.t, g.ca.version, n.member.Settings().Version)
		require.Len(g.t, n.member.Status().Slots, len(shared(g.resources)), "nothing is left of what has left")
	}
	alive, now, made := g.alive(), shared(g.resources), g.made()
	for p := range alive {
		require.True(g.t, now[p], "%v has a token and is not shared", p)
	}
	for p := range now {
		switch tokens := alive[p]; {
		case always[p] && g.kept[p] != ident.Token{}:
			require.Equal(g.t, []ident.Token{g.kept[p]}, tokens, "%v keeps its token", p)
			require.Equal(g.t, g.had[p], made[p], "%v needs no other", p)
		case some[p]: // gone and back again, which not everybody has seen
			require.LessOrEqual(g.t, len(tokens), 1, "%v", p)
			delete(g.kept, p)
		default:
			require.Len(g.t, tokens, 1, "%v has been added", p)
			require.Equal(g.t, g.had[p]+1, made[p], "nobody makes a second token of %v", p)
		}
		if len(alive[p]) == 1 {
			g.kept[p] = alive[p][0]
		}
	}
	g.had = made
	require.Empty(g.t, g.violations)
}

// TestReconfigure_RandomConfigurations_TokensKept: whatever a group is told to share,
// one configuration after the other or many at a time, nobody is granted what its own
// configuration lacks, each slot that stays keeps its token, one that is added has one
// in seconds, and nothing is left of one that is gone.
func TestReconfigure_RandomConfigurations_TokensKept(t *testing.T) {
	skipUnderRaceDetector(t)
	grants, seeds := 0, whole.Part(3, 6)
	for seed := range uint64(seeds) {
		g := newReconfigured(t, seed)
		for range 8 {
			always, some := shared(g.resources), shared(g.resources)
			for range []int{1, 1, 1, 2, 5}[g.r.IntN(5)] {
				g.change()
				now := shared(g.resources)
				maps.DeleteFunc(always, func(p place, _ bool) bool { return !now[p] })
				maps.Copy(some, now)
				g.runFor(time.Duration(g.r.IntN(1500)) * time.Millisecond)
			}
			maps.DeleteFunc(some, func(p place, _ bool) bool { return always[p] })
			g.look(always, some)
		}
		grants += g.count.grants
	}
	assert.Greater(t, grants, 80*seeds, "programs ran meanwhile")
}

// TestFounding_Added_OneToken: an added resource has one token within three seconds,
// whoever is told first, also when the member that ranks highest is dead, and when it
// comes back later.
func TestFounding_Added_OneToken(t *testing.T) {
	skipUnderRaceDetector(t)
	dead := 0
	for seed := range uint64(9) {
		if whole.Spares(int(seed), 2) {
			continue
		}
		c := calmly(t, 1, make([]memberSetting, 6)...)
		c.runFor(20 * time.Second)
		down := c.nodes[seed%6]
		if seed >= 3 {
			down.crash(false)
			c.runFor(20 * time.Second) // it is missed
		}
		added := c.resources[0]
		added.Name, added.RegenerationMean = fmt.Sprintf("s%d", seed), 10000*time.Hour
		c.resources = append(slices.Clone(c.resources), added)
		config, err := c.ca.configure(c.resources, c.constants)
		require.NoError(t, err)
		c.nodes[(seed+1)%6].put(member.Learn{Configuration: config.Raw()})
		c.runFor(3 * time.Second)
		if tokens := c.alive()[place{added.Name, 0}]; seed < 3 {
			require.Len(t, tokens, 1, "seed %d", seed)
		} else if len(tokens) == 0 {
			dead++
		}
		c.runFor(20 * time.Second)
		require.Len(t, c.alive()[place{added.Name, 0}], 1, "seed %d", seed)
		if down.member == nil {
			down.start(false)
			down.meetSomebody()
		}
		c.runFor(25 * time.Second)
		require.Len(t, c.alive()[place{added.Name, 0}], 1, "seed %d", seed)
		require.Equal(t, 1, c.made()[place{added.Name, 0}], "seed %d: who comes late makes no other", seed)
		require.Empty(t, c.violations)
	}
	t.Logf("%d groups with a dead member took more than three seconds", dead)
}
