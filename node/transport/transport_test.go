package transport

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

func TestFrames_TwoMembers_BothWays(t *testing.T) {
	g, b := newGroup(t, "g"), newBook()
	a := g.open(t, b, loopback(t), "a", nil)
	z := g.open(t, b, loopback(t), "z", nil)
	a.Send(z.Self(), Custody, []byte("there"))
	z.wait(frame("there"), 1)
	z.Send(a.Self(), Custody, []byte("back"))
	a.wait(frame("back"), 1)
	require.Equal(t, 1, a.count(kind("connected")))
	require.Equal(t, 1, z.count(kind("connected")))
	require.NoError(t, a.Close())
	require.ErrorIs(t, z.wait(kind("disconnected"), 1).err, ErrShuttingDown)
	require.ErrorIs(t, a.wait(kind("disconnected"), 1).err, ErrShuttingDown)
}

func TestFrames_AllSizes_Arrive(t *testing.T) {
	g, b := newGroup(t, "g"), newBook()
	a := g.open(t, b, loopback(t), "a", nil)
	z := g.open(t, b, loopback(t), "z", nil)
	rng := rand.New(rand.NewPCG(1, 1))
	body := func(seed int) []byte {
		size := []int{1, 10, 300, readBuffer - wire.FrameHeader, readBuffer, 5000, wire.MaxFrame}[seed%7]
		return bytes.Repeat([]byte{byte(seed)}, size)
	}
	var next atomic.Int64
	z.onFrame = func(_ ident.Member, got []byte) {
		if want := body(int(next.Add(1) - 1)); !bytes.Equal(want, got) {
			t.Errorf("frame %d: %d bytes, want %d", next.Load()-1, len(got), len(want))
		}
	}
	const frames = 700
	for i := range frames {
		await.Until(t, "there is room", func() bool { return a.Stats().Queued < MaxQueueBytes/4 })
		if rng.IntN(2) == 0 {
			a.Queue(z.Self(), Custody, body(i))
		} else {
			a.Send(z.Self(), Custody, body(i))
		}
	}
	a.Flush()
	await.Until(t, "all have come", func() bool { return next.Load() == frames })
	await.Until(t, "all are counted", func() bool {
		return a.Stats().FramesSent == frames && z.Stats().FramesReceived == frames
	})
	for _, bad := range [][]byte{nil, make([]byte, wire.MaxFrame+1)} {
		a.Send(z.Self(), Custody, bad)
	}
	assert.Equal(t, uint64(2), a.Stats().Refused[errOversized.Error()])
}

// TestQueue_SentWhenConnected_First: HELLO opens each connection, whatever
// waited for it.
func TestQueue_SentWhenConnected_First(t *testing.T) {
	inBubble(t, 1, 20*time.Millisecond, func(t *testing.T, b *bubble) {
		var early func(ident.Member)
		a := b.node("a", func(c *Config) {
			c.Revocation = func(m ident.Member) ([]byte, bool) { early(m); return nil, false }
		})
		z := b.node("z", nil)
		early = func(m ident.Member) { a.Send(m, Custody, []byte("3")) } // there is a connection, but the handler does not know yet
		for _, n := range []*node{a, z} {
			n.onUp = func(m ident.Member) { n.Send(m, Custody, []byte("HELLO")) }
		}
		for i := range 3 {
			a.Send(z.Self(), Custody, fmt.Append(nil, i))
			a.Send(z.Self(), Rest, fmt.Append(nil, i))
		}
		z.wait(kind("frame"), 8)
		require.Equal(t, "HELLO", z.wait(kind("frame"), 1).body)
		require.Equal(t, "HELLO", a.wait(kind("frame"), 1).body)
		order := ""
		for i := 2; i <= 8; i++ {
			order += z.wait(kind("frame"), i).body
		}
		require.Equal(t, "0123012", order)
	})
}

// TestQueue_Custody_First: a backlog of the rest does not hold custody up.
func TestQueue_Custody_First(t *testing.T) {
	inBubble(t, 1, 20*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z := b.node("a", nil), b.node("z", nil)
		a.Send(z.Self(), Custody, []byte("warm"))
		z.wait(frame("warm"), 1)
		page := strings.Repeat("p", 4000)
		for range 100 {
			a.Send(z.Self(), Rest, []byte(page))
		}
		a.Send(z.Self(), Custody, []byte("OFFER"))
		z.wait(frame("OFFER"), 1)
		before := z.count(frame(page))
		z.wait(frame(page), 100)
		assert.Less(t, before, 60, "of 100 pages that were sent earlier")
	})
}

// TestQueue_BeforeFlush_Waits counts datagrams: nothing leaves before Flush, and
// what leaves then shares packets.
func TestQueue_BeforeFlush_Waits(t *testing.T) {
	inBubble(t, 1, 20*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z := b.node("a", nil), b.node("z", nil)
		z.onFrame = func(m ident.Member, body []byte) { z.Queue(m, Custody, body) }
		z.onBatch = z.Flush
		a.Send(z.Self(), Custody, []byte("warm"))
		a.wait(frame("warm"), 1)
		time.Sleep(time.Second)
		before := b.net.Sent()
		for i := range 10 {
			a.Queue(z.Self(), Custody, fmt.Appendf(nil, "%d", i))
		}
		time.Sleep(time.Second)
		assert.Zero(t, b.net.Sent()-before)
		a.Flush()
		a.wait(kind("frame"), 11)
		assert.LessOrEqual(t, b.net.Sent()-before, 4)

		a.Queue(z.Self(), Custody, []byte("taken along"))
		a.Send(z.Self(), Rest, []byte("by another"))
		a.wait(frame("taken along"), 1)
		a.Flush()
	})
}

