package cluster

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// busy is a group whose living members ask for the resource again as soon as their
// programs have ended. It counts turns.
type busy struct {
	*cluster
	asks   map[ident.Member]bool
	once   bool // they do so only when asks is reset
	turns  []ident.Member
	turnAt []time.Duration // of each of the turns
}

// turnTime is how long a turn of a busy group lasts.
const turnTime = 300 * time.Millisecond

// newBusy starts so many members under a preset of the wandering policy.
func newBusy(t *testing.T, seed uint64, members int, preset string) *busy {
	b, err := newBusyGroup(busySetting(seed, members, group.Resource{Name: "r", MaxHold: turnTime, Params: policy.Params{
		Preset: preset, OperationTime: turnTime, MembersMax: members, SkipDelay: 100 * time.Millisecond,
		MinInterval: 50 * time.Millisecond,
	}}))
	require.NoError(t, err)
	return b
}

// busySetting is the setting of a busy group with one resource.
func busySetting(seed uint64, members int, resource group.Resource) setting {
	s := setting{
		seed: seed, tuning: handoff.DefaultTuning, lean: true,
		resources: []group.Resource{resource.WithDefaults()},
		constants: group.Settings{GossipInterval: time.Second, ClockAllowance: clockAllowance},
		net:       networkSetting{delay: 10 * time.Millisecond, jitter: time.Millisecond, notice: time.Second},
	}
	for i := range members {
		s.members = append(s.members, memberSetting{durable: true, found: i == 0})
	}
	return s
}

// newBusyGroup starts the members of a setting.
func newBusyGroup(s setting) (*busy, error) {
	c, err := newCluster(s, nil)
	if err != nil {
		return nil, err
	}
	b := &busy{cluster: c, asks: make(map[ident.Member]bool)}
	c.watch = func(m Moment) {
		if m.Deed == Granted {
			b.asks[m.Member] = b.once
			b.turns = append(b.turns, m.Member)
			b.turnAt = append(b.turnAt, c.now)
		}
	}
	for _, n := range c.nodes {
		n.start(false)
		n.meetSomebody()
	}
	return b, nil
}

// crash ends a member for good, and what runs there.
func (b *busy) crash(n *node) {
	n.discard(true)
	n.end(silent)
	b.killPrograms(n)
	b.asks[n.id] = false
}

// work lets the group work for so long.
func (b *busy) work(d time.Duration) {
	for end := b.now + d; b.now < end; {
		runs := make(map[*node]bool)
		for _, p := range b.running {
			runs[p.node] = true
		}
		for _, n := range b.nodes {
			if n.member != nil && !runs[n] && !b.asks[n.id] {
				b.asks[n.id] = true
				n.requests++
				n.put(member.Demand{Request: n.requests, Resource: "r", MaxHold: turnTime})
			}
		}
		b.runFor(10 * time.Millisecond)
	}
}

// longestRun is the most turns of one member in a row.
func longestRun(turns []ident.Member) (most int) {
	run := 0
	for i := range turns {
		if i > 0 && turns[i] != turns[i-1] {
			run = 0
		}
		run++
		most = max(most, run)
	}
	return most
}

// TestTurns_DeadMembers_GoRoundAmongLiving: with one, a quarter, half, and all but two
// of the members dead, no living member runs more than twice while another one waits.
// Under fair all have as many turns.
func TestTurns_DeadMembers_GoRoundAmongLiving(t *testing.T) {
	skipUnderRaceDetector(t)
	for _, preset := range []string{wandering.Fair, wandering.Light} {
		for _, members := range []int{8, 12} {
			for _, dead := range []int{1, members / 4, members / 2, members - 2} {
				t.Run(fmt.Sprintf("%s/%d of %d", preset, dead, members), func(t *testing.T) {
					b := newBusy(t, uint64(members*100+dead), members, preset)
					b.work(20 * time.Second)
					for _, n := range b.nodes[members-dead:] {
						b.crash(n)
					}
					b.work(time.Minute) // until the deaths are known
					for end := b.now + 10*time.Minute; b.now < end; {
						b.turns = nil
						if b.work(10 * time.Second); len(b.turns) > 0 {
							break // a token that the dead held has been replaced
						}
					}
					b.turns = nil
					b.work(2 * time.Minute)
					count := make(map[ident.Member]int)
					for _, m := range b.turns {
						count[m]++
					}
					t.Logf("%d turns, %d at most in a row", len(b.turns), longestRun(b.turns))
					assert.Greater(t, len(b.turns), 400, "no turn is spent on the dead")
					assert.LessOrEqual(t, longestRun(b.turns), 2)
					for _, n := range b.nodes[:members-dead] {
						if preset == wandering.Fair {
							assert.InEpsilon(t, float64(len(b.turns))/float64(members-dead), count[n.id], 0.1, n.name)
						}
					}
					require.Empty(t, b.violations)
				})
			}
		}
	}
}

// TestQuiet_NothingFails_OneToken: while nothing fails, nobody makes a second token,
// whoever wants the resource: nobody, one member, some now and then, or all.
func TestQuiet_NothingFails_OneToken(t *testing.T) {
	skipUnderRaceDetector(t)
	for _, preset := range []string{wandering.Fair, wandering.Light} {
		for _, members := range quietSizes {
			for name, want := range map[string]int{"nobody": 0, "one": 1, "some": 0, "all": members} {
				t.Run(fmt.Sprintf("%s/%d/%s", preset, members, name), func(t *testing.T) {
					t.Parallel()
					b := newBusy(t, uint64(members), members, preset)
					b.once = name == "some"
					for _, n := range b.nodes[want:] {
						b.asks[n.id] = true // as if it did already
					}
					for i := range *quietFor / time.Minute {
						b.work(time.Minute)
						if n := b.one(b.rng); b.once && (i == 0 || b.rng.IntN(4) == 0) {
							b.asks[n.id] = false
						}
						b.turns = b.turns[:min(len(b.turns), 1)]
					}
					require.Equal(t, name == "nobody", len(b.turns) == 0)
					assert.Equal(t, 1, b.made()[place{"r", 0}], "tokens made")
					assert.Empty(t, b.violations)
				})
			}
		}
	}
}

// quietFor is how long TestQuiet lasts: go test -cluster.quiet 24h for a day.
var quietFor = flag.Duration("cluster.quiet", 5*time.Minute, "virtual time of a group in which nothing fails")

var quietSizes = []int{2, 5, 8}
