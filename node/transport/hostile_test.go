package transport

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// usage is what a process holds, after a garbage collection.
func usage() (heap uint64, goroutines int) {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, runtime.NumGoroutine()
}

// TestFrames_HundredThousandMalformed_Closed comes from a member with a valid
// certificate: bodies of garbage, which the handler sees, and lengths and
// endings that end the connection. Memory and goroutines are afterwards where
// they were.
func TestFrames_HundredThousandMalformed_Closed(t *testing.T) {
	const frames, connections = 100_000, 100
	began := time.Now()
	g := newGroup(t, "g")
	a := g.open(t, newBook(), loopback(t), "a", func(c *Config) { c.limits = limits{handshakes: 1e6, burst: 1e6, frames: 1e9} })
	var seen atomic.Int64
	a.onFrame = func(_ ident.Member, body []byte) {
		if len(body) == 0 || len(body) > wire.MaxFrame {
			t.Errorf("body of %d bytes", len(body))
		}
		seen.Add(1)
	}
	key, cert := g.member(t, "z", nil)
	r := newRaw(t, loopback(t), *must(tlsCertificate(key, cert, nil)))
	rng := rand.New(rand.NewPCG(1, 2))

	round := func(frames, connections int) {
		before := seen.Load()
		q, s := r.member(a)
		var buf []byte
		for i := range frames {
			body := make([]byte, 1+rng.IntN(64))
			if i%10_000 == 0 {
				body = make([]byte, wire.MaxFrame)
			}
			for j := range body {
				body[j] = byte(rng.Uint32())
			}
			buf = wire.AppendFrame(buf[:0], body)
			_, err := s.Write(buf)
			require.NoError(t, err)
		}
		await.Until(t, "all frames are seen", func() bool { return seen.Load() == before+int64(frames) })
		q.CloseWithError(0, "")
		for i := range connections {
			q, s := r.member(a)
			s.Write(malformed[i%len(malformed)])
			if i%len(malformed) == cutOff {
				s.Close()
			}
			require.Equal(t, CodeProtocol, closedWith(t, q))
		}
		await.Until(t, "all are gone", func() bool { return a.Stats().Connections == 0 })
	}
	round(1000, 5) // pools and buffers
	time.Sleep(2 * sweepInterval)
	heap, goroutines := usage()
	round(frames, connections)
	var heapAfter uint64
	await.Until(t, "memory and goroutines are back", func() bool {
		var after int
		heapAfter, after = usage()
		return after <= goroutines && heapAfter <= heap+1<<20
	})
	t.Logf("heap before %d, after %d bytes", heap, heapAfter)
	assert.Equal(t, uint64(connections+5), a.Stats().Refused[ErrProtocol.Error()])
	assert.LessOrEqual(t, a.log.lines(ErrProtocol.Error()), 1+int(time.Since(began)/noticeInterval))
}

// malformed is what ends a connection, behind the preamble.
var malformed = [][]byte{
	{0, 0, 0, 0},             // a frame has a body
	{0, 1, 0, 1},             // MaxFrame + 1
	{0xff, 0xff, 0xff, 0xff}, // 4 GiB
	bytes.Repeat([]byte{0x80}, 5000),
	{0, 0, 0, 9, 1, 2, 3}, // and then the stream ends
}

const cutOff = 4

// TestMalformedPreambles dials with a valid certificate and begins wrongly.
func TestMalformedPreambles(t *testing.T) {
	good := must(preamble{Process: process{1}, Ordinal: 1}.encode())
	for name, begin := range map[string][]byte{
		"empty frame":           {0, 0, 0, 0},
		"huge frame":            {0x7f, 0, 0, 0},
		"garbage":               wire.AppendFrame(nil, []byte("GET / HTTP/1.1")),
		"another message":       wire.AppendFrame(nil, append([]byte{0x82, 1}, good[2:]...)),
		"something behind it":   wire.AppendFrame(nil, append(bytes.Clone(good), 0)),
		"not shortest":          wire.AppendFrame(nil, append([]byte{0x82, 0x18, 0}, good[2:]...)),
		"one field too few":     wire.AppendFrame(nil, append(append([]byte{0x82, 0, 0x82}, good[3:len(good)-1]...), 0)[:len(good)-1]),
		"large frame":           binary.BigEndian.AppendUint32(nil, wire.MaxFrame),
		"ends within":           {0, 0, 0, 20, 0x82, 0},
		"nothing but an ending": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGroup(t, "g")
			a := g.open(t, newBook(), loopback(t), "a", nil)
			key, cert := g.member(t, "z", nil)
			r := newRaw(t, loopback(t), *must(tlsCertificate(key, cert, nil)))
			q, s, err := r.dial(a)
			require.NoError(t, err)
			s.Write(begin)
			s.Close()
			require.Equal(t, CodeProtocol, closedWith(t, q))
			await.Until(t, "it is counted", func() bool { return a.Stats().Refused[ErrProtocol.Error()] == 1 })
			assert.Empty(t, a.all())
		})
	}
}

