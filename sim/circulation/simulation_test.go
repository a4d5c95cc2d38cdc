package circulation

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// onToken answers events that bring a token, and nothing else.
func onToken(do func(m int, e *policy.Event) []policy.Action) func(int, clock.Instant, *policy.Event) []policy.Action {
	return func(m int, _ clock.Instant, e *policy.Event) []policy.Action {
		if e.Kind == policy.Arrival || e.Kind == policy.Generated {
			return do(m, e)
		}
		return nil
	}
}

// onTimer answers the first timer of member 0.
func onTimer(actions ...policy.Action) func(int, clock.Instant, *policy.Event) []policy.Action {
	done := false
	return func(m int, _ clock.Instant, e *policy.Event) []policy.Action {
		if done || m != 0 || e.Kind != policy.Timer {
			return nil
		}
		done = true
		return actions
	}
}

func TestStart(t *testing.T) {
	s := newStage(t, Config{Members: 3}, nil)
	assert.Equal(t, []string{
		"0s m0 neighbour m1 of 3", "0s m0 demand true", "0s m0 timer",
		"0s m1 neighbour m2 of 3", "0s m1 demand true", "0s m1 timer",
		"0s m2 neighbour m0 of 3", "0s m2 demand true", "0s m2 timer",
	}, s.log)
	alone := newStage(t, Config{Members: 1, Found: 1, Demand: Scripted()}, nil)
	assert.Equal(t, []string{"0s m0 neighbour m-1 of 1", "0s m0 timer"}, alone.log)
	assert.Equal(t, []string{`0s m0 generated g0 hop0 ""`}, alone.run(0))
}

// TestFound: tokens are founded at different members.
func TestFound(t *testing.T) {
	s := newStage(t, Config{Members: 5, Found: 5}, nil)
	assert.Equal(t, []int{0, 1, 2, 3, 4}, s.Holders())
	assert.Equal(t, 5, s.Tokens())
}

func TestPass(t *testing.T) {
	s := newStage(t, Config{Members: 3, Passing: Constant(time.Second)}, onToken(func(m int, e *policy.Event) []policy.Action {
		return pass(e, []int{2, -1, -1}[m], "from "+string(rune('0'+m)))
	}))
	assert.True(t, s.Generate(0))
	got := s.run(1500 * time.Millisecond)
	require.Len(t, got, 3)
	assert.Equal(t, []string{
		`0s m0 generated g0 hop0 ""`,
		`1s m2 arrival from m0 g0 hop1 "from 0"`,
		`1s m0 delivered g0 hop0 ""`,
	}, got)
	assert.Empty(t, s.Holders(), "in transit it is nobody's")
	assert.Equal(t, 1, s.Tokens())
	assert.Equal(t, uint64(1), s.Stats().Hops)
}

// TestPass_NoTarget_Random: everybody else is as probable a receiver, whoever is down.
func TestPass_NoTarget_Random(t *testing.T) {
	counts := map[int]int{}
	s := newStage(t, Config{Members: 6, Seed: 1}, nil)
	s.answer = onToken(func(m int, e *policy.Event) []policy.Action {
		if m == 0 {
			return pass(e, -1, "")
		}
		counts[m]++
		return pass(e, 0, "")
	})
	s.Crash(3, forever)
	s.Generate(0)
	s.At(0, func(*Simulation) {})
	for s.Stats().Hops < 40_000 {
		e, ok := s.queue.pop(0)
		require.True(t, ok)
		s.happen(e)
	}
	require.Len(t, counts, 4)
	for m, n := range counts {
		assert.InDelta(t, 5000, n, 4*61, "m%d: four standard deviations", m)
	}
}

