package experiment

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy/wandering/liars"
	"github.com/wandertoken/wander/sim/circulation"
)

// turnWatch notes how many operations of all lie between two of a member. It is an Observer.
type turnWatch struct {
	circulation.Ignore
	operations int
	last       []int   // of each member
	waits      [][]int // likewise
}

// OperationBegan implements circulation.Observer.
func (o *turnWatch) OperationBegan(_ clock.Instant, member int) {
	o.operations++
	o.waits[member] = append(o.waits[member], o.operations-o.last[member])
	o.last[member] = o.operations
}

// longest are the longest wait and the second longest of a member, in rounds: as many operations as there are members.
func (o *turnWatch) longest(member int) (first, second float64) {
	waits := append(slices.Clone(o.waits[member]), o.operations-o.last[member], 0)
	slices.Sort(waits)
	slices.Reverse(waits)
	n := float64(len(o.last))
	return float64(waits[0]) / n, float64(waits[1]) / n
}

// TestLiars_HonestMembers_WaitFewRounds: whatever 5 % of the members that conspire say under fair, while tokens get lost,
// no honest member waits for more than 2 rounds and one for each liar, once, and for two rounds after that. Left out are three
// that mark the same member, or invent tokens: spec/threat-model.md says what those do.
func TestLiars_HonestMembers_WaitFewRounds(t *testing.T) {
	t.Parallel()
	const members = 60
	rounds := whole.Part(30, 60)
	l := newLab(t.Context(), Experiment{Name: "beyond-walk-liars", Goals: true}, Options{Seeds: Seeds(1, 1), Parallel: 1})
	for _, d := range []deceit{
		{name: "one is always starved", liars: 1, lie: liars.Starved}, {name: "three are", liars: 3, lie: liars.Starved},
		{name: "one never operates", liars: 1, lie: liars.Shirking}, {name: "three do not", liars: 3, lie: liars.Shirking},
		{name: "one denies", liars: 1, lie: liars.Denying}, {name: "three deny", liars: 3, lie: liars.Denying},
		{name: "one marks another", liars: 1, lie: liars.Marking}, {name: "two mark another", liars: 2, lie: liars.Marking},
		{name: "one invents a token", liars: 1, lie: liars.Inventing}, {name: "two do", liars: 2, lie: liars.Inventing},
	} {
		g := walkSized(l, walkFair, members)
		g.maker = d.maker
		w, err := g.world(t.Context(), 1)
		require.NoError(t, err)
		watch := &turnWatch{last: make([]int, members), waits: make([][]int, members)}
		losses := newLosing(g.losses, 0, g.down, g.retry, rand.New(rand.NewPCG(1, streamPrepare)))
		end := clock.Instant(rounds*members) * clock.Instant(walkOperation)
		w.Observe(watch)
		w.Observe(losses)
		losses.plan(w, end)
		w.Run(end)
		require.NoError(t, w.Err())
		lying, others := d.members(members, 1+walkSeeds)
		first, second := 0.0, 0.0
		for _, m := range others {
			a, b := watch.longest(m)
			first, second = max(first, a), max(second, b)
		}
		t.Logf("%s: %d operations, an honest member waits %.2f rounds once, and then %.2f", d.name, watch.operations, first, second)
		assert.LessOrEqual(t, first, 2+float64(len(lying)), d.name)
		assert.LessOrEqual(t, second, 2.0, d.name)
		assert.Greater(t, float64(watch.operations), 0.95*float64(end)/float64(clock.Instant(walkOperation)), "%s: operations", d.name)
	}
}
