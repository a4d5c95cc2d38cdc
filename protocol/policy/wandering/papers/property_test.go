package papers

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/policytest"
)

// driver plays a member: it draws events that the interface permits, performs
// the answers in its own books, and checks that they are permitted too.
type driver struct {
	*rapid.T
	policy policy.Policy

	now      clock.Instant
	tokens   []policy.Token
	places   map[ident.Token]policytest.Place
	kept     map[ident.Token]clock.Instant // since when
	demand   bool
	generate int // Generate actions not answered yet
}

var propertyParams = policy.Params{
	Preset:        Paper,
	OperationTime: 40 * time.Millisecond,
	MembersMax:    5, // Δmin = 100 ms, γ = 500 ms
	SkipDelay:     10 * time.Millisecond,
}

func newDriver(t *rapid.T, p policy.Policy, tokens int) *driver {
	d := &driver{T: t, policy: p, places: map[ident.Token]policytest.Place{}, kept: map[ident.Token]clock.Instant{}}
	for i := range tokens {
		born := rapid.Uint64Range(1, uint64(tokens)).Draw(t, "born") // ties are wanted
		d.tokens = append(d.tokens, policy.Token{ID: ident.Token{byte(i + 1)}, Born: born})
	}
	return d
}

// draw makes the next event. Its second result is false when there is no token
// to tell of now.
func (d *driver) draw() (policy.Event, bool) {
	d.now = d.now.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 1, 9, 10, 11, 100, 101}).Draw(d.T, "ms")) * time.Millisecond)
	e := policy.Event{Kind: rapid.SampledFrom([]policy.EventKind{
		policy.Arrival, policy.Generated, policy.Resumed, policy.Timer, policy.OperationEnded,
		policy.DemandChanged, policy.PassEnded, policy.Message,
	}).Draw(d.T, "kind")}
	switch e.Kind {
	case policy.Timer:
		if due := d.policy.Deadline(); due != clock.Never && rapid.Bool().Draw(d.T, "due") {
			d.now = max(d.now, due)
		}
	case policy.OperationEnded:
		e.Operated = rapid.Bool().Draw(d.T, "operated")
	case policy.DemandChanged:
		e.Demand = rapid.Bool().Draw(d.T, "demand")
		d.demand = e.Demand
	case policy.PassEnded:
		e.Outcome = policy.Outcome(rapid.IntRange(int(policy.Delivered), int(policy.Abandoned)).Draw(d.T, "outcome"))
	}
	return e, d.drawToken(&e)
}

func (d *driver) drawToken(e *policy.Event) bool {
	places, needed := policytest.Permitted[e.Kind]
	if !needed {
		return true
	}
	if e.Kind == policy.Generated && d.generate == 0 {
		return false
	}
	var candidates []policy.Token
	for _, t := range d.tokens {
		if slices.Contains(places, d.places[t.ID]) {
			candidates = append(candidates, t)
		}
	}
	if len(candidates) == 0 {
		return false
	}
	e.Token = rapid.SampledFrom(candidates).Draw(d.T, "token")
	return true
}

// recall tells the policy of a life before a restart, by a clock that may have
// been set meanwhile.
func (d *driver) recall() (events []policy.Event) {
	for range rapid.IntRange(0, 4).Draw(d.T, "recalled") {
		at := clock.Instant(rapid.IntRange(-300, 100).Draw(d.T, "ms")) * clock.Instant(time.Millisecond)
		events = append(events, policy.Event{
			Kind: policy.Recalled, At: at,
			Token:    rapid.SampledFrom(d.tokens).Draw(d.T, "token"),
			Operated: rapid.Bool().Draw(d.T, "operated"),
		})
	}
	return events
}

// step hands over an event and books the answer.
func (d *driver) step(e policy.Event) []policy.Action {
	id := e.Token.ID
	switch {
	case policytest.Receives(e):
		d.places[id], d.kept[id] = policytest.Kept, d.now
	case e.Kind == policy.PassEnded:
		d.places[id] = policytest.Away
	}
	if e.Kind == policy.Generated {
		d.generate--
	}
	actions := d.policy.Step(d.now, e, nil)
	for _, a := range actions {
		d.book(e, a)
	}
	if e.Kind == policy.Timer {
		require.Greater(d, d.policy.Deadline(), d.now, "a Timer leaves nothing undone")
	}
	return actions
}

