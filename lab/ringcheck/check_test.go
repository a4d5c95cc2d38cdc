package ringcheck

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/policy/ring"
)

// largest is the largest ring that is explored here. The same was seen up to
// n = 9 with the command.
const largest = 5

func check(t *testing.T, o Options) *Report {
	t.Helper()
	r, err := Check(o)
	require.NoError(t, err)
	return r
}

// each checks an algorithm in all sizes.
func each(t *testing.T, alg ring.Algorithm, see func(t *testing.T, n int, r *Report)) {
	for n := 2; n <= largest; n++ {
		t.Run(fmt.Sprintf("%v of %d", alg, n), func(t *testing.T) {
			see(t, n, check(t, Options{Algorithm: alg, Processors: n}))
		})
	}
}

// seeSafe: exclusive, live, and at rest when nobody waits.
func seeSafe(t *testing.T, r *Report) {
	t.Helper()
	assert.Nil(t, r.Exclusion, "two inside")
	assert.Nil(t, r.Deadlock)
	assert.Nil(t, r.Circulation)
	assert.Nil(t, r.Starvation)
	assert.True(t, r.Live())
	assert.False(t, r.Cut)
}

func TestS_Theorem21_AnyNumberOfMessages(t *testing.T) {
	each(t, ring.S, func(t *testing.T, n int, r *Report) {
		assert.True(t, r.Live())
		assert.NotNil(t, r.Circulation)
		assert.Equal(t, n, r.Period, "the token goes round")
		assert.Equal(t, "∞", r.PerRequest.String())
		assert.Equal(t, n-1, r.Traffic.Sent.Messages, "but it comes within one tour")
	})
	few, err := IdleTours(5, 10)
	require.NoError(t, err)
	many, err := IdleTours(5, 1000)
	require.NoError(t, err)
	assert.Equal(t, 50, few.Sent)
	assert.Equal(t, 5000, many.Sent)
	assert.Equal(t, 1, many.Requests)
}

func TestAlgorithms_Theorem22_NMinus1Messages(t *testing.T) {
	for _, alg := range []ring.Algorithm{ring.S, ring.Q, ring.D, ring.E} {
		for _, n := range []int{3, 10, 64} {
			run, err := FarRequests(alg, n, 20)
			require.NoError(t, err)
			assert.Equal(t, 20, run.Served)
			assert.GreaterOrEqual(t, run.PerRequest(), float64(n-1), "%v of %d", alg, n)
			assert.GreaterOrEqual(t, run.WorstDelivered, n-1, "%v of %d", alg, n)
		}
	}
}

func TestQ_Theorem31_NMessages(t *testing.T) {
	each(t, ring.Q, func(t *testing.T, n int, r *Report) {
		seeSafe(t, r)
		assert.Equal(t, fmt.Sprint(n), r.PerRequest.String())
		assert.Equal(t, (3*n*n-5*n+2)/2, r.Traffic.QuietDelivered.Messages, "the theorem's bound, and it is tight")
		assert.Equal(t, 3*n*(n-1)/2, r.Traffic.QuietSent.Messages, "those still on their way count, too")
	})
}

// TestQ_OldRequests_ServiceTraffic: the proof of theorem 3.1 counts only
// messages of requests that come after the one that waits. Those before make
// it more than the bound.
func TestQ_OldRequests_ServiceTraffic(t *testing.T) {
	want := map[int]int{2: 3, 3: 10, 4: 21, 5: 36}
	each(t, ring.Q, func(t *testing.T, n int, r *Report) {
		assert.Equal(t, want[n], r.Traffic.Delivered.Messages)
		assert.Equal(t, want[n], r.Traffic.Sent.Messages)
		assert.Equal(t, 2*n*n-3*n+1, want[n])
	})
}

// TestTheorem41D: the corrected D is not within the theorem's 2n messages a
// request from n = 5 on, and its service traffic is one more than 3n-3.
func TestTheorem41D(t *testing.T) {
	each(t, ring.D, func(t *testing.T, n int, r *Report) {
		seeSafe(t, r)
		assert.InDelta(t, float64(5*n-4)/2, r.PerRequest.Value(), 0)
		assert.Equal(t, n < 5, r.PerRequest.Value() <= float64(2*n), "the theorem's bound")
		assert.Equal(t, 3*n-2, r.Traffic.Sent.Messages)
		assert.Equal(t, 3*n-3, r.Traffic.QuietSent.Messages, "from a quiet ring the bound holds")
	})
}

func TestTheorem41E(t *testing.T) {
	each(t, ring.E, func(t *testing.T, n int, r *Report) {
		seeSafe(t, r)
		assert.Equal(t, fmt.Sprint(2*n-2), r.PerRequest.String())
		assert.Equal(t, 3*n-3, r.Traffic.Sent.Messages)
		assert.Equal(t, 3*n-3, r.Traffic.QuietSent.Messages)
		if n > 2 {
			assert.Equal(t, 3*n-2, r.Traffic.Delivered.Messages)
		}
	})
}

