package experiment

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/policytest"
	"github.com/wandertoken/wander/protocol/policy/wandering/liars"
	"github.com/wandertoken/wander/sim/circulation"
)

// A loss is felt until an operation begins, and not at all while one runs; there is
// no token until one is made, unless another one lives.
func TestLosing_Loss_DurationNoted(t *testing.T) {
	a, b, c := ident.Token{1}, ident.Token{2}, ident.Token{3}
	o := newLosing(nil, at(10), time.Minute, time.Second, rand.New(rand.NewPCG(1, 1)))
	o.TokenBorn(at(0), 0, a)
	o.TokenGone(at(5), a, circulation.LostInTransit) // in the warm-up
	o.TokenBorn(at(8), 0, a)
	o.next = withHolder
	o.TokenGone(at(20), a, circulation.LostWithHolder)
	o.TokenBorn(at(31), 1, b)
	o.OperationBegan(at(33), 1)
	o.TokenBorn(at(34), 2, c)
	o.TokenGone(at(35), c, circulation.Dropped) // which is no loss
	o.TokenBorn(at(36), 2, c)
	o.TokenGone(at(37), c, circulation.LostInTransit)
	o.OperationEnded(at(38), 1)
	o.TokenGone(at(40), b, circulation.LostInTransit)
	assert.Equal(t, []tokenLoss{
		{withHolder, 13 * time.Second, 11 * time.Second},
		{otherwise, 0, 0},
		{otherwise, 7 * time.Second, 7 * time.Second}, // felt still
	}, o.finish(at(47)))
}

// roundRobin is ten members that pass the token round.
func roundRobin() walkGroup {
	g := walkSized(nil, "paper", 10)
	g.losses, g.length = nil, 1000*time.Second
	g.maker = func(circulation.Config) circulation.Maker {
		return func(member int, _ policy.Surroundings) (policy.Policy, error) { return turner{member: member}, nil }
	}
	return g
}

// The losses that are planned happen, of their kinds and in turn; the watcher that
// dies is the one that passed the token on.
func TestLosing_Plan_Injected(t *testing.T) {
	g := roundRobin()
	w, err := g.world(t.Context(), 1)
	require.NoError(t, err)
	o := newLosing([]lossKind{inTransit, withHolder, withWatcher}, 0, time.Minute, time.Second/2, rand.New(rand.NewPCG(1, 1)))
	w.Observe(o)
	var fell []int
	w.Observe(&downs{down: func(member int) { fell = append(fell, member) }})
	o.plan(w, at(40_000))
	for s := 10_100; s < 40_000; s += 10_000 { // nobody else makes a token
		w.At(at(s), func(w *circulation.Simulation) { w.Generate(0) })
	}
	w.Run(at(40_000))
	var kinds []lossKind
	for _, l := range o.finish(w.Now()) {
		kinds = append(kinds, l.kind)
		assert.InDelta(t, 98, l.operation.Seconds(), 4)
		assert.Equal(t, l.operation, l.token)
	}
	assert.Equal(t, []lossKind{inTransit, withHolder, withWatcher}, kinds)
	require.Len(t, fell, 3)
	assert.Equal(t, (fell[1]+1)%10, fell[2])
}

// downs tells of members that fall.
type downs struct {
	circulation.Ignore
	down func(member int)
}

func (d *downs) MemberDown(_ clock.Instant, member int) { d.down(member) }

// Two members that have to rest for 10 s: from 18 s on one of them is due.
func TestDueWatch(t *testing.T) {
	d := newDueWatch(2, 10*time.Second, at(1))
	d.OperationBegan(at(3), 0) // both are due, and nobody runs: 2 s after the start
	d.OperationEnded(at(4), 0)
	d.OperationBegan(at(4), 1)
	d.OperationEnded(at(8), 1)
	d.Advanced(at(13))
	assert.Equal(t, 2*time.Second, d.waited, "nobody was due")
	d.OperationBegan(at(15), 0) // due since 14
	assert.Equal(t, 3*time.Second, d.waited)
	d.OperationEnded(at(16), 0)
	d.Advanced(at(20)) // 1 is due since 18
	assert.Equal(t, 5*time.Second, d.waited)
}

// With policies that pass the token round, everything is as in a perfect round
// robin, and what it costs is counted.
func TestWalk_RoundRobin_Exact(t *testing.T) {
	g := roundRobin()
	r, err := g.run(t.Context(), 1)
	require.NoError(t, err)
	assert.InDelta(t, 1, r.stretched(0.5), 0.01)
	assert.InDelta(t, 1, r.stretched(0.999), 0.01)
	assert.Equal(t, [4]float64{0, 1, 0, 0}, [4]float64{r.share(0), r.share(1), r.crowd(), r.waiting})
	assert.Equal(t, [4]float64{2, 2, 1, 5}, [4]float64{r.messagesPerOperation(), r.messagesPerHop(), r.hopsPerOperation(), r.fieldBytes()})
}

