package wandertest_test

import (
	"context"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander"
	"github.com/wandertoken/wander/wandertest"
)

// inGroup runs a test with a group in a bubble.
func inGroup(t *testing.T, n int, f func(t *testing.T, g *wandertest.Group), resources ...wandertest.Resource) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, wandertest.New(t, n, resources...)) })
}

// One at a time runs, everybody does, and the hours cost nothing.
func TestGroup_AllWant_OneAtATime(t *testing.T) {
	inGroup(t, 3, func(t *testing.T, g *wandertest.Group) {
		begin, running := time.Now(), make(chan string, 1)
		done := make(chan error)
		for i := range 3 {
			go func() {
				done <- g.Member(i).Client().Do(t.Context(), wandertest.Tape, func(_ context.Context, grant wander.Grant) error {
					assert.Equal(t, g.Member(i).Name(), grant.Member)
					select {
					case running <- grant.Member:
					default:
						t.Error("two at once")
					}
					time.Sleep(20 * time.Minute)
					<-running
					return nil
				})
			}()
		}
		for range 3 {
			require.NoError(t, <-done)
		}
		assert.GreaterOrEqual(t, time.Since(begin), time.Hour)
		assert.Less(t, time.Since(begin), 2*time.Hour)
	})
}

func TestAcquire_OthersHold_WaitEnds(t *testing.T) {
	inGroup(t, 2, func(t *testing.T, g *wandertest.Group) {
		held, err := g.Member(0).Client().Acquire(t.Context(), wandertest.Tape)
		require.NoError(t, err)
		begin := time.Now()
		_, err = g.Member(1).Client().Acquire(t.Context(), wandertest.Tape, wander.Wait(time.Minute))
		require.ErrorIs(t, err, wander.ErrNotGranted)
		assert.Equal(t, time.Minute, time.Since(begin))
		_, err = g.Member(1).Client().Acquire(t.Context(), "tap")
		require.ErrorIs(t, err, wander.ErrRefused)
		require.NoError(t, held.Release())
		held, err = g.Member(1).Client().Acquire(t.Context(), wandertest.Tape, wander.Wait(time.Minute))
		require.NoError(t, err)
		require.NoError(t, held.Release())
	})
}

func TestSlots_Two_TwoAtOnce(t *testing.T) {
	inGroup(t, 2, func(t *testing.T, g *wandertest.Group) {
		one, err := g.Member(0).Client().Acquire(t.Context(), "link")
		require.NoError(t, err)
		two, err := g.Member(1).Client().Acquire(t.Context(), "link", wander.Wait(time.Minute))
		require.NoError(t, err)
		require.NoError(t, one.Release())
		require.NoError(t, two.Release())
	}, wandertest.Resource{Name: "link", Slots: 2})
}

func TestHeld_Deadline_ContextEnds(t *testing.T) {
	inGroup(t, 2, func(t *testing.T, g *wandertest.Group) {
		begin := time.Now()
		err := g.Member(1).Client().Do(t.Context(), "short", func(ctx context.Context, grant wander.Grant) error {
			<-ctx.Done()
			assert.ErrorIs(t, context.Cause(ctx), wander.ErrDeadline)
			assert.Equal(t, time.Second, time.Until(grant.Deadline).Round(time.Millisecond))
			return nil
		}, wander.Margin(time.Second))
		require.NoError(t, err)
		assert.Less(t, time.Since(begin), 2*time.Minute)
	}, wandertest.Resource{Name: "short", MaxHold: time.Minute})
}

// A member that is stopped takes its grants away first, so the others go on as soon as its program has ended.
func TestStop_Holder_LostAndPassedOn(t *testing.T) {
	inGroup(t, 3, func(t *testing.T, g *wandertest.Group) {
		held, err := g.Member(0).Client().Acquire(t.Context(), wandertest.Tape)
		require.NoError(t, err)
		begin, ended := time.Now(), make(chan time.Duration)
		go func() { // a program that needs a while to end
			<-held.Context().Done()
			time.Sleep(6 * time.Second)
			_ = held.Release()
			ended <- time.Since(begin)
		}()
		g.Member(0).Stop()
		assert.Equal(t, 6*time.Second, <-ended, "the program is told at once")
		assert.Less(t, time.Since(begin), 10*time.Second)
		require.ErrorIs(t, context.Cause(held.Context()), wander.ErrLost)
		_, err = g.Member(0).Client().Acquire(t.Context(), wandertest.Tape)
		require.ErrorIs(t, err, wander.ErrUnavailable)
		other, err := g.Member(1).Client().Acquire(t.Context(), wandertest.Tape)
		require.NoError(t, err)
		assert.Less(t, time.Since(begin), time.Minute, "nobody waits for the deadline")
		require.NoError(t, other.Release())
		g.Member(0).Start()
		again, err := g.Member(0).Client().Acquire(t.Context(), wandertest.Tape)
		require.NoError(t, err)
		require.NoError(t, again.Release())
	})
}

