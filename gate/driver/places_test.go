package driver

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	core "github.com/wandertoken/wander/protocol/gate"
)

// The close hook waits for the end of an open hook that takes a while to die. Another place does not wait for it.
func TestPlaces_OpenDiesSlowly_CloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		die := make(chan struct{})
		var closed []int
		p := &places{
			ctx: ctx, tunnel: newTunnel(ctx, nil, false), ends: make(chan core.HookEnded, 4), slots: make([]place, 2),
			took: func(string, time.Duration, core.Result) {},
			open: func(ctx context.Context, _ Call) core.Result {
				<-ctx.Done()
				<-die
				return core.Failed
			},
			close: func(_ context.Context, c Call) core.Result {
				closed = append(closed, c.Slot)
				return core.Succeeded
			},
		}
		p.runOpen(core.RunOpen{Run: 1}, time.Minute, time.Time{})
		synctest.Wait()
		p.runClose(core.RunClose{Run: 2}, core.RunOpen{}, time.Minute)
		synctest.Wait()
		assert.Empty(t, closed)
		p.runClose(core.RunClose{Run: 3, Slot: 1}, core.RunOpen{}, time.Minute)
		synctest.Wait()
		assert.Equal(t, []int{1}, closed)
		close(die)
		synctest.Wait()
		assert.Equal(t, []int{1, 0}, closed)
		assert.False(t, p.running())
	})
}

// The end of a hook that the gate kills as it ends is no failure: a slot would be stuck, and not be closed by the next start.
func TestPlaces_GateEnds_HookHasNotFailed(t *testing.T) {
	for range 64 { // both ends could be taken
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			p := &places{
				ctx: ctx, tunnel: newTunnel(ctx, nil, false), ends: make(chan core.HookEnded, 4), slots: make([]place, 1),
				took:  func(string, time.Duration, core.Result) {},
				close: func(ctx context.Context, _ Call) core.Result { <-ctx.Done(); return core.Failed },
			}
			p.runClose(core.RunClose{Run: 1}, core.RunOpen{}, time.Minute)
			synctest.Wait()
			cancel()
			p.workers.Wait()
			assert.Empty(t, p.ends)
		})
	}
}