func TestPass_NobodyThere_Returned(t *testing.T) {
	for _, c := range []struct {
		name    string
		members int
		to      int
		after   time.Duration
	}{
		{"down", 3, 2, time.Second},
		{"itself", 3, 0, time.Second},
		{"stranger", 3, 77, time.Second},
		{"alone", 1, -1, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, Config{Members: c.members, Passing: Constant(time.Second)},
				onToken(func(_ int, e *policy.Event) []policy.Action { return pass(e, c.to, "f") }))
			if c.members > 2 {
				s.Crash(2, forever)
			}
			s.Generate(0)
			got := s.run(c.after, "neighbour", "generated")
			assert.Equal(t, []string{fmt.Sprintf(`%v m0 returned g0 hop0 "f"`, c.after)}, got)
			assert.Equal(t, []int{0}, s.Holders())
			assert.Zero(t, s.Stats().Hops)
		})
	}
}

// TestReceiver_CrashesInTransit_TokenLost: a handoff to anybody looks for somebody else,
// one to a member comes back.
func TestReceiver_CrashesInTransit_TokenLost(t *testing.T) {
	for _, named := range []bool{false, true} {
		s := newStage(t, Config{Members: 3, Passing: Constant(time.Second)}, nil)
		s.answer = func(m int, _ clock.Instant, e *policy.Event) []policy.Action {
			switch {
			case e.Kind != policy.Generated:
				return nil
			case named:
				return pass(e, 2, "")
			}
			return pass(e, -1, "")
		}
		s.Generate(0)
		s.run(time.Second / 2)
		e := s.queue.near[0]
		require.Equal(t, arrival, e.kind)
		s.Crash(int(e.member), time.Hour)
		got := s.run(time.Minute, "neighbour")
		if named {
			assert.Equal(t, []string{`1s m0 returned g0 hop0 ""`}, got)
		} else {
			other := 3 - e.member
			assert.Equal(t, []string{fmt.Sprintf(`2s m%d arrival from m0 g0 hop1 ""`, other), `2s m0 delivered g0 hop0 ""`}, got)
		}
	}
}

func TestLostPass(t *testing.T) {
	s := newStage(t, Config{Members: 2}, onToken(func(m int, e *policy.Event) []policy.Action {
		if m == 0 {
			return pass(e, -1, "f")
		}
		return nil
	}))
	d := &diary{}
	s.Generate(0)
	s.Observe(d)
	s.LosePass(1)
	got := s.run(time.Hour, "generated")
	assert.Equal(t, []string{`5m0s m0 abandoned g0 hop0 ""`}, got)
	assert.Equal(t, []string{"0s m0 wants", "0s m1 wants", "0s m0 born", "0s lost in transit", "1h0m0s advanced"}, d.lines)
	assert.Zero(t, s.Tokens())
	assert.Equal(t, uint64(1), s.Stats().Lost)

	s.Generate(0)
	assert.Equal(t, []string{`1h0m0s m1 arrival from m0 g0 hop1 "f"`, `1h0m0s m0 delivered g0 hop0 ""`}, s.run(time.Hour, "generated"))
}

// TestLossEvery: at each multiple the next pass is lost, one for each.
func TestLossEvery(t *testing.T) {
	s := newStage(t, Config{Members: 2, LossEvery: 10 * time.Second, Passing: Constant(time.Second)},
		onToken(func(m int, e *policy.Event) []policy.Action { return pass(e, 1-m, "") }))
	for _, at := range []time.Duration{0, 15 * time.Second} {
		s.At(clock.Instant(at), func(w *Simulation) { w.Generate(0) })
	}
	s.Run(clock.Instant(100 * time.Second))
	assert.Equal(t, uint64(2), s.Stats().Lost, "of two tokens, at 10 s and 20 s")
	assert.Equal(t, 8, s.handoffs.losing, "no pass began since")
}

func TestPassLoss(t *testing.T) {
	s := newStage(t, Config{Members: 10, Found: 10, PassLoss: 0.1, Seed: 3}, nil)
	s.answer = func(m int, _ clock.Instant, e *policy.Event) []policy.Action {
		switch e.Kind {
		case policy.Timer:
			s.due[m] = s.Now().Add(time.Second)
			return []policy.Action{{Kind: policy.Generate}}
		case policy.Arrival, policy.Generated:
			return pass(e, -1, "")
		}
		return nil
	}
	for m := range 10 {
		s.setTimer(int32(m), 0)
	}
	s.Run(clock.Instant(500 * time.Second))
	passes := float64(s.Stats().Hops + s.Stats().Lost)
	assert.InDelta(t, 0.1, float64(s.Stats().Lost)/passes, 0.01)
}

