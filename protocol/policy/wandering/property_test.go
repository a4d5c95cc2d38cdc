package wandering

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// tokenPlace is where a token is by the member's own books.
type tokenPlace int

const (
	away tokenPlace = iota
	kept            // rests here
	used            // runs here
	sent            // its Pass is not settled yet
)

// driver plays a member: it draws events that the interface permits, carries
// out the answers in its own books, and checks that they are permitted too.
type driver struct {
	*rapid.T
	policy policy.Policy

	now      clock.Instant
	tokens   []policy.Token
	places   map[ident.Token]tokenPlace
	kept     map[ident.Token]clock.Instant // since when
	demand   bool
	asked    clock.Instant
	generate int // Generate actions not answered yet
}

var propertyParams = policy.Params{
	OperationTime: 40 * time.Millisecond,
	MembersMax:    5, // Δmin = 100 ms, γ = 500 ms
	SkipDelay:     10 * time.Millisecond,
}

func newDriver(t *rapid.T, p policy.Policy, tokens int) *driver {
	d := &driver{T: t, policy: p, asked: clock.Never,
		places: map[ident.Token]tokenPlace{}, kept: map[ident.Token]clock.Instant{}}
	for i := range tokens {
		born := rapid.Uint64Range(1, uint64(tokens)).Draw(t, "born") // ties are wanted
		d.tokens = append(d.tokens, policy.Token{ID: ident.Token{byte(i)}, Born: born})
	}
	return d
}

// draw makes the next event. Its second result is false when what was drawn
// cannot happen now.
func (d *driver) draw() (policy.Event, bool) {
	d.now = d.now.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 1, 9, 10, 11, 100, 101}).Draw(d.T, "ms")) * time.Millisecond)
	token := rapid.SampledFrom(d.tokens).Draw(d.T, "token")
	place := d.places[token.ID]
	e := policy.Event{Token: token}
	switch e.Kind = policy.EventKind(rapid.IntRange(int(policy.Arrival), int(policy.Message)).Draw(d.T, "kind")); e.Kind {
	case policy.Arrival, policy.Resumed:
		return e, place == away || place == sent
	case policy.Generated:
		if d.generate == 0 || place != away {
			return e, false
		}
		d.generate--
	case policy.Recalled:
		return e, false // only at the start
	case policy.Timer:
		if d.asked != clock.Never && rapid.Bool().Draw(d.T, "due") {
			d.now = max(d.now, d.asked)
		}
	case policy.OperationEnded:
		e.Operated = rapid.Bool().Draw(d.T, "operated")
		return e, place == used
	case policy.DemandChanged:
		e.Demand = rapid.Bool().Draw(d.T, "demand")
		d.demand = e.Demand
	case policy.PassSettled:
		e.Outcome = policy.Outcome(rapid.IntRange(int(policy.Delivered), int(policy.Abandoned)).Draw(d.T, "outcome"))
		if place != sent {
			return e, false
		}
		d.places[token.ID] = away
	}
	return e, true
}

// recall tells the policy of a life before a restart.
func (d *driver) recall() (events []policy.Event) {
	at := clock.Instant(-time.Second)
	for range rapid.IntRange(0, 4).Draw(d.T, "recalled") {
		at = at.Add(time.Duration(rapid.IntRange(0, 300).Draw(d.T, "ms")) * time.Millisecond)
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
	case e.Kind == policy.Arrival, e.Kind == policy.Generated, e.Kind == policy.Resumed,
		e.Kind == policy.PassSettled && e.Outcome == policy.Returned:
		d.places[id], d.kept[id] = kept, d.now
	}
	actions := d.policy.Step(d.now, e, nil)
	for i, a := range actions {
		d.book(e, a)
		require.True(d, a.Kind != policy.Wait || i == len(actions)-1, "one Wait, and last")
	}
	if e.Kind == policy.Timer {
		require.Greater(d, d.asked, d.now, "a Timer leaves nothing undone")
	}
	return actions
}

func (d *driver) book(e policy.Event, a policy.Action) {
	place := d.places[a.Token]
	switch a.Kind {
	case policy.Run:
		require.Equal(d, kept, place)
		require.True(d, d.demand, "runs without demand")
		for id, p := range d.places {
			require.NotEqual(d, used, p, "runs beside %v", id)
		}
		d.places[a.Token] = used
	case policy.Pass:
		require.Contains(d, []tokenPlace{kept, used}, place)
		require.True(d, place == kept || e.Kind == policy.OperationEnded, "passes what runs")
		d.places[a.Token] = sent
	case policy.Drop:
		require.Equal(d, policy.Arrival, e.Kind)
		require.Equal(d, e.Token.ID, a.Token)
		require.Equal(d, policy.Superseded, a.Reason)
		d.places[a.Token] = away
	case policy.Generate:
		require.Equal(d, policy.Timer, e.Kind)
		for id, p := range d.places {
			require.NotContains(d, []tokenPlace{kept, used}, p, "generates while it has %v", id)
		}
		d.generate++
	case policy.Wait:
		d.asked = a.At
	default:
		require.Fail(d, "unexpected action", "%+v", a)
	}
}

// checkNothingForgotten: whatever rests here is passed on in time.
func (d *driver) checkNothingForgotten() {
	for id, p := range d.places {
		if p == kept {
			require.LessOrEqual(d, d.asked, d.kept[id].Add(propertyParams.SkipDelay), "nobody wakes up for %v", id)
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
		for range rapid.IntRange(1, 60).Draw(t, "events") {
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
			} else if d.places[e.Token.ID] != away && d.kept[e.Token.ID] == d.now {
				unbounded.push(e.Token)
			}
		}
	})
}
