package transport

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestPulse_QuietMinute_FewLooks holds the wake-ups that the transport's own timers
// cause: whoever wants to look at something periodically shares them.
func TestPulse_QuietMinute_FewLooks(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		var looks atomic.Int64
		b.node("a", func(c *Config) {
			c.Pulse = func(next time.Duration) { looks.Add(1); assert.Equal(t, MaxRest, next) }
		})
		time.Sleep(sweepInterval + time.Minute + MaxRest/2)
		assert.EqualValues(t, 1+time.Minute/MaxRest, looks.Load())
	})
}

// TestPulse_FramesCome_LooksWithThem: a look that is due soon is taken when a frame has woken
// the process anyway.
func TestPulse_FramesCome_LooksWithThem(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		var apart, looks atomic.Int64
		var heard atomic.Int64 // when a frame came, nanoseconds since the start
		start := time.Now()
		a := b.node("a", func(c *Config) {
			c.Pulse = func(time.Duration) {
				if looks.Add(1); int64(time.Since(start)) != heard.Load() {
					apart.Add(1)
				}
			}
		})
		a.onBatch = func() { heard.Store(int64(time.Since(start))) }
		z := b.node("z", nil)
		for range 30 {
			z.Send(a.Self(), Rest, []byte("news"))
			time.Sleep(2 * time.Second)
		}
		assert.LessOrEqual(t, apart.Load(), int64(3), "at the beginning")
		assert.InDelta(t, 30, looks.Load(), 3)
	})
}

// maxIdlePackets is how many packets two members exchange on a connection in a minute in
// which nothing is said: it is dialled, a frame goes each way, keep-alives follow until
// it is closed for idleness, and each is acknowledged. A dial takes a few more or fewer: QUIC
// packs together what is due at one instant.
const maxIdlePackets = 20

func TestIdleConnection_DialledUsedAndClosed_FewPackets(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z := b.node("a", nil), b.node("z", nil)
		before := b.net.Sent()
		a.Send(z.Self(), Custody, []byte("there"))
		z.wait(frame("there"), 1)
		z.Send(a.Self(), Custody, []byte("back"))
		a.wait(frame("back"), 1)
		time.Sleep(time.Minute)
		t.Log(b.net.Sent() - before)
		assert.LessOrEqual(t, b.net.Sent()-before, maxIdlePackets)
	})
}