// TestPublished_Explored_Fails plays the schedules that show what is wrong with the text
// of Q and D, and sees that nothing shorter does.
func TestPublished_Explored_Fails(t *testing.T) {
	for _, c := range []struct {
		name     string
		alg      ring.Algorithm
		schedule string
		how      func(*Report) Schedule
	}{
		{"correction 1", ring.QPublished, "r0 r1 d1 d0", func(r *Report) Schedule { return r.Exclusion }},
		{"correction 1", ring.DPublished, "r0 r1 d1 d0", func(r *Report) Schedule { return r.Exclusion }},
		{"correction 2", ring.QDeferred, "r0 r1 d1 x0", func(r *Report) Schedule { return r.Deadlock }},
		{"correction 4", ring.DDeferred, "r0 r1 d1 x0", func(r *Report) Schedule { return r.Deadlock }},
	} {
		t.Run(fmt.Sprintf("%s of %v", c.name, c.alg), func(t *testing.T) {
			found := c.how(check(t, Options{Algorithm: c.alg, Processors: 2}))
			assert.Equal(t, c.schedule, found.String())
			run, err := Play(c.alg, 2, found)
			require.NoError(t, err)
			assert.True(t, run.MostInside == 2 || run.Stuck())
		})
	}
}

// TestCorrection3 is the token that searches without end.
func TestCorrection3(t *testing.T) {
	start, err := ParseSchedule("r1 d1 r0 d0 x1 d0 d1 x0 d1 d0")
	require.NoError(t, err)
	for _, alg := range []ring.Algorithm{ring.DPublished, ring.DDeferred} {
		run, err := Play(alg, 2, append(start, mustParse(t, "d1 d0 d1 d0 d1 d0")...))
		require.NoError(t, err)
		assert.False(t, run.waits(), "%v: it searches for nobody", alg)
		_, moving := run.Token()
		assert.True(t, moving)
		assert.NotNil(t, check(t, Options{Algorithm: alg, Processors: 2}).Circulation)
	}
	run, err := Play(ring.D, 2, append(start, mustParse(t, "d1 d0")...))
	assert.ErrorIs(t, err, ErrImpossible, "corrected, it rests")
	assert.True(t, run.quiet(ring.D))
}

func mustParse(t *testing.T, text string) Schedule {
	t.Helper()
	s, err := ParseSchedule(text)
	require.NoError(t, err)
	return s
}

// TestLinks_NotFIFO_Fails: the algorithms fail when a request overtakes the token.
// A token that overtakes requests does no harm to Q. In D and E it lets them
// pile up; with few of them they work.
func TestLinks_NotFIFO_Fails(t *testing.T) {
	const n = 3
	for _, alg := range []ring.Algorithm{ring.Q, ring.D, ring.E} {
		r := check(t, Options{Algorithm: alg, Processors: n, Overtaking: RequestFirst})
		assert.Nil(t, r.Exclusion)
		assert.False(t, r.Live(), "%v", alg)
		assert.Equal(t, alg == ring.Q, r.Circulation != nil, "%v", alg)
		if alg == ring.Q {
			run, err := Play(alg, n, r.Starvation)
			require.NoError(t, err)
			assert.True(t, run.waits(), "without end")
			assert.Positive(t, run.Delivered)
		}
		assert.Equal(t, alg != ring.Q, r.Deadlock != nil, "%v", alg)

		r = check(t, Options{Algorithm: alg, Processors: n, Overtaking: TokenFirst, Backlog: 2})
		assert.True(t, r.Safe(), "%v", alg)
		assert.Equal(t, alg != ring.Q, r.Cut, "%v", alg)
	}
}

// TestWithdrawals: that processors give up waiting harms nobody, and changes none
// of the numbers.
func TestWithdrawals(t *testing.T) {
	for _, alg := range []ring.Algorithm{ring.Q, ring.D, ring.E} {
		for n := 2; n <= 4; n++ {
			r := check(t, Options{Algorithm: alg, Processors: n, Withdrawals: true})
			seeSafe(t, r)
			without := check(t, Options{Algorithm: alg, Processors: n})
			assert.Greater(t, r.States, without.States)
			assert.Equal(t, without.PerRequest.String(), r.PerRequest.String(), "%v of %d", alg, n)
			for i, m := range r.Traffic.Each() {
				assert.Equal(t, without.Traffic.Each()[i].Messages, m.Messages, "%v of %d, %s", alg, n, m.Name)
			}
		}
	}
}