// If nobody can take the token, the member waits for the end of its program, and uses the token when it is back.
func TestStop_CutOffHolder_NoProgramRunsAtTheNextStart(t *testing.T) {
	inGroup(t, 2, func(t *testing.T, g *wandertest.Group) {
		held, err := g.Member(0).Client().Acquire(t.Context(), wandertest.Tape)
		require.NoError(t, err)
		g.Member(1).Stop()
		time.Sleep(time.Minute) // no connection is left
		go func() {
			<-held.Context().Done()
			time.Sleep(time.Second)
			_ = held.Release()
		}()
		begin := time.Now()
		g.Member(0).Stop()
		assert.Less(t, time.Since(begin), 3*time.Second)
		g.Member(0).Start()
		again, err := g.Member(0).Client().Acquire(t.Context(), wandertest.Tape)
		require.NoError(t, err)
		assert.Less(t, time.Since(begin), time.Minute)
		require.NoError(t, again.Release())
	})
}

// A program that does not end keeps the member's end waiting for 10 s, and the others until its deadline.
func TestStop_ProgramRunsOn_EndsAnyway(t *testing.T) {
	inGroup(t, 3, func(t *testing.T, g *wandertest.Group) {
		held, err := g.Member(0).Client().Acquire(t.Context(), "job")
		require.NoError(t, err)
		begin := time.Now()
		g.Member(0).Stop()
		assert.Less(t, time.Since(begin), 15*time.Second)
		other, err := g.Member(1).Client().Acquire(t.Context(), "job", wander.Wait(10*time.Minute))
		require.NoError(t, err)
		assert.True(t, time.Now().After(held.Grant().Deadline))
		require.NoError(t, other.Release())
		require.NoError(t, held.Release())
	}, wandertest.Resource{Name: "job", MaxHold: time.Minute})
}

// Nobody runs before the deadline of a holder that was killed, and somebody does soon after it.
func TestKill_Holder_OthersGoOnAfterItsDeadline(t *testing.T) {
	inGroup(t, 3, func(t *testing.T, g *wandertest.Group) {
		held, err := g.Member(0).Client().Acquire(t.Context(), "job")
		require.NoError(t, err)
		deadline := held.Grant().Deadline
		g.Member(0).Kill()
		require.NoError(t, held.Context().Err(), "a program hears nothing of the death of its daemon")
		other, err := g.Member(1).Client().Acquire(t.Context(), "job", wander.Wait(10*time.Minute))
		require.NoError(t, err)
		assert.True(t, time.Now().After(deadline), "%v before its deadline", time.Until(deadline))
		assert.Less(t, time.Since(deadline), 2*time.Minute)
		assert.Greater(t, other.Grant().Fence, held.Grant().Fence)
		assert.ErrorIs(t, context.Cause(held.Context()), wander.ErrDeadline)
		require.NoError(t, held.Release())
		require.NoError(t, other.Release())
	}, wandertest.Resource{Name: "job", MaxHold: time.Minute})
}

func TestCut_NoHolder_Isolated(t *testing.T) {
	inGroup(t, 3, func(t *testing.T, g *wandertest.Group) {
		held, err := g.Member(0).Client().Acquire(t.Context(), wandertest.Tape)
		require.NoError(t, err)
		var alone *wandertest.Member = g.Member(2)
		alone.Cut()
		_, err = alone.Client().Acquire(t.Context(), wandertest.Tape, wander.Wait(5*time.Minute))
		require.ErrorIs(t, err, wander.ErrIsolated)
		alone.Join()
		require.NoError(t, held.Release())
		again, err := alone.Client().Acquire(t.Context(), wandertest.Tape, wander.Wait(5*time.Minute))
		require.NoError(t, err)
		require.NoError(t, again.Release())
	})
}

func TestNew_Number_OutOfRange(t *testing.T) {
	for _, n := range []int{0, wandertest.MaxMembers + 1} {
		// It has this test's name, so that it runs whatever -run and -skip say.
		failed := !testing.RunTests(regexp.MatchString, []testing.InternalTest{{Name: t.Name(), F: func(t *testing.T) { wandertest.New(t, n) }}})
		assert.True(t, failed, n)
	}
}
