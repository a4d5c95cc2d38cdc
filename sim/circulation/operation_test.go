package circulation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

func TestOperation(t *testing.T) {
	run := onToken(func(_ int, e *policy.Event) []policy.Action {
		return []policy.Action{{Kind: policy.Run, Token: e.Token.ID}}
	})
	d := &diary{}
	s := newStage(t, Config{Members: 1, Operation: Constant(3 * time.Second)}, run)
	s.Observe(d)
	s.Generate(0)
	assert.Equal(t, []string{"3s m0 ended operated=true"}, s.run(time.Minute, "generated"))
	s.agents.act(0, &policy.Action{Kind: policy.Pass, Token: s.tokens.list[0].Token.ID})
	assert.Equal(t, []string{"0s m0 wants", "0s m0 born", "0s m0 runs", "3s m0 ran", "3s m0 wants", "1m0s advanced"}, d.lines)
	assert.Equal(t, []string{`1m1s m0 returned g0 hop0 ""`}, s.run(2*time.Minute), "that it operated is not told again")

	idle := newStage(t, Config{Members: 1, Demand: Scripted()}, run)
	idle.Generate(0)
	assert.Equal(t, []string{"0s m0 ended operated=false"}, idle.run(time.Minute, "generated"))
	assert.Zero(t, idle.Stats().Operations)
}

// TestDemand: a program that begins its operation does not wait any more.
func TestDemand(t *testing.T) {
	s := newStage(t, Config{Members: 1, Demand: Scripted()}, nil)
	s.answer = func(_ int, _ clock.Instant, e *policy.Event) []policy.Action {
		if e.Kind == policy.DemandChanged && e.Demand {
			return []policy.Action{{Kind: policy.Run, Token: s.tokens.list[0].Token.ID}}
		}
		return nil
	}
	s.Generate(0)
	s.At(clock.Instant(time.Second), func(w *Simulation) { w.Want(0); w.Want(0) })
	assert.Equal(t, []string{"1s m0 demand true", "1s m0 demand false", "2s m0 ended operated=true"}, s.run(time.Minute, "generated"))
}

func TestDemandEvery(t *testing.T) {
	s := newStage(t, Config{Members: 1, Demand: Every(10 * time.Second)}, nil)
	s.answer = func(_ int, _ clock.Instant, e *policy.Event) []policy.Action {
		if e.Kind == policy.DemandChanged && e.Demand {
			return []policy.Action{{Kind: policy.Run, Token: s.tokens.list[0].Token.ID}}
		}
		return nil
	}
	s.Generate(0)
	m := NewMeter(MeterConfig{Bin: time.Millisecond * 100})
	s.Observe(m)
	s.Run(clock.Instant(100_000 * time.Second))
	assert.InDelta(t, 11, m.Operations.Mean().Seconds(), 0.5, "10 s and the operation")
	assert.InDelta(t, 0.632, m.Operations.ShareBelow(11*time.Second), 0.02, "exponential")
	assert.Zero(t, m.Waits.Max())
}