func (d *driver) book(e policy.Event, a policy.Action) {
	place := d.places[a.Token]
	switch a.Kind {
	case policy.Run:
		require.Equal(d, policytest.Kept, place)
		require.True(d, d.demand, "runs without demand")
		for id, p := range d.places {
			require.NotEqual(d, policytest.Used, p, "runs beside %v", id)
		}
		d.places[a.Token] = policytest.Used
	case policy.Prepare:
		require.Contains(d, []policytest.Place{policytest.Kept, policytest.Used}, place)
		require.True(d, policytest.Receives(e), "prepares a token that has not just come")
	case policy.Pass:
		require.Contains(d, []policytest.Place{policytest.Kept, policytest.Used}, place)
		require.True(d, place == policytest.Kept || e.Kind == policy.OperationEnded, "passes what runs")
		d.places[a.Token] = policytest.Sent
	case policy.Drop:
		require.Equal(d, policy.Arrival, e.Kind)
		require.Equal(d, e.Token.ID, a.Token)
		require.Equal(d, policy.Superseded, a.Reason)
		d.places[a.Token] = policytest.Away
	case policy.Generate:
		require.Equal(d, policy.Timer, e.Kind)
		for id, p := range d.places {
			require.NotContains(d, []policytest.Place{policytest.Kept, policytest.Used}, p, "generates while it has %v", id)
		}
		d.generate++
	default:
		require.Fail(d, "unexpected action", "%+v", a)
	}
}

// checkNothingForgotten: whatever rests here is passed on in time.
func (d *driver) checkNothingForgotten() {
	for id, p := range d.places {
		if p == policytest.Kept {
			require.LessOrEqual(d, d.policy.Deadline(), d.kept[id].Add(propertyParams.SkipDelay), "nobody wakes up for %v", id)
		}
	}
}

func sources(t *rapid.T) (rand.Source, rand.Source) {
	seed := rapid.Uint64().Draw(t, "seed")
	return rand.NewPCG(seed, 0), rand.NewPCG(seed, 0)
}

// TestTwin: for as many tokens as the bounded history holds, an agent answers
// every sequence of events exactly as the plain reading of figure 1 does.
func TestTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source, twinSource := sources(t)
		agent, err := New(propertyParams, source)
		require.NoError(t, err)
		twin := newTwin(propertyParams, twinSource)
		d := newDriver(t, agent, rapid.IntRange(1, historySize).Draw(t, "tokens"))
		for _, e := range d.recall() {
			require.Empty(t, agent.Step(0, e, nil))
			twin.Step(0, e, nil)
		}
		for range rapid.IntRange(1, 300).Draw(t, "events") {
			e, possible := d.draw()
			if !possible {
				continue
			}
			now := d.now
			require.Equal(t, twin.Step(now, e, nil), d.step(e), "%v: %+v", time.Duration(now), e)
			d.checkNothingForgotten()
		}
	})
}

// TestManyTokens: with more tokens than the history holds an agent still
// answers as the interface permits, and forgetting removes no token that the
// unbounded history would keep.
func TestManyTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source, _ := sources(t)
		agent, err := New(propertyParams, source)
		require.NoError(t, err)
		d := newDriver(t, agent, rapid.IntRange(historySize+1, 3*historySize).Draw(t, "tokens"))
		var unbounded past
		for range rapid.IntRange(1, 200).Draw(t, "events") {
			e, possible := d.draw()
			if !possible {
				continue
			}
			dropped := false
			for _, a := range d.step(e) {
				dropped = dropped || a.Kind == policy.Drop
			}
			if dropped {
				require.True(t, unbounded.sandwich(e.Token))
			} else if policytest.Receives(e) {
				unbounded.push(e.Token)
			}
		}
	})
}
