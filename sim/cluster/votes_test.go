package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/wire"
)

// votesTimes are those of a busy group whose programs are short against max_hold.
var votesTimes = busyTimes{
	operation: 2 * time.Second, hold: 4 * time.Second, interval: 100 * time.Millisecond, skip: 100 * time.Millisecond,
	gossip: 2 * time.Second, shortest: 200 * time.Millisecond, longest: 4 * time.Second,
}

// newVoting is a busy group whose members ask for votes, and who of them votes where one
// does.
func newVoting(t *testing.T, seed uint64, members int, p busyPolicy, on policy.OnIsolated) (b *busy, voter *node) {
	t.Helper()
	params := policy.Params{
		Preset: p.preset, OperationTime: votesTimes.operation, MembersMax: members, SkipDelay: votesTimes.skip, OnIsolated: on,
	}
	if p.policy == catalog.Wandering {
		params.MinInterval = votesTimes.interval
	}
	b = newBusyGroup(t, setting{
		seed: seed, tuning: handoff.DefaultTuning, lean: true, checkpointAfter: 2000,
		resources: []group.Resource{group.Resource{Name: "r", Policy: p.policy, MaxHold: votesTimes.hold, Params: params}.WithDefaults()},
		constants: group.Settings{GossipInterval: votesTimes.gossip, ClockAllowance: clockAllowance},
		net:       networkSetting{delay: 10 * time.Millisecond, jitter: time.Millisecond, notice: time.Second},
	}, votesTimes)
	for i := range members {
		b.add(b.ca.enrol(b.now), memberSetting{durable: true, found: i == 0, driving: grouped})
	}
	b.start()
	ranks := directory.NewWitnessRank(b.nodes[0].member.Group().ID(), directory.SlotID("r", 0))
	for _, n := range b.nodes {
		if voter == nil || directory.Above(ranks.Of(n.id), ranks.Of(voter.id)) {
			voter = n
		}
	}
	b.want(b.nodes, 0)
	b.runFor(30 * time.Second)
	return b, voter
}

// sides are the cuts of a group of five that programs do not get across: who is inside.
var sides = []struct {
	name   string
	inside func(b *busy, holder, voter *node) []*node
}{
	{"holder", func(b *busy, h, v *node) []*node { return b.choose(1, h, v) }},
	{"holder and another", func(b *busy, h, v *node) []*node { return b.choose(2, h, v) }},
	{"holder and voter", func(b *busy, h, v *node) []*node { return append(b.choose(1, h, v), v) }},
	{"holder and two others", func(b *busy, h, v *node) []*node { return b.choose(3, h, v) }},
}

// choose are the holder and others, without the voter.
func (b *busy) choose(n int, holder, voter *node) []*node {
	list := []*node{holder}
	for _, o := range b.nodes {
		if len(list) < n && o != holder && o != voter {
			list = append(list, o)
		}
	}
	return list
}

// runsBeside is another member than one whose program runs.
func (b *busy) runsBeside(not *node) *node {
	for range 1200 {
		if n := b.holder(); n != nil && n != not {
			return n
		}
		b.runFor(50 * time.Millisecond)
	}
	return nil
}

// TestVotes_Cut_NoTwoPrograms: whatever side of a cut the holder and the voter are on, no
// two programs run at once; one side goes on, and all do after the cut. With continue two
// do.
func TestVotes_Cut_NoTwoPrograms(t *testing.T) {
	skipUnderRaceDetector(t)
	t.Parallel()
	for j, on := range []policy.OnIsolated{policy.Continue, policy.Stop, policy.Majority} {
		for i, p := range []busyPolicy{fairTurns, ringTurns} {
			if whole.Spares(i+j, 2) {
				continue
			}
			t.Run(fmt.Sprintf("%v/%v", on, p), func(t *testing.T) {
				b, voter := newVoting(t, uint64(80+i), 5, p, on)
				require.NotEmpty(t, b.turns, "votes are there")
				for _, side := range sides {
					holder := b.runsBeside(voter)
					require.NotNil(t, holder, "nobody runs")
					x := b.separate(side.inside(b, holder, voter), silence)
					before := len(b.turns)
					b.runFor(90 * time.Second)
					meanwhile := len(b.turns) - before
					b.heal(x)
					b.runFor(30 * time.Second)
					before = len(b.turns)
					b.runFor(30 * time.Second)
					t.Logf("%s: %d programs during the cut, %d in 30 s after it; two at once so far: %d", side.name, meanwhile, len(b.turns)-before, b.walk.together)
					assert.Positive(t, meanwhile, "%s: one side goes on", side.name)
					assert.Positive(t, len(b.turns)-before, "%s: after the cut", side.name)
				}
				if on == policy.Continue {
					assert.Positive(t, b.walk.together, "a cut makes two programs run")
				} else {
					assert.Zero(t, b.walk.together, "two programs at once")
				}
				assert.Empty(t, b.violations)
			})
		}
	}
}

// TestVotes_VoterDead_NobodyRuns: with stop nothing begins while the voter is dead, nor for
// max_hold after it is back; with majority programs go on.
func TestVotes_VoterDead_NobodyRuns(t *testing.T) {
	skipUnderRaceDetector(t)
	t.Parallel()
	for _, on := range []policy.OnIsolated{policy.Stop, policy.Majority} {
		t.Run(on.String(), func(t *testing.T) {
			b, voter := newVoting(t, 90, 5, fairTurns, on)
			require.NotNil(t, b.runsBeside(voter))
			b.lose(voter, 40*time.Second)
			b.runFor(10 * time.Second) // programs that have begun end
			before := len(b.turns)
			b.runFor(25 * time.Second)
			if on == policy.Stop {
				assert.Equal(t, before, len(b.turns))
			} else {
				assert.Greater(t, len(b.turns), before)
			}
			b.runFor(40 * time.Second)
			before = len(b.turns)
			b.runFor(30 * time.Second)
			assert.Greater(t, len(b.turns), before, "the voter is back")
			assert.Zero(t, b.walk.together, "two programs at once")
			assert.Empty(t, b.violations)
		})
	}
}

// TestVotes_ManyMembers_Majority: a majority of a large group votes for each program, at the
// cost of three messages for each vote.
func TestVotes_ManyMembers_Majority(t *testing.T) {
	skipUnderRaceDetector(t)
	t.Parallel()
	members := whole.Part(24, 64)
	b, _ := newVoting(t, 91, members, fairTurns, policy.Majority)
	turns, sent := len(b.turns), b.count.sent[wire.TypePolicy]
	b.runFor(30 * time.Second)
	turns, sent = len(b.turns)-turns, b.count.sent[wire.TypePolicy]-sent
	t.Logf("%d programs in 30 s, %d messages of the policy for each", turns, sent/max(turns, 1))
	assert.GreaterOrEqual(t, turns, 9, "as many as programs have room, about")
	assert.Less(t, sent/max(turns, 1), 3*members/2+50, "for each program: three for each vote, and what the policy and the keeper say")
	assert.Zero(t, b.walk.together, "two programs at once")
	assert.Empty(t, b.violations)
}
