package circulation

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// TestQueueOrder: whatever is pushed comes in the order of its keys.
func TestQueueOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var naive []event
		var seq uint64
		var now clock.Instant
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "many") {
					seq++
					e := event{at: now + clock.Instant(rapid.IntRange(0, 50).Draw(t, "after")), seq: seq, purpose: purpose{kind: told}}
					q.push(e)
					naive = append(naive, e)
				}
				slices.SortFunc(naive, func(a, b event) int {
					if a.before(&b) {
						return -1
					}
					return 1
				})
			},
			"pop": func(t *rapid.T) {
				until := now + clock.Instant(rapid.IntRange(0, 20).Draw(t, "until"))
				for len(naive) > 0 && naive[0].at <= until {
					e, ok := q.pop(until)
					require.True(t, ok)
					require.Equal(t, naive[0], e)
					naive, now = naive[1:], e.at
				}
				_, ok := q.pop(until)
				require.False(t, ok)
			},
			"": func(t *rapid.T) {
				for i := 1; i < q.n; i++ {
					require.True(t, q.near[i].before(&q.near[i-1]))
				}
			},
		})
	})
}

// TestTimers: a policy is called exactly at its deadline,
// however it puts it off and back.
func TestTimers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const members = 40
		s := newStage(t, Config{Members: members, Demand: Scripted()}, nil)
		s.Run(0)
		want := make([]clock.Instant, members)
		for m := range want {
			want[m] = clock.Never
		}
		s.answer = func(m int, now clock.Instant, e *policy.Event) []policy.Action {
			require.Equal(rt, policy.Timer, e.Kind)
			require.Equal(rt, want[m], now, "m%d", m)
			want[m] = clock.Never
			if rapid.Bool().Draw(rt, "again") {
				want[m] = draw(rt, now)
				s.due[m] = want[m]
			}
			return nil
		}
		for range 300 {
			m := rapid.IntRange(0, members-1).Draw(rt, "member")
			want[m] = draw(rt, s.Now())
			s.setTimer(int32(m), want[m])
			if rapid.IntRange(0, 3).Draw(rt, "go") == 0 {
				s.Run(s.Now().Add(time.Duration(rapid.IntRange(0, 300).Draw(rt, "on"))))
				for m := range want {
					require.Greater(rt, want[m], s.Now(), "m%d was not called", m)
				}
			}
		}
		assert.LessOrEqual(rt, len(s.queue.timers.entries), members)
	})
}

// draw is an instant to wait for: soon, much later, or never.
func draw(t *rapid.T, now clock.Instant) clock.Instant {
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return clock.Never
	case 1, 2, 3:
		return now.Add(time.Duration(rapid.IntRange(1, 5).Draw(t, "soon")))
	}
	return now.Add(time.Duration(rapid.IntRange(1, 2000).Draw(t, "late")))
}

// TestPastTimer: an instant that has passed is now.
func TestPastTimer(t *testing.T) {
	s := newStage(t, Config{Members: 1, Demand: Scripted()}, nil)
	s.run(time.Minute)
	s.setTimer(0, clock.Instant(time.Second))
	assert.Equal(t, []string{"1m0s m0 timer"}, s.run(time.Minute))
}

// TestTimersOrder: the first entry is the earliest one, whatever was added,
// hastened, put off and removed. It takes a deep heap to go wrong.
func TestTimersOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		sites := make([]site, 1+rng.IntN(3000))
		h := timers{sites: &sites}
		for m := range sites {
			h.add(timer{clock.Instant(rng.IntN(10_000)), uint64(m), int32(m)})
		}
		for range 3000 {
			e := h.entries[sites[rng.IntN(len(sites))].entry]
			e.at -= clock.Instant(rng.IntN(1000))
			h.up(int(sites[e.member].entry), e)
			e = h.entries[0]
			e.at += clock.Instant(rng.IntN(10_000))
			h.down(0, e)
		}
		for i, e := range h.entries {
			require.Equal(t, int32(i), sites[e.member].entry)
			require.False(t, e.before(&h.entries[max(0, i-1)/4]))
		}
		last := timer{at: math.MinInt64}
		for len(h.entries) > 0 {
			e := h.entries[0]
			require.True(t, last.before(&e))
			last = e
			h.removeFirst()
			require.Equal(t, int32(noEntry), sites[e.member].entry)
		}
	}
}