// TestGenerate: a member that holds a token of the slot makes no other, as
// protocol/member has it; one whose token is in transit does.
func TestGenerate(t *testing.T) {
	s := newStage(t, Config{Members: 2, Passing: Constant(time.Second)}, nil)
	assert.True(t, s.Generate(0))
	assert.False(t, s.Generate(0))
	s.answer = onToken(func(_ int, e *policy.Event) []policy.Action { return pass(e, 1, "") })
	s.Run(0)
	assert.True(t, s.Generate(0))
	s.Crash(1, time.Hour)
	assert.False(t, s.Generate(1))
	assert.Equal(t, uint64(2), s.Stats().Generated)
	assert.NotEqual(t, s.tokens.list[0].Token.ID, s.tokens.list[1].Token.ID)
}

// TestActions_TokensOfOthers_Refused: only who holds a token, and does not run under
// it, can do anything with it.
func TestActions_TokensOfOthers_Refused(t *testing.T) {
	s := newStage(t, Config{Members: 2}, nil)
	s.Generate(0)
	id := s.tokens.list[0].Token.ID
	for _, k := range []policy.ActionKind{policy.Run, policy.Pass, policy.Drop} {
		s.agents.act(1, &policy.Action{Kind: k, Token: id})
		s.agents.act(0, &policy.Action{Kind: k, Token: ident.Token{1}})
	}
	assert.Equal(t, Stats{Generated: 1}, s.Stats())
	s.agents.act(0, &policy.Action{Kind: policy.Run, Token: id})
	for _, k := range []policy.ActionKind{policy.Run, policy.Pass, policy.Drop} {
		s.agents.act(0, &policy.Action{Kind: k, Token: id})
	}
	assert.Equal(t, Stats{Generated: 1, Operations: 1}, s.Stats())
}

func TestDrop(t *testing.T) {
	s := newStage(t, Config{Members: 1}, onToken(func(_ int, e *policy.Event) []policy.Action {
		return []policy.Action{{Kind: policy.Drop, Reason: policy.Overflow, Token: e.Token.ID}}
	}))
	s.Generate(0)
	s.Run(0)
	assert.Equal(t, uint64(1), s.Stats().Dropped[policy.Overflow])
	assert.Zero(t, s.Tokens())
	assert.Empty(t, s.Holders())
	assert.True(t, s.Generate(0))
}

// TestField_Passed_Copied: what a policy does with its buffer later does not matter.
func TestField_Passed_Copied(t *testing.T) {
	s := newStage(t, Config{Members: 2, Passing: Constant(time.Second)}, nil)
	buffer := []byte("sent")
	s.answer = onToken(func(m int, e *policy.Event) []policy.Action {
		if m == 1 {
			return nil
		}
		a := pass(e, 1, "")
		a[0].Field = buffer
		return a
	})
	s.Generate(0)
	s.run(0)
	copy(buffer, "gone")
	assert.Contains(t, s.run(time.Second), `1s m1 arrival from m0 g0 hop1 "sent"`)
}

// TestClockOffset: clocks are wrong by up to the offset, and only the birth of
// tokens shows it.
func TestClockOffset(t *testing.T) {
	s := newStage(t, Config{Members: 1000, Found: 1000, ClockOffset: time.Minute}, nil)
	var sum, most float64
	for i := range s.tokens.list {
		off := float64(int64(s.tokens.list[i].Token.Born) - 1000*defaultBegin)
		sum += off
		most = max(most, off, -off)
	}
	assert.InDelta(t, 0, sum/1000, 4*60_000/1.73/31.6)
	assert.LessOrEqual(t, most, 60_000.0)
	assert.Greater(t, most, 59_000.0)
}

