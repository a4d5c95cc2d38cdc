package transport

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// TestCertificate_Renewed_ConnectionKept: what was shown on it ends, and what
// the peer has now does not. The directory is asked once for each certificate
// that ends, and not about those that count.
func TestCertificate_Renewed_ConnectionKept(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		started := time.Now()
		clock := func(c *Config) {
			c.IdleTimeout = time.Hour
			c.Now = func() time.Time { return b.now.Add(time.Since(started)) }
		}
		var known atomic.Pointer[certificate.Certificate]
		var asked atomic.Int32
		a := b.node("a", func(c *Config) {
			clock(c)
			c.Newest = func(ident.Member) (certificate.Certificate, bool) {
				asked.Add(1)
				return *known.Load(), true
			}
		})
		z := b.node("z", func(c *Config) {
			clock(c)
			c.Key, c.Certificate = b.shortLived(t, "z", time.Minute)
		})
		_, foreign := b.shortLived(t, "y", 5*time.Minute)
		_, renewed := b.shortLived(t, "z", 2*time.Minute)
		known.Store(&renewed)
		z.Send(a.Self(), Custody, []byte("x"))
		a.wait(frame("x"), 1)
		time.Sleep(100 * time.Second)
		z.Send(a.Self(), Custody, []byte("still here"))
		a.wait(frame("still here"), 1)
		assert.Equal(t, 1, a.count(kind("connected")))
		assert.EqualValues(t, 1, asked.Load())

		known.Store(&foreign) // another member's keeps nothing
		e := a.wait(kind("disconnected"), 1)
		assert.Equal(t, z.Self(), e.peer)
		assert.InDelta(t, 120, time.Since(started).Seconds(), 2)
		assert.Equal(t, uint64(1), a.Stats().Lapsed)
	})
}
