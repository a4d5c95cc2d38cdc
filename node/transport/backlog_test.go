package transport

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/protocol/ident"
)

func TestFrames_LossAndReordering_Arrive(t *testing.T) {
	inBubble(t, 7, 20*time.Millisecond, func(t *testing.T, b *bubble) {
		b.net.Loss, b.net.Jitter = 0.2, 40*time.Millisecond
		a, z := b.node("a", nil), b.node("z", nil)
		const n = 2000
		for i := range n {
			a.Send(z.Self(), Class(i%2), fmt.Appendf(nil, "%06d %s", i, make([]byte, i%300)))
			time.Sleep(5 * time.Millisecond)
		}
		await.Until(t, "everything arrives", func() bool { return z.count(kind("frame")) == n })
		last := [classes]string{}
		for _, e := range z.all() {
			if e.kind == "frame" {
				class := (e.body[5] - '0') % 2
				require.Less(t, last[class], e.body[:6], "in order within its class")
				last[class] = e.body[:6]
			}
		}
		require.Equal(t, 1, z.count(kind("connected")))
		stats := a.Stats()
		require.Zero(t, stats.DroppedCustody+stats.DroppedRest)
	})
}

func TestPeer_DoesNotRead_GivenUp(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z := b.node("a", nil), b.node("z", nil)
		block := make(chan struct{})
		z.onFrame = func(ident.Member, []byte) { <-block }
		took := since(func() {
			for range 10_000 {
				a.Send(z.Self(), Rest, make([]byte, 1000))
			}
		})
		assert.Zero(t, took, "Send does not wait")
		stats := a.Stats()
		assert.Positive(t, stats.DroppedRest)
		assert.LessOrEqual(t, stats.Queued, int64(MaxQueueBytes))
		e := a.wait(kind("disconnected"), 1)
		require.ErrorIs(t, e.err, ErrOverload)
		assert.Zero(t, a.Stats().Queued)
		assert.Equal(t, 1, a.log.lines(errStalled.Error()))
		close(block)
	})
}

func TestPeer_Fast_ReadSlowly(t *testing.T) {
	inBubble(t, 1, time.Millisecond, func(t *testing.T, b *bubble) {
		const rate = 1000
		a := b.node("a", nil)
		z := b.node("z", func(c *Config) { c.limits.frames = rate })
		// A buffer full of frames, fewer than 8000, is handed over before anybody waits.
		const n = frameBurst + 8000 + 5*rate
		took := since(func() {
			sent := 0
			for sent < n {
				for a.Stats().Queued < 4096 && sent < n { // far from MaxQueueFrames
					for range 100 {
						a.Send(z.Self(), Custody, []byte("frame"))
					}
					sent += 100
				}
				time.Sleep(time.Millisecond)
			}
			await.Until(t, "all is read", func() bool { return z.Stats().FramesReceived == n })
		})
		assert.Greater(t, took, 4*time.Second)
		assert.Positive(t, z.Stats().Throttled)
		assert.Zero(t, a.Stats().DroppedCustody)
	})
}

// TestReader_Quiet_BufferReturned: after much at once, and then silence, the
// reader goes on with a small buffer.
func TestReader_Quiet_BufferReturned(t *testing.T) {
	inBubble(t, 1, time.Millisecond, func(t *testing.T, b *bubble) {
		a, z := b.node("a", nil), b.node("z", nil)
		a.Send(z.Self(), Custody, []byte("warm"))
		z.wait(frame("warm"), 1)
		p := z.lock(a.Self())
		c := p.current
		p.mu.Unlock()
		require.Zero(t, c.busy.Load())
		for i := range 2 {
			large := string(make([]byte, 2*readBuffer))
			a.Send(z.Self(), Custody, []byte(large))
			z.wait(frame(large), i+1)
			require.NotZero(t, c.busy.Load())
			time.Sleep(largeFor + 2*sweepInterval)
			require.Zero(t, c.busy.Load())
		}
		a.Send(z.Self(), Custody, []byte("still there"))
		z.wait(frame("still there"), 1)
		require.Empty(t, z.log.lines(""), "nothing has gone wrong")
	})
}
