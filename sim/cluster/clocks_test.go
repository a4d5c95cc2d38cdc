package cluster

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/token"
)

// oneToken is a resource whose token is never made anew.
func oneToken() []group.Resource {
	return []group.Resource{group.Resource{Name: "r", MaxHold: time.Second, Params: policy.Params{
		Preset: wandering.Paper, OperationTime: time.Second, MembersMax: 8, SkipDelay: 100 * time.Millisecond, MinInterval: 20 * time.Millisecond,
		RegenerationMean: 10000 * time.Hour,
	}}.WithDefaults()}
}

// calmly starts members on a network that loses nothing. The first ones found.
func calmly(t *testing.T, founders int, members ...memberSetting) *cluster {
	s := setting{
		seed: 1, members: members, resources: oneToken(), tuning: handoff.DefaultTuning,
		constants: group.Settings{GossipInterval: time.Second, ClockAllowance: clockAllowance},
		net:       networkSetting{delay: 10 * time.Millisecond, jitter: time.Millisecond, notice: time.Second},
	}
	for i := range s.members {
		s.members[i].durable, s.members[i].found = true, i < founders
	}
	c, err := newCluster(s, nil)
	require.NoError(t, err)
	for _, n := range c.nodes {
		n.start(false)
		n.meetSomebody()
	}
	return c
}

// takers is how many tokens each member has taken.
func (c *cluster) takers() map[ident.Member]uint64 {
	list := make(map[ident.Member]uint64)
	for _, n := range c.nodes {
		list[n.id] = n.member.Status().Slots[0].Seen
	}
	return list
}

// TestClock_Wrong_TokensTaken: a clock that is wrong by an hour, within the
// allowance, stops nothing, whoever has made the token.
func TestClock_Wrong_TokensTaken(t *testing.T) {
	for name, founder := range map[string]time.Duration{"right": 0, "fast": wrongBy, "slow": -wrongBy} {
		t.Run(name, func(t *testing.T) {
			c := calmly(t, 1, memberSetting{skew: founder}, memberSetting{skew: wrongBy}, memberSetting{skew: -wrongBy}, memberSetting{})
			c.runFor(time.Minute)
			require.Empty(t, c.violations)
			assert.Zero(t, c.count.untimely)
			assert.Greater(t, c.handoffs(), 200)
			for id, taken := range c.takers() {
				assert.Greater(t, taken, uint64(20), id)
			}
			report := audit.Check(c.group.ID(), c.journals(), audit.Options{})
			assert.Empty(t, report.Findings)
			assert.Len(t, report.Tokens, 1)
		})
	}
}

// made reports whether a member has generated a token.
func (n *node) made(id ident.Token) bool {
	for _, e := range n.disk.history {
		if g, ok := e.Record.(*journal.Generated); ok {
			if _, hash, err := token.PeekGenesis(n.c.group.ID(), g.Genesis); err == nil && ident.Token(hash) == id {
				return true
			}
		}
	}
	return false
}

// TestClock_Slow_OlderToken: which of two tokens yields is one of the few
// things that the wall clock decides.
func TestClock_Slow_OlderToken(t *testing.T) {
	for name, skews := range map[string][2]time.Duration{"first": {-wrongBy, wrongBy}, "second": {wrongBy, -wrongBy}} {
		t.Run(name, func(t *testing.T) {
			c := calmly(t, 2, memberSetting{skew: skews[0]}, memberSetting{skew: skews[1]}, memberSetting{})
			c.runFor(time.Minute)
			slow := c.nodes[0]
			if skews[1] < 0 {
				slow = c.nodes[1]
			}
			report := audit.Check(c.group.ID(), c.journals(), audit.Options{})
			require.Len(t, report.Tokens, 2)
			for _, made := range report.Tokens {
				assert.Equal(t, !slow.made(made.ID), made.Fate == audit.Dropped)
			}
		})
	}
}

// clockRun is a run with crashes, cuts and losses, of which the wall clocks'
// errors are no part. At the given instants clocks are set.
func clockRun(seed uint64, crashes bool, skew func(i, round int) time.Duration) string {
	s, f := draw(seed, Durable)
	s.resources, s.walks = oneToken(), oneToken()
	if !crashes {
		for _, kind := range []fault{faultCrash, faultPower, faultStop, faultSyncFails, faultDiskFull} {
			f.every[kind] = 0
		}
	}
	f.every[faultReconfigure], f.every[faultClock], f.wrongClocks = 0, 0, false
	set := func(c *cluster, round int) {
		for i, n := range c.nodes {
			n.skew = skew(i, round)
		}
	}
	var trace bytes.Buffer
	c, err := newCluster(s, &trace)
	must(err)
	set(c, 0)
	(&schedule{c, f}).begin()
	for round := range 6 {
		c.runFor(20 * time.Second)
		set(c, round+1)
	}
	return trace.String()
}

// sameTrace fails with the first line that differs, and some before it.
func sameTrace(t *testing.T, a, b string) {
	t.Helper()
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			t.Fatalf("line %d:\n%s\n\nwanted %s\nis     %s", i+1, strings.Join(x[max(0, i-20):i], "\n"), x[i], y[i])
		}
	}
	require.Len(t, y, len(x))
}

// TestClock_WallClock_NothingElseDepends: with clocks that are wrong by an hour
// the members do the very same, step by step, as with clocks that are right, in
// spite of crashes, cuts and losses. Clocks that are set while members run make no
// difference either; only a restart asks how long ago it was by the wall clock.
func TestClock_WallClock_NothingElseDepends(t *testing.T) {
	skipUnderRaceDetector(t)
	wrong := []time.Duration{wrongBy, -wrongBy, 0}
	for seed := range uint64(2) {
		right := clockRun(seed, true, func(int, int) time.Duration { return 0 })
		assert.Greater(t, bytes.Count([]byte(right), []byte("CRASH")), 5)
		sameTrace(t, right, clockRun(seed, true, func(i, _ int) time.Duration { return wrong[i%3] }))

		right = clockRun(seed, false, func(int, int) time.Duration { return 0 })
		sameTrace(t, right, clockRun(seed, false, func(i, round int) time.Duration { return wrong[(i+round)%3] }))
	}
}
