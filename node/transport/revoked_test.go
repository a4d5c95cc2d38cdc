package transport

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wandertoken/wander/protocol/ident"
)

// revocations is a Config.Revocation that tests fill.
type revocations struct {
	mu sync.Mutex
	m  map[ident.Member][]byte
}

func (r *revocations) revoke(m ident.Member, frame string) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.m == nil {
		r.m = make(map[ident.Member][]byte)
	}
	r.m[m] = []byte(frame)
	return r.m[m]
}

func (r *revocations) of(m ident.Member) ([]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	frame, ok := r.m[m]
	return frame, ok
}

func TestRevoked_Dials_NotifiedAndClosed(t *testing.T) {
	inBubble(t, 3, 20*time.Millisecond, func(t *testing.T, b *bubble) {
		b.net.Loss = 0.1
		var list revocations
		a := b.node("a", func(c *Config) { c.Revocation = list.of })
		z := b.node("z", nil)
		list.revoke(z.Self(), "you are revoked")

		z.Send(a.Self(), Custody, []byte("may I?"))
		require.Equal(t, "you are revoked", z.wait(kind("frame"), 1).body)
		require.ErrorIs(t, z.wait(kind("disconnected"), 1).err, ErrRevoked)

		time.Sleep(MaxBackOff)
		a.Send(z.Self(), Custody, []byte("a forgets itself and dials"))
		require.Equal(t, "you are revoked", z.wait(kind("frame"), 2).body)
		z.wait(kind("disconnected"), 2)
		time.Sleep(2 * Linger)

		assert.Zero(t, a.count(kind("connected"))+a.count(kind("frame")), "a has never talked to it")
		assert.Equal(t, uint64(2), a.Stats().Refused[ErrRevoked.Error()])
		assert.Equal(t, 1, a.log.lines(ErrRevoked.Error()))
		assert.Zero(t, a.Stats().Connections)
	})
}

func TestRevoked_ConnectionOpen_Closed(t *testing.T) {
	inBubble(t, 1, 20*time.Millisecond, func(t *testing.T, b *bubble) {
		var list revocations
		a := b.node("a", func(c *Config) { c.Revocation = list.of })
		z := b.node("z", nil)
		z.Send(a.Self(), Custody, []byte("hello"))
		a.wait(frame("hello"), 1)

		took := since(func() {
			a.Expel(z.Self(), list.revoke(z.Self(), "you are revoked"))
			z.Send(a.Self(), Custody, []byte("too late"))
			z.wait(frame("you are revoked"), 1)
		})
		assert.Less(t, took, 30*time.Millisecond)
		require.ErrorIs(t, z.wait(kind("disconnected"), 1).err, ErrRevoked)
		require.ErrorIs(t, a.wait(kind("disconnected"), 1).err, ErrRevoked)
		assert.Equal(t, 1, a.count(kind("frame")), "what it sends is not handled any more")
		assert.Equal(t, 1, a.log.lines(ErrRevoked.Error()))

		time.Sleep(MaxBackOff)
		z.Send(a.Self(), Custody, []byte("again"))
		z.wait(frame("you are revoked"), 2)
		assert.Equal(t, 1, a.count(kind("connected")))
	})
}

// TestRevoked_DoesNotListen_Closed is one that takes its revocation but
// never closes, and one that does not even read.
func TestRevoked_DoesNotListen_Closed(t *testing.T) {
	inBubble(t, 1, 20*time.Millisecond, func(t *testing.T, b *bubble) {
		var list revocations
		a := b.node("a", func(c *Config) { c.Revocation = list.of })
		key, cert := b.member(t, "z", nil)
		r := newRaw(t, b.net.socket(), *must(tlsCertificate(key, cert, nil)))
		q, _ := r.member(a)
		a.wait(kind("connected"), 1)
		for range 300 {
			a.Send(cert.Member(), Rest, make([]byte, 4000)) // more than it will ever read
		}
		a.Expel(cert.Member(), list.revoke(cert.Member(), "you are revoked"))
		took := since(func() { require.Equal(t, CodeRevoked, closedWith(t, q)) })
		assert.LessOrEqual(t, took, Linger+100*time.Millisecond)
		a.wait(kind("disconnected"), 1)
	})
}

func TestExpel_FromHandler_Closed(t *testing.T) {
	inBubble(t, 1, 20*time.Millisecond, func(t *testing.T, b *bubble) {
		var list revocations
		a := b.node("a", func(c *Config) { c.Revocation = list.of })
		z := b.node("z", nil)
		frames := 0
		a.onFrame = func(m ident.Member, _ []byte) {
			frames++
			a.Expel(m, list.revoke(m, "you are revoked"))
		}
		for range 10 {
			z.Queue(a.Self(), Custody, []byte("one of several in a packet"))
		}
		z.Flush()
		z.wait(frame("you are revoked"), 1)
		a.wait(kind("disconnected"), 1)
		assert.Equal(t, 1, frames)
	})
}

func TestExpel_NoWords_Closed(t *testing.T) {
	inBubble(t, 1, 20*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z := b.node("a", nil), b.node("z", nil)
		a.Send(z.Self(), Custody, []byte("hello"))
		z.wait(frame("hello"), 1)
		a.Expel(z.Self(), nil)
		require.ErrorIs(t, z.wait(kind("disconnected"), 1).err, ErrRevoked)
		assert.Equal(t, 1, z.count(kind("frame")))
	})
}