// TestReader_Slow_OthersNotDelayed: a handler that never returns costs its own
// peer's frames, and nobody else's.
func TestReader_Slow_OthersNotDelayed(t *testing.T) {
	g, b := newGroup(t, "g"), newBook()
	a := g.open(t, b, loopback(t), "a", nil)
	slow := g.open(t, b, loopback(t), "slow", nil)
	quick := g.open(t, b, loopback(t), "quick", nil)
	block := make(chan struct{})
	slow.onFrame = func(ident.Member, []byte) { <-block }
	const frames = 5000
	for range frames {
		a.Send(slow.Self(), Rest, make([]byte, 1000))
	}
	a.Send(slow.Self(), Custody, []byte("custody has a queue of its own"))
	a.Send(quick.Self(), Custody, []byte("hello"))
	quick.wait(frame("hello"), 1)
	slow.Send(quick.Self(), Custody, []byte("even the slow one can talk"))
	quick.wait(frame("even the slow one can talk"), 1)
	s := a.Stats()
	assert.Greater(t, s.DroppedRest, uint64(frames/2))
	assert.Zero(t, s.DroppedCustody)
	assert.Equal(t, 1, a.log.lines(errOverflow.Error()))
	close(block)
	await.Until(t, "what was kept arrives", func() bool {
		return slow.Stats().FramesReceived == frames-s.DroppedRest+1
	})
}

func TestClose_QueueWaits_Sent(t *testing.T) {
	inBubble(t, 1, 20*time.Millisecond, func(t *testing.T, b *bubble) {
		b.net.Loss = 0.1
		a, z := b.node("a", nil), b.node("z", nil)
		a.Send(z.Self(), Custody, []byte("warm"))
		z.wait(frame("warm"), 1)
		for range 50 {
			a.Send(z.Self(), Rest, make([]byte, 1000))
		}
		a.Send(z.Self(), Custody, []byte("RECEIPT"))
		took := since(func() { require.NoError(t, a.Close()) })
		assert.Less(t, took, Linger)
		require.Equal(t, 52, z.count(kind("frame")))
		z.wait(kind("disconnected"), 1) // the code may be lost; the end of the stream is not
		a.Send(z.Self(), Custody, []byte("after Close nothing happens"))
		a.Expel(z.Self(), []byte("x"))
		a.disconnect(z.Self(), CodeNormal)
		_, err := a.DialAddress(t.Context(), z.Addr().String())
		require.Error(t, err)
		require.NoError(t, a.Close(), "again")
	})
}

func TestClose_AmidTraffic_Ends(t *testing.T) {
	runtime.GC()
	before := runtime.NumGoroutine()
	for range 5 {
		g, b := newGroup(t, "g"), newBook()
		nodes := make([]*node, 6)
		for i := range nodes {
			nodes[i] = g.open(t, b, loopback(t), fmt.Sprint("n", i), func(c *Config) { c.DialOnly = i == 0 })
		}
		_, nobody := g.member(t, "nobody", nil)
		b.set(nobody.Member(), "127.0.0.1:9")
		for _, n := range nodes { // all of them, before the first one dials
			n.onFrame = func(m ident.Member, body []byte) { n.Send(m, Rest, body) }
		}
		var wg sync.WaitGroup
		for i, n := range nodes {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(1, uint64(i)))
				for range 200 {
					to := nodes[rng.IntN(len(nodes))]
					switch rng.IntN(20) {
					case 0:
						n.disconnect(to.Self(), CodeNormal)
					case 1:
						n.Expel(to.Self(), []byte("out"))
					case 2:
						n.Send(nobody.Member(), Custody, []byte("?"))
					default:
						n.Send(to.Self(), Class(rng.IntN(classes)), make([]byte, 1+rng.IntN(3000)))
					}
				}
				n.Close()
			})
		}
		wg.Wait()
	}
	await.Until(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
}

// TestEvents_OnePeer_Serial opens and closes connections as fast as it can,
// and checks the order of what the handler is told.
func TestEvents_OnePeer_Serial(t *testing.T) {
	g, b := newGroup(t, "g"), newBook()
	generous := func(c *Config) { c.limits = limits{handshakes: 1e6, burst: 1e6} }
	a := g.open(t, b, loopback(t), "a", generous)
	z := g.open(t, b, loopback(t), "z", generous)
	for i := range 100 {
		a.Send(z.Self(), Custody, []byte("a"))
		z.Send(a.Self(), Custody, []byte("z"))
		if i%3 == 0 {
			time.Sleep(time.Duration(i%7) * time.Millisecond) // any point of a handshake
		}
		[]*node{a, z}[i%2].disconnect([]*node{z, a}[i%2].Self(), CodeNormal)
	}
	a.Close()
	z.Close()
	for _, n := range []*node{a, z} {
		up := false
		for i, e := range n.all() {
			switch e.kind {
			case "connected":
				require.False(t, up, "event %d", i)
				up = true
			case "disconnected":
				require.True(t, up, "event %d", i)
				up = false
			case "frame":
				require.True(t, up, "event %d", i)
			}
		}
		require.False(t, up)
	}
}