func TestStreams_SecondOne_NotThere(t *testing.T) {
	g := newGroup(t, "g")
	a := g.open(t, newBook(), loopback(t), "a", nil)
	key, cert := g.member(t, "z", nil)
	r := newRaw(t, loopback(t), *must(tlsCertificate(key, cert, nil)))
	q, s := r.member(a)
	_, err := q.OpenStream()
	require.Error(t, err)
	_, err = q.OpenUniStream()
	require.Error(t, err)
	s.CancelRead(7) // refuses our half of the stream
	await.Until(t, "the connection is given up", func() bool {
		a.Send(cert.Member(), Rest, []byte("x"))
		return q.Context().Err() != nil
	})
	require.Equal(t, CodeProtocol, closedWith(t, q))
}

// TestDial_Overtaken_TurnedDown dials twice, and the earlier dial comes later.
func TestDial_Overtaken_TurnedDown(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a := b.node("a", nil)
		key, cert := b.member(t, "z", nil)
		r := newRaw(t, b.net.socket(), *must(tlsCertificate(key, cert, nil)))
		r.said = 7
		first, _ := r.member(a)
		second, s, err := r.dial(a)
		require.NoError(t, err)
		s.Write(wire.AppendFrame(nil, must(preamble{Process: process{1}, Ordinal: 7}.encode())))
		require.Equal(t, CodeReplaced, closedWith(t, second))
		require.NoError(t, first.Context().Err())
		r.member(a)
		require.Equal(t, CodeReplaced, closedWith(t, first), "and a later one replaces")
	})
}

func TestConnection_NoPreamble_Closed(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a := b.node("a", nil)
		key, cert := b.member(t, "z", nil)
		r := newRaw(t, b.net.socket(), *must(tlsCertificate(key, cert, nil)))
		q, s, err := r.dial(a)
		require.NoError(t, err)
		s.Write([]byte{0})
		took := since(func() { require.Equal(t, CodeProtocol, closedWith(t, q)) })
		assert.LessOrEqual(t, took, PreambleTimeout+time.Second)

		first, _, err := r.dial(a)
		require.NoError(t, err)
		for range MaxUnready {
			q, s, err = r.dial(a)
			require.NoError(t, err)
		}
		require.Equal(t, CodeOverload, closedWith(t, first), "of too many at once the oldest goes")
		assert.Equal(t, uint64(1), a.Stats().Refused[errUnready.Error()])
		s.Write(wire.AppendFrame(nil, must(preamble{Process: process{1}, Ordinal: 1}.encode())))
		_, err = wire.ReadFrame(s, nil)
		require.NoError(t, err, "the last one is served")
	})
}

func TestHandshakes_TooMany_Refused(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		const burst = 10
		z := b.node("z", func(c *Config) { c.limits = limits{handshakes: 1, burst: prefixShare * burst} })
		for i := range burst + 5 {
			n := b.node("rim"+string(rune('a'+i)), nil)
			n.Send(z.Self(), Custody, []byte("hello"))
			if i < burst {
				n.wait(kind("connected"), 1)
			} else {
				require.ErrorIs(t, n.wait(kind("unreachable"), 1).err, ErrOverload)
			}
		}
		assert.Positive(t, z.Stats().Refused[errRate.Error()])
		assert.Equal(t, 1, z.log.lines(errRate.Error()))
	})
}