// turner is a policy that passes the token to the next of ten members, with a
// field of 5 bytes and two messages.
type turner struct {
	policytest.Untimed
	member int
}

func (m turner) Step(_ clock.Instant, e policy.Event, actions []policy.Action) []policy.Action {
	next := circulation.MemberID((m.member + 1) % 10)
	switch e.Kind {
	case policy.Arrival, policy.Generated:
		actions = append(actions, policy.Action{Kind: policy.Run, Token: e.Token.ID})
	case policy.OperationEnded:
		tell := policy.Action{Kind: policy.Tell, To: next, Field: []byte{1}}
		actions = append(actions, tell, tell, policy.Action{Kind: policy.Pass, To: next, Token: e.Token.ID, Field: make([]byte, 5)})
	}
	return actions
}

// The experiments run, and hold their goals against the presets that are this
// project's, and against no other.
func TestWalk_Goals_Met(t *testing.T) {
	l := newLab(t.Context(), Experiment{Name: "beyond-walk-stress", Goals: true}, Options{Seeds: Seeds(1, 1), Parallel: 1})
	short := time.Duration(whole.Part(4_000, 10_000)) * time.Second
	var own []string
	for _, p := range catalog.Presets(catalog.Wandering) {
		if !isPapers(p.Name) {
			own = append(own, p.Name)
		}
	}
	assert.ElementsMatch(t, own, ownPresets())
	require.NoError(t, walkLosses(l, walkPresets(), short))
	require.NoError(t, walkStress(l, "stress", []string{walkFair}, stresses(l)[:1]))
	require.NoError(t, walkTrade(l, nil, timekeepersAlong[:1], short))
	liarsLab := newLab(t.Context(), Experiment{Name: "beyond-walk-liars", Goals: true}, Options{Seeds: Seeds(1, 1), Parallel: 1})
	require.NoError(t, walkLiars(liarsLab, whole.Part(120, fullLoad), short))
	require.NoError(t, liarsLab.finish())
	l.result.Rows = append(l.result.Rows, liarsLab.result.Rows...)
	require.NoError(t, l.finish())
	names{}.check(l)
	require.NoError(t, l.finish())
	judged := 0
	for _, row := range l.result.Rows {
		_, preset, _ := strings.Cut(row.Quantity, "preset ")
		if preset, _, _ = strings.Cut(preset, ","); isPapers(preset) {
			assert.Equal(t, Measured, row.Verdict, row.ID)
		}
		if row.Verdict != Measured {
			judged++
		}
		assert.NotEmpty(t, row.Beside)
	}
	assert.Equal(t, len(own) > 0, judged > 0)
	assert.NotEmpty(t, l.result.Rows)
}

// A group in which each member has one timekeeper replaces a lost token.
func TestTimekeepers_One_TokenReplaced(t *testing.T) {
	g := walkSized(nil, walkFair, 20)
	g.length, g.timekeepers = 21_000*time.Second, 1
	r, err := g.run(t.Context(), 1)
	require.NoError(t, err)
	require.Len(t, r.losses, 2)
	assert.Less(t, longestOf(r.felt(plainLosses)), 40.0)
}

// Who lies about waiting gains nothing to speak of, one or 5 % of the members
// together.
func TestLiars_Gain_Measured(t *testing.T) {
	assert.Equal(t, 2.0, gain([]uint64{10, 30, 10, 10}, []int{1, 3}))
	for _, d := range deceits(nil) {
		if d.lie != liars.Starved {
			continue
		}
		g := walkOf(nil, walkFair, fullLoad)
		g.length, g.maker = 10*g.ideal(), d.maker
		r, err := g.run(t.Context(), 1)
		require.NoError(t, err)
		assert.LessOrEqual(t, gain(r.PerMember(), d.measured(fullLoad, 1+walkSeeds)), 1.15, d.name)
	}
}

// Two that mark another one as served, or that invent a token, harm hardly anybody.
func TestLiars_Two_HarmLittle(t *testing.T) {
	for _, d := range []deceit{
		{id: "marks-2", liars: 2, lie: liars.Marking},
		{id: "invents-2", liars: 2, lie: liars.Inventing},
	} {
		require.True(t, slices.ContainsFunc(deceits(nil), func(o deceit) bool { return o.id == d.id && o.lie == d.lie && o.liars == d.liars }))
		g := walkOf(nil, walkFair, fullLoad)
		g.length, g.maker = 10*g.ideal(), d.maker
		r, err := g.run(t.Context(), 1)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, gain(r.PerMember(), d.measured(fullLoad, 1+walkSeeds)), 0.85, d.id)
		assert.LessOrEqual(t, r.share(0), 0.005, d.id)
		// 0.0015 is the goal. Without liars it is as much: a keeper that is not the first one
		// asks only some members before it makes a token.
		assert.LessOrEqual(t, r.share(2), 0.002, d.id)
	}
}
