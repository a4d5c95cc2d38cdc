package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// byIDs are the places of so many members in the order of their ids.
func byIDs(members int) []int {
	places := make([]int, members)
	for i := range places {
		places[i] = i
	}
	ca := newAuthority(0)
	slices.SortFunc(places, func(i, k int) int { return ca.founder(i).id.Compare(ca.founder(k).id) })
	return places
}

// turnTime is how long a turn lasts at most.
const turnTime = 300 * time.Millisecond

// dialOutTimes are how long the programs of these groups run.
var dialOutTimes = busyTimes{hold: turnTime, shortest: 10 * time.Millisecond, longest: turnTime}

// newDialOut starts a group of a setting in which everybody always wants the resource.
func newDialOut(t *testing.T, s setting) *busy {
	b := newBusyGroup(t, s, dialOutTimes)
	b.start()
	b.want(b.nodes, 0)
	return b
}

// dialOutSetting is a group of busy members in which those at some places of the order of
// ids only dial out. Connections are closed when they are idle, as the daemon's are.
func dialOutSetting(seed uint64, members int, name string, params policy.Params, dialsOut []int) setting {
	params.OperationTime, params.MembersMax, params.SkipDelay = turnTime, members, 20*time.Millisecond
	s := setting{
		seed: seed, tuning: handoff.DefaultTuning, lean: true,
		resources: []group.Resource{group.Resource{Name: "r", Policy: name, MaxHold: turnTime, Params: params}.WithDefaults()},
		constants: group.Settings{GossipInterval: time.Second, ClockAllowance: clockAllowance, MembersMax: members},
		net:       networkSetting{delay: 10 * time.Millisecond, jitter: time.Millisecond, notice: time.Second, idle: 30 * time.Second},
	}
	for i := range members {
		s.members = append(s.members, memberSetting{durable: true, found: i == 0})
	}
	order := byIDs(members)
	for _, place := range dialsOut {
		s.members[order[place]].dialsOut = true
	}
	return s
}

// dialOutPolicies are those under which a member that only dials out gets turns.
var dialOutPolicies = []struct {
	name   string
	params policy.Params
}{
	{catalog.Wandering, policy.Params{Preset: "fair", MinInterval: 50 * time.Millisecond}},
	{catalog.Wandering, policy.Params{Preset: "light", MinInterval: 50 * time.Millisecond}},
	{catalog.Ring, policy.Params{Preset: "e"}},
	{catalog.Ring, policy.Params{Preset: "s"}},
	{catalog.Ring, policy.Params{Preset: "q"}},
	{catalog.Ring, policy.Params{Preset: "d"}},
	{catalog.Multitoken, policy.Params{Preset: "split", TargetInterval: 2 * time.Second}},
}

// dialOutGroups are groups. dialsOut are places in the order of ids: members there only
// dial out.
var dialOutGroups = []struct {
	name     string
	members  int
	dialsOut []int
}{
	{"none", 8, nil},
	{"two", 8, []int{1, 4}},
	{"two adjacent", 5, []int{1, 2}},
	{"last and first", 8, []int{0, 7}},
	{"half, in a row", 8, []int{2, 3, 4, 5}},
	{"half, one in two", 8, []int{0, 2, 4, 6}},
}

// leastDrawn is the least share of a member that only dials out where the next holder is
// drawn at random: of half of 8 members each one finds 0.75 of the turns if all chance to
// be attached to the same three, and so many turns scatter by a few hundredths.
const leastDrawn, leastServed = 0.7, 0.8

// TestDialOut_Busy_ServedLikeOthers: a member that nobody can dial gets as many turns as
// one that can be dialled, and none of them waits for more than a few rounds. Nothing
// fails, and so nobody makes a second token.
func TestDialOut_Busy_ServedLikeOthers(t *testing.T) {
	skipUnderRaceDetector(t)
	for i, p := range dialOutPolicies {
		for j, g := range dialOutGroups {
			if whole.Spares(i+j, 5) {
				continue
			}
			t.Run(fmt.Sprintf("%s %s/%s", p.name, p.params.Preset, g.name), func(t *testing.T) {
				t.Parallel()
				b := newDialOut(t, dialOutSetting(7, g.members, p.name, p.params, g.dialsOut))
				b.runFor(30 * time.Second)
				b.turns = nil
				drawn := p.name == catalog.Multitoken || p.params.Preset == "light"
				if drawn {
					b.runFor(5 * time.Minute)
				}
				b.runFor(time.Minute)
				share, wait := b.shares()
				round := time.Duration(g.members) * (turnTime + 100*time.Millisecond)
				t.Logf("%d turns; least share of a member that only dials out: %.2f; longest wait %v, a round %v; %d tokens made",
					len(b.turns), share, wait, round, b.made)
				if p.name != catalog.Multitoken {
					assert.Equal(t, 1, b.made, "tokens made")
				}
				if drawn {
					assert.GreaterOrEqual(t, share, leastDrawn)
				} else {
					assert.GreaterOrEqual(t, share, leastServed)
					assert.LessOrEqual(t, wait, 3*round)
				}
				assert.Empty(t, b.violations)
			})
		}
	}
}

// TestDialOut_MoreThanHalf_RestHasNoPlace: where most members only dial out, a ring serves
// as many of them as can be dialled, as often as those. The others get nothing, and make
// no tokens of their own for it.
func TestDialOut_MoreThanHalf_RestHasNoPlace(t *testing.T) {
	skipUnderRaceDetector(t)
	t.Parallel()
	b := newDialOut(t, dialOutSetting(7, 8, catalog.Ring, policy.Params{Preset: "e"}, []int{0, 1, 2, 4, 5}))
	b.runFor(5 * time.Minute)
	count, served := make(map[ident.Member]int), 0
	for _, turn := range b.turns {
		count[turn.member]++
	}
	for _, n := range b.nodes {
		t.Log(n.name, n.dialsOut, count[n.id])
		if n.dialsOut && count[n.id] == 0 {
			continue
		}
		served++
		assert.InEpsilon(t, float64(len(b.turns))/6, count[n.id], 0.1, n.name)
	}
	assert.Equal(t, 6, served)
	assert.Equal(t, 1, b.made, "tokens made")
	assert.Empty(t, b.violations)
}

// shares is how many turns the member that only dials out with the fewest has for each one
// of those that can be dialled, on average, and how long anybody waited for a turn.
func (b *busy) shares() (least float64, wait time.Duration) {
	count, last := make(map[ident.Member]int), make(map[ident.Member]time.Duration)
	begin := b.now
	if len(b.turns) > 0 {
		begin = b.turns[0].at
	}
	for _, turn := range b.turns {
		wait = max(wait, turn.at-cmp.Or(last[turn.member], begin))
		count[turn.member]++
		last[turn.member] = turn.at
	}
	fewest, turns, dialled := -1, 0, 0
	for _, n := range b.nodes {
		wait = max(wait, b.now-cmp.Or(last[n.id], begin))
		if n.dialsOut {
			if fewest < 0 || count[n.id] < fewest {
				fewest = count[n.id]
			}
		} else {
			turns, dialled = turns+count[n.id], dialled+1
		}
	}
	if fewest < 0 {
		return 1, wait // nobody only dials out
	}
	return float64(fewest*dialled) / float64(max(turns, 1)), wait
}