func TestConnections_Full_OldestClosed(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		z := b.node("z", func(c *Config) { c.limits.connections = 3 })
		rim := make([]*node, 5)
		for i := range rim {
			rim[i] = b.node("rim"+string(rune('a'+i)), nil)
			rim[i].Send(z.Self(), Custody, []byte("hello"))
			rim[i].wait(kind("connected"), 1)
			time.Sleep(2 * sweepInterval)
			rim[0].Send(z.Self(), Custody, []byte("I am in use")) // and so rim 1 and 2 are older
			time.Sleep(2 * sweepInterval)
		}
		for i, n := range rim {
			want := 0
			if i == 1 || i == 2 {
				want = 1
				require.ErrorIs(t, n.wait(kind("disconnected"), 1).err, ErrOverload)
			}
			assert.Equal(t, want, n.count(kind("disconnected")), "rim %d", i)
		}
		assert.Equal(t, 3, z.Stats().Connections)
	})
}

// TestHandshakes_UnderLoad_AddressProved holds RetryAbove handshakes open and looks at
// how many round trips the next one takes.
func TestHandshakes_UnderLoad_AddressProved(t *testing.T) {
	inBubble(t, 1, 50*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z := b.node("a", nil), b.node("z", nil)
		var leave []func()
		for i := range RetryAbove {
			l, ok := z.gate.enter(0, netip.AddrFrom4([4]byte{11, 1, byte(i), 1}))
			require.True(t, ok)
			leave = append(leave, l)
		}
		took := since(func() {
			a.Send(z.Self(), Custody, []byte("hello"))
			z.wait(frame("hello"), 1)
		})
		assert.Greater(t, took, 240*time.Millisecond)
		for _, l := range leave {
			l()
		}
	})
}

// TestPeer_LargeWindow_Bounded is one that allows us to send
// gigabytes, and then acknowledges nothing.
func TestPeer_LargeWindow_Bounded(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a := b.node("a", nil)
		key, cert := b.member(t, "z", nil)
		socket := b.net.socket()
		r := newRaw(t, socket, *must(tlsCertificate(key, cert, nil)))
		r.conf.InitialStreamReceiveWindow, r.conf.InitialConnectionReceiveWindow = 1<<30, 1<<30
		r.member(a)
		a.wait(kind("connected"), 1)
		cut(socket)
		for range 2000 {
			a.Send(cert.Member(), Rest, make([]byte, 4000))
		}
		s := a.Stats()
		const cwnd = 64 << 10 // as it begins, at most
		assert.Less(t, s.BytesSent, uint64(directBytes+cwnd))
		assert.LessOrEqual(t, s.Queued, int64(MaxQueueBytes))
		require.ErrorIs(t, a.wait(kind("disconnected"), 1).err, ErrUnresponsive)
	})
}

// TestQueues_AllPeers_Bounded fills queues of many members that nobody can
// reach yet.
func TestQueues_AllPeers_Bounded(t *testing.T) {
	inBubble(t, 1, time.Second, func(t *testing.T, b *bubble) {
		a := b.node("a", nil)
		body := make([]byte, wire.MaxFrame)
		for i := range MaxDials {
			var m ident.Member
			binary.BigEndian.PutUint32(m[:], uint32(i))
			b.book.set(m, "10.1.1.1:1")
			for range MaxQueueBytes / wire.MaxFrame { // with its header, one too many
				a.Send(m, Custody, body)
				a.Send(m, Rest, body)
			}
		}
		s := a.Stats()
		assert.LessOrEqual(t, s.Queued, int64(MaxQueuedTotal))
		assert.Equal(t, uint64(MaxDials), s.DroppedCustody)
		assert.Equal(t, uint64(MaxDials), s.DroppedRest)
		var m ident.Member
		m[15] = 1
		b.book.set(m, "10.1.1.1:1") // so that a dial lasts, and what waits for it stays
		a.Send(m, Custody, body)
		require.ErrorIs(t, a.wait(func(e event) bool { return e.peer == m }, 1).err, ErrBusy)
		await.Until(t, "all is given up", func() bool { return a.Stats().Queued == 0 })

		time.Sleep(MaxBackOff)
		a.queued.Add(MaxQueuedTotal) // of others
		before := a.Stats().DroppedRest
		a.Send(m, Rest, body)
		synctest.Wait()
		require.Equal(t, before, a.Stats().DroppedRest, "each has a little")
		a.Send(m, Rest, body)
		require.Equal(t, before+1, a.Stats().DroppedRest, "but no backlog")
		a.queued.Add(-MaxQueuedTotal)
	})
}
