package hooks_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/node/hooks"
)

// counters count for a test.
type counters struct {
	mu      sync.Mutex
	ran     map[hooks.Outcome]int
	dropped int
}

func (c *counters) HookRan(_ hooks.Kind, o hooks.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ran == nil {
		c.ran = make(map[hooks.Outcome]int)
	}
	c.ran[o]++
}

func (c *counters) HookDropped(hooks.Kind) { c.dropped++ }

// Hooks of one kind run one after the other, in the order of their events; those of another kind do not wait for them.
func TestHooks_OneKind_InOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(counters)
		seen := make(chan string, 3)
		others := 0
		h := hooks.New(map[hooks.Kind]hooks.Run{
			hooks.Lost: func(_ context.Context, e hooks.Event) hooks.Outcome {
				time.Sleep(time.Second)
				seen <- e.Reason
				return hooks.OK
			},
			hooks.Granted: func(context.Context, hooks.Event) hooks.Outcome { others++; return hooks.OK },
		}, time.Now, c)
		for _, reason := range []string{"a", "b", "c"} {
			h.Put(hooks.Event{Kind: hooks.Lost, Reason: reason})
		}
		h.Put(hooks.Event{Kind: hooks.Granted})
		h.Put(hooks.Event{Kind: hooks.Evidence}) // nobody wants it
		synctest.Wait()
		assert.Equal(t, 1, others)
		assert.Empty(t, seen)
		for _, reason := range []string{"a", "b", "c"} {
			assert.Equal(t, reason, <-seen)
		}
		h.Close(time.Hour)
		assert.Zero(t, c.dropped)
		assert.Equal(t, map[hooks.Outcome]int{hooks.OK: 4}, c.ran)
	})
}

// A hook that hangs is ended, and in the meantime as many events wait as there is room for.
func TestHooks_Hangs_EndedAndOthersDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, ran := new(counters), 0
		begin := time.Now()
		h := hooks.New(map[hooks.Kind]hooks.Run{hooks.Lost: func(ctx context.Context, _ hooks.Event) hooks.Outcome {
			if ran++; ran == 1 {
				<-ctx.Done()
				return hooks.TimedOut
			}
			return hooks.Failed
		}}, time.Now, c)
		h.Put(hooks.Event{Kind: hooks.Lost})
		synctest.Wait()
		for range hooks.QueueLength + 3 {
			h.Put(hooks.Event{Kind: hooks.Lost})
		}
		assert.Equal(t, 3, c.dropped)
		h.Close(time.Hour)
		assert.Equal(t, map[hooks.Outcome]int{hooks.TimedOut: 1, hooks.Failed: hooks.QueueLength}, c.ran)
		assert.Equal(t, hooks.TimeLimit, time.Since(begin))
	})
}

// A daemon that ends waits for its hooks no longer than it wants to.
func TestHooks_Closed_HookEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		h := hooks.New(map[hooks.Kind]hooks.Run{hooks.Lost: func(ctx context.Context, _ hooks.Event) hooks.Outcome {
			ran++
			<-ctx.Done()
			return hooks.Failed
		}}, time.Now, new(counters))
		begin := time.Now()
		h.Put(hooks.Event{Kind: hooks.Lost})
		h.Put(hooks.Event{Kind: hooks.Lost})
		h.Close(2 * time.Second)
		assert.Equal(t, 2*time.Second, time.Since(begin))
		assert.Equal(t, 1, ran)
		h.Put(hooks.Event{Kind: hooks.Lost}) // has no effect
		h.Close(time.Second)
	})
}

// A hook that does not end keeps no daemon from ending.
func TestHooks_ClosedAndDeaf_NotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := make(chan struct{})
		h := hooks.New(map[hooks.Kind]hooks.Run{hooks.Lost: func(context.Context, hooks.Event) hooks.Outcome {
			<-deaf
			return hooks.Failed
		}}, time.Now, new(counters))
		begin := time.Now()
		h.Put(hooks.Event{Kind: hooks.Lost})
		time.AfterFunc(time.Hour, func() { close(deaf) })
		h.Close(2 * time.Second)
		assert.Equal(t, 7*time.Second, time.Since(begin))
		<-deaf
	})
}

func TestHooks_None_NoEffect(t *testing.T) {
	h := hooks.New(nil, nil, nil)
	h.Put(hooks.Event{Kind: hooks.Lost})
	h.Close(0)
}