func TestStandstill(t *testing.T) {
	s := newStage(t, Config{Members: 2, Found: 1}, nil)
	s.answer = onToken(func(_ int, e *policy.Event) []policy.Action { s.log = nil; return pass(e, -1, "") })
	s.Run(clock.Instant(time.Second))
	require.ErrorIs(t, s.Err(), ErrStandstill)
	assert.Zero(t, s.Now())
}

func TestAt(t *testing.T) {
	s := newStage(t, Config{Members: 1}, nil)
	var order []int
	for i, at := range []time.Duration{2, 1, 1, 3} {
		s.At(clock.Instant(at), func(*Simulation) { order = append(order, i) })
	}
	s.Run(1)
	assert.Equal(t, []int{1, 2}, order)
	assert.Equal(t, clock.Instant(1), s.Now())
	s.Run(10)
	assert.Equal(t, []int{1, 2, 0, 3}, order)
	s.At(0, func(*Simulation) { order = append(order, 9) })
	s.Run(10)
	assert.Equal(t, 9, order[4], "what is past is now")
	assert.Len(t, s.scripts.list, 4, "room is used again")
	assert.Equal(t, clock.Instant(10), s.Now())
}

// acquaintances is a Directory in which everybody knows one member.
type acquaintances struct {
	to  int
	log []string
}

func (a *acquaintances) Choose(from int, rng *rand.Rand) (int, bool) { return a.to, a.to >= 0 }
func (a *acquaintances) Joined(member, contact int) {
	a.log = append(a.log, fmt.Sprintf("joined %d %d", member, contact))
}
func (a *acquaintances) Left(member int) { a.log = append(a.log, fmt.Sprintf("left %d", member)) }
func (a *acquaintances) Passed(_ ident.Token, from, to int) {
	a.log = append(a.log, fmt.Sprintf("passed %d %d", from, to))
}

func TestDirectory(t *testing.T) {
	a := &acquaintances{to: 2}
	s := newStage(t, Config{Members: 3, Directory: a}, onToken(func(m int, e *policy.Event) []policy.Action {
		if m == 0 {
			return pass(e, -1, "")
		}
		return nil
	}))
	assert.Equal(t, 3, s.Join(1))
	assert.True(t, s.Leave(1))
	assert.False(t, s.Leave(1))
	s.Generate(0)
	s.Run(0)
	assert.Equal(t, []string{"joined 3 1", "left 1", "passed 0 2"}, a.log)
	a.to = 1
	s.Generate(0)
	assert.Contains(t, s.run(0), `0s m0 returned g0 hop0 ""`, "who is known to be gone cannot take it")
	s.agents.act(0, &policy.Action{Kind: policy.Drop, Token: s.tokens.list[1].Token.ID})
	a.to = -1
	s.Generate(0)
	assert.Contains(t, s.run(time.Second), `1s m0 returned g0 hop0 ""`)
}

// TestRoundRobin: in a ring of members that always want, each operates every
// N·(operation + passing).
func TestRoundRobin(t *testing.T) {
	const n = 7
	s := newStage(t, Config{Members: n, Passing: Constant(100 * time.Millisecond), Operation: Constant(4 * time.Second)}, nil)
	next := make([]ident.Member, n)
	s.answer = func(m int, _ clock.Instant, e *policy.Event) []policy.Action {
		switch e.Kind {
		case policy.Generated, policy.Arrival:
			return []policy.Action{{Kind: policy.Run, Token: e.Token.ID}}
		case policy.OperationEnded:
			return []policy.Action{{Kind: policy.Pass, Token: e.Token.ID, To: next[m]}}
		}
		return nil
	}
	for m := range next {
		next[m] = MemberID((m + 1) % n)
	}
	m := NewMeter(MeterConfig{})
	s.Observe(m)
	s.Generate(3)
	s.Run(clock.Instant(1000 * time.Second))
	assert.Equal(t, n*4100*time.Millisecond, m.Operations.Min())
	assert.Equal(t, n*4100*time.Millisecond, m.Operations.Max())
	assert.InDelta(t, 4/4.1, m.Concurrency(1), 0.002)
	assert.Zero(t, m.Concurrency(2))
}
