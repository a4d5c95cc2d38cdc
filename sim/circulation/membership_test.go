package circulation

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

func TestMembers_IDs_Distinct(t *testing.T) {
	for _, i := range []int{0, 1, 255, 256, 999_999} {
		assert.Equal(t, i, memberIndex(MemberID(i)))
		assert.Negative(t, MemberID(i).Compare(MemberID(i+1)))
	}
	assert.False(t, MemberID(0).IsZero())
	strange := MemberID(7)
	strange[15] = 1
	assert.Equal(t, -1, memberIndex(strange))
	assert.Equal(t, -1, memberIndex([16]byte{}))
}

// TestNeighbours: everybody hears of what changed for it, once.
func TestNeighbours(t *testing.T) {
	s := newStage(t, Config{Members: 4, DownFor: time.Second}, nil)
	events := s.Stats().Events
	s.Crash(1, time.Second)
	s.Crash(2, 2*time.Second)
	defer func() { assert.Greater(t, s.Stats().Events, events+20, "what is told costs") }()
	assert.Equal(t, []string{"0s m0 neighbour m3 of 2", "0s m3 neighbour m0 of 2"}, s.run(0))
	assert.Equal(t, []string{
		"1s m1 neighbour m3 of 3", "1s m1 demand true", "1s m1 timer",
		"1s m0 neighbour m1 of 3", "1s m3 neighbour m0 of 3",
	}, s.run(time.Second))
	assert.Equal(t, []string{
		"2s m2 neighbour m3 of 4", "2s m2 demand true", "2s m2 timer",
		"2s m0 neighbour m1 of 4", "2s m1 neighbour m2 of 4", "2s m3 neighbour m0 of 4",
	}, s.run(time.Minute))

	s.log = nil
	assert.Equal(t, 4, s.Join(0))
	joined := s.log
	assert.Equal(t, []string{
		"1m0s m4 neighbour m0 of 5", "1m0s m4 demand true", "1m0s m4 timer",
		"1m0s m0 neighbour m1 of 5", "1m0s m1 neighbour m2 of 5", "1m0s m2 neighbour m3 of 5", "1m0s m3 neighbour m4 of 5",
	}, append(joined, s.run(time.Minute)...))

	for m := range 4 {
		require.True(t, s.Leave(m))
	}
	assert.Equal(t, []string{"1m0s m4 neighbour m-1 of 1"}, s.run(time.Hour))
	assert.Equal(t, 5, s.Members())
	assert.Equal(t, 1, len(s.up))
	require.True(t, s.Crash(4, time.Second))
	assert.Empty(t, s.run(time.Hour), "nobody is left to hear")
	assert.Equal(t, []string{"1h0m1s m4 neighbour m-1 of 1", "1h0m1s m4 demand true", "1h0m1s m4 timer"}, s.run(2*time.Hour))
}

// runThenRest runs at each arrival and keeps the token.
func runThenRest(_ int, _ clock.Instant, e *policy.Event) []policy.Action {
	if e.Kind == policy.Generated || e.Kind == policy.Arrival {
		return []policy.Action{{Kind: policy.Run, Token: e.Token.ID}}
	}
	return nil
}

// TestDurableCrash: the token waits, the policy is made anew and told what was.
func TestDurableCrash(t *testing.T) {
	d := &diary{}
	s := newStage(t, Config{Members: 2, Recall: true, Operation: Constant(10 * time.Second)}, runThenRest)
	s.Observe(d)
	s.Generate(0)
	s.run(time.Minute)
	s.agents.act(0, &policy.Action{Kind: policy.Run, Token: s.tokens.list[0].Token.ID})
	s.At(clock.Instant(65*time.Second), func(w *Simulation) {
		assert.True(t, w.Crash(0, time.Minute))
		assert.False(t, w.Crash(0, time.Minute))
		assert.False(t, w.Up(0))
		assert.Equal(t, []int{0}, w.Holders())
	})
	assert.Equal(t, []string{
		"1m5s m1 neighbour m-1 of 1",
		"2m5s m0 recalled 0s operated=false", "2m5s m0 recalled 10s operated=true",
		"2m5s m0 neighbour m1 of 2", "2m5s m0 demand true", `2m5s m0 resumed g0 hop0 ""`, "2m5s m0 timer",
		"2m5s m1 neighbour m0 of 2",
	}, s.run(time.Hour))
	assert.Equal(t, []string{"1m0s m0 runs", "1m5s m0 ran", "1m5s m0 down", "2m5s m0 up", "2m5s m0 wants"}, d.lines[len(d.lines)-6:len(d.lines)-1])
	assert.Equal(t, 1, s.Tokens())
	assert.Equal(t, uint64(1), s.Stats().Crashed)
}

// TestVisits_Many_Bounded: the last visits are recalled, in their order.
func TestVisits_Many_Bounded(t *testing.T) {
	s := newStage(t, Config{Members: 2, Recall: true}, nil)
	s.answer = func(m int, _ clock.Instant, e *policy.Event) []policy.Action {
		if e.Kind == policy.Generated {
			return []policy.Action{{Kind: policy.Drop, Reason: policy.Spent, Token: e.Token.ID}}
		}
		return nil
	}
	for i := range 20 {
		s.At(clock.Instant(i)*clock.Instant(time.Second), func(w *Simulation) { w.Generate(0) })
	}
	s.run(time.Minute)
	s.Crash(0, 0)
	got := s.run(time.Minute, "neighbour", "demand", "timer")
	require.Len(t, got, visitsKept)
	for i, line := range got {
		assert.Equal(t, fmt.Sprintf("1m0s m0 recalled %ds operated=false", i+20-visitsKept), line)
	}
}