// TestRuns_Each_ShowTheNumbers plays the runs that a report shows and sees that they
// cost what it says.
func TestRuns_Each_ShowTheNumbers(t *testing.T) {
	for _, alg := range []ring.Algorithm{ring.Q, ring.D, ring.E} {
		each(t, alg, func(t *testing.T, n int, r *Report) {
			play := func(s Schedule) *Run {
				run, err := Play(alg, n, s)
				require.NoError(t, err)
				return run
			}
			assert.Equal(t, r.Traffic.Sent.Messages, play(r.Traffic.Sent.Schedule).WorstSent)
			assert.Equal(t, r.Traffic.Delivered.Messages, play(r.Traffic.Delivered.Schedule).WorstDelivered)
			assert.Equal(t, r.Traffic.QuietSent.Messages, play(r.Traffic.QuietSent.Schedule).WorstSent)
			assert.Equal(t, r.Traffic.QuietDelivered.Messages, play(r.Traffic.QuietDelivered.Schedule).WorstDelivered)

			dear := r.LongRun.Schedule
			require.Positive(t, r.LongRun.Period)
			assert.Equal(t, r.LongRun, r.PerRequest, "no finite run is dearer")
			once := play(dear)
			twice := play(append(dear, dear[len(dear)-r.LongRun.Period:]...))
			assert.InDelta(t, r.LongRun.Value(),
				float64(twice.Sent-once.Sent)/float64(twice.Requests-once.Requests), 0)
		})
	}
}

// TestCirculation_NoRequest_GoesOn repeats what is said to be repeatable.
func TestCirculation_NoRequest_GoesOn(t *testing.T) {
	for _, o := range []Options{
		{Algorithm: ring.S, Processors: 3},
		{Algorithm: ring.DPublished, Processors: 3},
		{Algorithm: ring.Q, Processors: 3, Overtaking: RequestFirst},
	} {
		r := check(t, o)
		run, err := Play(o.Algorithm, o.Processors, r.Circulation)
		require.NoError(t, err)
		again := r.Circulation[len(r.Circulation)-r.Period:]
		for range 3 {
			for _, s := range again {
				require.Contains(t, []Action{Deliver, Overtake}, s.Action)
				require.NoError(t, run.step(s))
			}
		}
	}
}

// TestExplorer_SmallRings_AgreesWithNaive counts the states without turning the
// ring and without numbers for processors.
func TestExplorer_SmallRings_AgreesWithNaive(t *testing.T) {
	for _, alg := range []ring.Algorithm{ring.S, ring.Q, ring.D, ring.E} {
		for n := 2; n <= 3; n++ {
			first, err := newRing(alg, n)
			require.NoError(t, err)
			seen := map[string]bool{fmt.Sprint(first): true}
			steps := 0
			for queue := []*Ring{first}; len(queue) > 0; queue = queue[1:] {
				for _, s := range append(queue[0].possible(nil, Ask), queue[0].possible(nil, Deliver)...) {
					next, err := newRing(alg, n)
					require.NoError(t, err)
					next.copyFrom(queue[0])
					next.do(s)
					steps++
					if !next.moving {
						next.baton = ring.Baton{} // what a token had that has arrived
					}
					assert.Less(t, next.baton.Idle, uint32(n), "Q's limit is for faults only")
					if k := fmt.Sprint(next); !seen[k] {
						seen[k] = true
						queue = append(queue, next)
					}
				}
			}
			r := check(t, Options{Algorithm: alg, Processors: n})
			assert.Equal(t, len(seen), n*r.States, "%v of %d", alg, n)
			assert.Equal(t, steps, n*r.Steps, "%v of %d", alg, n)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, n := range []int{-1, 0, 1, MaxExplored + 1} {
		_, err := Check(Options{Algorithm: ring.E, Processors: n})
		assert.ErrorIs(t, err, ErrProcessors)
	}
	calls := 0
	_, err := Check(Options{
		Algorithm: ring.Q, Processors: 6, Memory: 1 << 10,
		Progress: func(found, tried int) { calls++ },
	})
	assert.ErrorIs(t, err, ErrMemory)
	assert.Positive(t, calls)
	_, err = newRun(ring.E, maxPlayed+1)
	assert.ErrorIs(t, err, ErrProcessors)
	_, err = Play(ring.E, 1, nil)
	assert.ErrorIs(t, err, ErrProcessors)
}

func TestSchedules(t *testing.T) {
	s := Schedule{{Ask, 0}, {Deliver, 12}, {Leave, 3}, {Overtake, 4}}
	assert.Equal(t, "r0 d12 x3 o4", s.String())
	parsed, err := ParseSchedule(" r0  d12 x3\to4 ")
	require.NoError(t, err)
	assert.Equal(t, s, parsed)
	for _, wrong := range []string{"r", "y1", "d-1", "0", "r0,d0"} {
		_, err := ParseSchedule(wrong)
		assert.ErrorIs(t, err, ErrSchedule, wrong)
	}
	run, err := Play(ring.E, 2, mustParse(t, "r0 d0"))
	assert.ErrorIs(t, err, ErrImpossible)
	assert.Equal(t, 1, run.Requests)
	for _, impossible := range []string{"d0", "x0", "o0", "r2", "r0 r0"} {
		_, err := Play(ring.E, 2, mustParse(t, impossible))
		assert.ErrorIs(t, err, ErrImpossible, impossible)
	}
}
