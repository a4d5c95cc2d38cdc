package multitoken

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
	"github.com/wandertoken/wander/protocol/policy/host"
)

// propertyParams are those of a small and busy group.
var propertyParams = policy.Params{
	OperationTime: 40 * time.Millisecond, MembersMax: 5, SkipDelay: 10 * time.Millisecond,
	TargetInterval: 300 * time.Millisecond, QueueCapacity: 2,
}

// driver plays a member: it draws events that the interface permits, keeps its
// own books of every token, and checks each answer against them and against
// the rules of the paper.
type driver struct {
	*rapid.T
	agent    *agent
	early    time.Duration
	silence  time.Duration
	variance time.Duration // hundredths by which both may be shorter or longer

	now            clock.Instant
	tokens         []policy.Token
	waiting        []ident.Token // in the order of their reception
	used           []ident.Token // empty or one, whose use has begun
	running        bool
	out            []ident.Token // their Pass is not settled
	demand         bool
	passed         clock.Instant // the last Pass
	silent         clock.Instant // since when no token was here and none asked for
	generate       int           // Generate actions not answered yet
	received, gone int
}

func newDriver(t *rapid.T, preset string) *driver {
	params := propertyParams
	params.Preset = preset
	k := rapid.SampledFrom([]policy.Ratio{policy.MinRatio, 3000}).Draw(t, "k") // the least makes both thresholds equal
	params.IntervalFactor = k
	agent, err := newAgent(params, rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	require.NoError(t, err)
	d := &driver{T: t, agent: agent, passed: host.LongAgo,
		early: params.TargetInterval * 1000 / time.Duration(k), silence: k.Of(params.TargetInterval)}
	if preset == Jittered {
		d.variance = spread
	}
	for i := range rapid.IntRange(1, 8).Draw(t, "tokens") {
		d.tokens = append(d.tokens, policy.Token{ID: ident.Token{byte(i + 1)}})
	}
	return d
}

func (d *driver) here(id ident.Token) bool {
	return slices.Contains(d.waiting, id) || slices.Contains(d.used, id)
}

// may are the tokens of which an event can tell now.
func (d *driver) may(e policy.Event) (tokens []policy.Token) {
	for _, t := range d.tokens {
		out := slices.Contains(d.out, t.ID)
		switch e.Kind {
		case policy.Arrival:
			if !d.here(t.ID) {
				tokens = append(tokens, t)
			}
		case policy.Generated, policy.Resumed:
			if !d.here(t.ID) && !out && (e.Kind == policy.Resumed || d.generate > 0) {
				tokens = append(tokens, t)
			}
		case policy.OperationEnded:
			if d.running && slices.Contains(d.used, t.ID) {
				tokens = append(tokens, t)
			}
		case policy.PassEnded:
			if out {
				tokens = append(tokens, t)
			}
		}
	}
	return tokens
}

// draw makes the next event. Its second result is false when there is no token
// to tell of now.
func (d *driver) draw() (policy.Event, bool) {
	span := rapid.SampledFrom([]int{0, 0, 1, 9, 10, 11, 40, 99, 100, 101, 899, 901}).Draw(d.T, "ms")
	d.now = d.now.Add(time.Duration(span) * time.Millisecond)
	e := policy.Event{Kind: rapid.SampledFrom([]policy.EventKind{
		policy.Arrival, policy.Arrival, policy.Generated, policy.Resumed, policy.Timer, policy.Timer,
		policy.OperationEnded, policy.DemandChanged, policy.PassEnded, policy.Message, policy.Neighbour,
	}).Draw(d.T, "kind")}
	switch e.Kind {
	case policy.Timer:
		if due := d.agent.Deadline(); due != clock.Never && rapid.Bool().Draw(d.T, "due") {
			d.now = max(d.now, due)
		}
		return e, true
	case policy.DemandChanged:
		e.Demand = rapid.Bool().Draw(d.T, "demand")
		return e, true
	case policy.Message, policy.Neighbour:
		return e, true
	case policy.OperationEnded:
		e.Operated = rapid.Bool().Draw(d.T, "operated")
	case policy.PassEnded:
		e.Outcome = policy.Outcome(rapid.IntRange(int(policy.Delivered), int(policy.Abandoned)).Draw(d.T, "outcome"))
	}
	tokens := d.may(e)
	if len(tokens) == 0 {
		return e, false
	}
	e.Token = rapid.SampledFrom(tokens).Draw(d.T, "token")
	return e, true
}

// told enters an event into the books before the policy hears of it. A token
// that the policy receives waits until an answer says otherwise.
func (d *driver) told(e policy.Event) {
	id := e.Token.ID
	received := e.Kind == policy.Arrival || e.Kind == policy.Generated || e.Kind == policy.Resumed
	switch e.Kind {
	case policy.PassEnded:
		received = e.Outcome == policy.Returned
	case policy.Generated:
		d.generate--
	case policy.DemandChanged:
		d.demand = e.Demand
	}
	if e.Kind == policy.Arrival || e.Kind == policy.PassEnded {
		d.out = remove(d.out, id)
	}
	if received {
		d.waiting = append(d.waiting, id)
		d.received++
	}
}

func remove(from []ident.Token, id ident.Token) []ident.Token {
	return slices.DeleteFunc(from, func(t ident.Token) bool { return t == id })
}

func (d *driver) step(e policy.Event) {
	d.told(e)
	actions := d.agent.Step(d.now, e, nil)
	for _, a := range actions {
		d.book(e, a)
	}
	if e.Kind == policy.Timer {
		require.Greater(d, d.agent.Deadline(), d.now, "a Timer leaves nothing undone")
	}
	require.Equal(d, d.received, d.gone+len(d.waiting)+len(d.used), "tokens are conserved")
	require.LessOrEqual(d, len(d.waiting), propertyParams.QueueCapacity)
	d.checkAwake()
}

// book checks an action and enters it.
func (d *driver) book(e policy.Event, a policy.Action) {
	switch a.Kind {
	case policy.Prepare:
		d.begins(a.Token)
	case policy.Run:
		require.Equal(d, []ident.Token{a.Token}, d.used)
		require.False(d, d.running, "one operation at a time")
		require.True(d, d.demand, "runs without demand")
		d.running = true
	case policy.Pass:
		require.Equal(d, []ident.Token{a.Token}, d.used, "what was not used walks on")
		require.True(d, !d.running || e.Kind == policy.OperationEnded && e.Token.ID == a.Token, "passes what runs")
		d.used, d.running, d.out = nil, false, append(d.out, a.Token)
		d.passed, d.silent = d.now, d.now
		d.gone++
	case policy.Drop:
		require.Equal(d, e.Token.ID, a.Token, "only what arrives")
		require.Equal(d, policy.Overflow, a.Reason)
		require.Len(d, d.waiting, propertyParams.QueueCapacity+1, "drops while there is a place")
		d.waiting = remove(d.waiting, a.Token)
		d.gone++
	case policy.Generate:
		require.Equal(d, policy.Timer, e.Kind)
		require.Empty(d, d.waiting, "generates while one waits")
		require.Empty(d, d.used, "generates while one is used")
		require.GreaterOrEqual(d, d.now.Sub(d.silent), d.silence-d.silence*d.variance/100)
		d.silent = d.now
		d.generate++
	default:
		require.Fail(d, "unexpected action", "%+v", a)
	}
}

// begins: a use begins when no other is going on, in the order in which tokens
// came, and not before the interval permits.
func (d *driver) begins(id ident.Token) {
	require.Empty(d, d.used, "two uses at once")
	require.Equal(d, d.waiting[0], id, "out of turn")
	if d.passed != host.LongAgo {
		require.GreaterOrEqual(d, d.now.Sub(d.passed), d.early-d.early*d.variance/100, "too soon")
	}
	d.waiting, d.used = d.waiting[1:], []ident.Token{id}
}

// checkAwake: while something is to be done the agent has asked for a Timer
// that is not too far away.
func (d *driver) checkAwake() {
	switch {
	case d.running:
	case len(d.used) > 0:
		require.LessOrEqual(d, d.agent.Deadline(), d.now.Add(propertyParams.SkipDelay), "a token rests too long")
	case len(d.waiting) > 0:
		require.LessOrEqual(d, d.agent.Deadline(), max(d.now, d.passed.Add(d.early+d.early*d.variance/100)), "a token waits too long")
	default:
		require.LessOrEqual(d, d.agent.Deadline(), d.silent.Add(d.silence+d.silence*d.variance/100), "a silence is too long")
	}
}

// TestProperties: whatever happens in whatever order, the tokens are conserved,
// no more than queue_capacity wait, uses are as far apart as the rules ask for,
// and nothing that is to be done is forgotten.
func TestProperties(t *testing.T) {
	for _, preset := range []string{Paper, Jittered} {
		t.Run(preset, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				d := newDriver(t, preset)
				d.step(policy.Event{Kind: policy.Timer})
				for range rapid.IntRange(1, 200).Draw(t, "events") {
					if e, possible := d.draw(); possible {
						d.step(e)
					}
				}
			})
		})
	}
}