func TestForgetfulCrash(t *testing.T) {
	d := &diary{}
	s := newStage(t, Config{Members: 2, Forgetful: true, Recall: true, Operation: Constant(10 * time.Second)}, runThenRest)
	s.Observe(d)
	s.Generate(0)
	s.run(5 * time.Second)
	s.Crash(0, time.Second)
	assert.Equal(t, []string{"6s m0 neighbour m1 of 2", "6s m0 demand true", "6s m0 timer"}, s.run(time.Hour, "neighbour m-1", "neighbour m0"))
	assert.Equal(t, []string{"5s m0 ran", "5s m0 down", "5s lost with holder", "6s m0 up"}, d.lines[5:9])
	assert.Zero(t, s.Tokens())
	assert.Equal(t, uint64(1), s.Stats().Lost)
	assert.True(t, s.Generate(0))
}

// TestCrashForever: nobody waits for a token with a member that does not return.
func TestCrashForever(t *testing.T) {
	s := newStage(t, Config{Members: 2}, nil)
	s.Generate(0)
	s.Crash(0, forever)
	assert.Zero(t, s.Tokens())
	assert.Equal(t, []string{"0s m1 neighbour m-1 of 1"}, s.run(time.Duration(clock.Never-1)))
}

// TestSender_Crashes_TokenLost: what comes back to a member that has crashed meanwhile.
func TestSender_Crashes_TokenLost(t *testing.T) {
	for _, c := range []struct {
		name      string
		forgetful bool
		downFor   time.Duration
		want      []string
		tokens    int
	}{
		{"durable, back before", false, time.Second, []string{"2s m0 neighbour m1 of 2", `5s m0 resumed g0 hop0 ""`}, 1},
		{"durable, back after", false, time.Minute, []string{"1m1s m0 neighbour m1 of 2", `1m1s m0 resumed g0 hop0 ""`}, 1},
		{"forgetful", true, time.Second, []string{"2s m0 neighbour m1 of 2"}, 0},
		{"for ever", false, forever, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, Config{Members: 2, Forgetful: c.forgetful, Passing: Constant(5 * time.Second)}, nil)
			s.answer = onToken(func(m int, e *policy.Event) []policy.Action { return pass(e, 9, "") })
			s.Generate(0)
			s.run(time.Second)
			s.Crash(0, c.downFor)
			assert.Equal(t, c.want, s.run(time.Hour, "demand", "timer", "neighbour m0", "neighbour m-1"))
			assert.Equal(t, c.tokens, s.Tokens())
		})
	}
}

// TestCrash_NotDurable_Undone: what was meant for a member before its crash does not reach
// it afterwards.
func TestCrash_NotDurable_Undone(t *testing.T) {
	s := newStage(t, Config{Members: 2, Forgetful: true, Demand: Every(time.Second), Operation: Constant(10 * time.Second)}, nil)
	s.answer = func(m int, now clock.Instant, e *policy.Event) []policy.Action {
		switch {
		case m == 0 && e.Kind == policy.Timer && now == 0:
			s.due[m] = clock.Instant(time.Minute)
		case e.Kind == policy.DemandChanged && e.Demand && s.Tokens() == 0:
			s.Generate(m)
		case e.Kind == policy.Generated:
			return []policy.Action{{Kind: policy.Run, Token: e.Token.ID}}
		}
		return nil
	}
	s.setTimer(0, clock.Instant(time.Minute))
	s.run(5 * time.Second)
	require.Equal(t, 1, s.Tokens())
	s.answer = nil
	s.Crash(s.Holders()[0], 0)
	for _, line := range s.run(time.Hour, "neighbour", "demand") {
		assert.Contains(t, []string{"5s m0 timer", "5s m1 timer"}, line)
	}
}

// TestLeave: who leaves hands on what it holds, and does not return.
func TestLeave(t *testing.T) {
	d := &diary{}
	s := newStage(t, Config{Members: 2, Operation: Constant(time.Minute)}, func(m int, now clock.Instant, e *policy.Event) []policy.Action {
		if m == 0 {
			return runThenRest(m, now, e)
		}
		return nil
	})
	s.Observe(d)
	s.Generate(0)
	s.run(time.Second)
	s.Leave(0)
	assert.Equal(t, []string{"1s m1 neighbour m-1 of 1", `1s m1 arrival from m0 g0 hop1 ""`}, s.run(time.Hour))
	assert.Equal(t, []string{"1s m0 ran", "1s m0 down", "1s m1 visited", "1h0m0s advanced"}, d.lines[5:])
	assert.False(t, s.Crash(0, 0))
	s.Leave(1)
	s.run(2 * time.Hour)
	assert.Zero(t, s.Tokens(), "nobody is left to take it")
}

func TestCrashEvery(t *testing.T) {
	s := newStage(t, Config{Members: 10, CrashEvery: 100 * time.Second, DownFor: time.Second}, nil)
	s.Run(clock.Instant(100_000 * time.Second))
	assert.InDelta(t, 1000, float64(s.Stats().Crashed), 4*32)
	assert.GreaterOrEqual(t, len(s.up), 9)

	holder := newStage(t, Config{Members: 10, CrashEvery: 100 * time.Second, CrashHolder: true, Forgetful: true}, nil)
	holder.Run(clock.Instant(1000 * time.Second))
	assert.Zero(t, holder.Stats().Crashed, "nobody holds one")
	holder.Generate(4)
	holder.Run(clock.Instant(10_000 * time.Second))
	assert.Equal(t, uint64(1), holder.Stats().Crashed)
	assert.Equal(t, uint64(1), holder.Stats().Lost)
}
