package transport

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wandertoken/wander/protocol/ident"
)

// inBubble runs a test in virtual time on a virtual network. That the bubble
// ends shows that no goroutine is left when all members are closed.
func inBubble(t *testing.T, seed uint64, delay time.Duration, f func(*testing.T, *bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t, &bubble{testGroup: newGroup(t, "g"), book: newBook(), t: t, net: newVnet(seed, delay)})
	})
}

// since runs f and says how long it took.
func since(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func TestFirstAnswerTakesTwoRoundTrips(t *testing.T) {
	inBubble(t, 1, 50*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z := b.node("a", nil), b.node("z", nil)
		z.onFrame = func(m ident.Member, body []byte) { z.Send(m, Custody, body) }
		cold := since(func() {
			a.Send(z.Self(), Custody, []byte("first"))
			a.wait(frame("first"), 1)
		})
		warm := since(func() {
			a.Send(z.Self(), Custody, []byte("second"))
			a.wait(frame("second"), 1)
		})
		assert.Less(t, cold, 210*time.Millisecond)
		assert.Less(t, warm, 110*time.Millisecond)
	})
}

func TestIdleConnectionIsClosedAndDialledAgain(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z := b.node("a", nil), b.node("z", nil)
		a.Send(z.Self(), Custody, []byte("1"))
		z.wait(frame("1"), 1)
		lived := since(func() { a.wait(kind("disconnected"), 1) })
		assert.InDelta(t, DefaultIdleTimeout.Seconds(), lived.Seconds(), 2)
		require.ErrorIs(t, a.wait(kind("disconnected"), 1).err, ErrIdle)
		require.ErrorIs(t, z.wait(kind("disconnected"), 1).err, ErrIdle)
		assert.Equal(t, uint64(1), a.Stats().IdleClosed)
		assert.Zero(t, z.Stats().IdleClosed, "the dialler closes")

		z.Send(a.Self(), Custody, []byte("2"))
		a.wait(frame("2"), 1)
		assert.Equal(t, 2, a.count(kind("connected")))
	})
}

func TestFramesKeepAConnectionOpen(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z := b.node("a", nil), b.node("z", nil)
		for range 20 {
			a.Send(z.Self(), Rest, []byte("still here"))
			time.Sleep(DefaultIdleTimeout / 2)
		}
		assert.Equal(t, 1, z.count(kind("connected")))
		assert.Equal(t, 20, z.count(kind("frame")))
	})
}

func TestMemberThatOnlyDialsOutKeepsItsConnections(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		out := b.node("out", func(c *Config) { c.DialOnly = true })
		z := b.node("z", nil)
		b.book.set(out.Self(), "") // nobody can dial it
		out.Send(z.Self(), Custody, []byte("here I am"))
		z.wait(frame("here I am"), 1)
		time.Sleep(10 * time.Minute)
		z.Send(out.Self(), Custody, []byte("good to know"))
		out.wait(frame("good to know"), 1)
		assert.Equal(t, 1, z.count(kind("connected")))
		assert.Zero(t, z.count(kind("disconnected")))
	})
}

func TestDeadPeerIsNoticed(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		for i, dialler := range []bool{true, false} {
			a := b.node(fmt.Sprint("a", i), nil)
			s := b.net.socket()
			z := b.open(b.t, b.book, s, fmt.Sprint("z", i), nil)
			if dialler {
				a.Send(z.Self(), Custody, []byte("x"))
				z.wait(frame("x"), 1)
			} else {
				z.Send(a.Self(), Custody, []byte("x"))
				a.wait(frame("x"), 1)
			}
			time.Sleep(time.Second)
			s.cut()
			took := since(func() { a.wait(kind("disconnected"), 1) })
			require.ErrorIs(t, a.wait(kind("disconnected"), 1).err, ErrSilent)
			assert.LessOrEqual(t, took, MaxSilence*4/3+time.Second, "dialler: %v", dialler)
			s.Close()
		}
	})
}

// TestRestartOnTheSameAddress kills a member and starts it again at its old
// address, and looks at how long the others cannot talk to it: MaxSilence and
// more if they believed in the old connection.
func TestRestartOnTheSameAddress(t *testing.T) {
	const delay = 20 * time.Millisecond
	restart := func(b *bubble, dialled bool) (a, z *node, old *node) {
		a = b.node("a", nil)
		s := b.net.socket()
		old = b.open(b.t, b.book, s, "z", nil)
		if dialled {
			a.Send(old.Self(), Custody, []byte("hello"))
			old.wait(frame("hello"), 1)
		} else {
			old.Send(a.Self(), Custody, []byte("hello"))
			a.wait(frame("hello"), 1)
		}
		time.Sleep(time.Second)
		return a, b.open(b.t, b.book, b.net.rebind(s), "z", nil), old
	}
	for _, dialled := range []bool{true, false} {
		t.Run(fmt.Sprintf("the other speaks, dialled=%v", dialled), func(t *testing.T) {
			inBubble(t, 1, delay, func(t *testing.T, b *bubble) {
				a, z, _ := restart(b, dialled)
				took := since(func() {
					a.Send(z.Self(), Custody, []byte("a frame of more than 42 bytes, as all of ours are"))
					a.wait(kind("disconnected"), 1)
				})
				require.ErrorIs(t, a.wait(kind("disconnected"), 1).err, ErrRestarted)
				assert.Less(t, took, 3*delay)
				a.Send(z.Self(), Custody, []byte("again"))
				z.wait(frame("again"), 1)
			})
		})
		t.Run(fmt.Sprintf("the restarted speaks, dialled=%v", dialled), func(t *testing.T) {
			inBubble(t, 1, delay, func(t *testing.T, b *bubble) {
				a, z, _ := restart(b, dialled)
				took := since(func() {
					z.Send(a.Self(), Custody, []byte("I am back"))
					a.wait(frame("I am back"), 1)
				})
				assert.Less(t, took, 5*delay)
				require.ErrorIs(t, a.wait(kind("disconnected"), 1).err, ErrReplaced)
				assert.Equal(t, 2, a.count(kind("connected")))
				assert.Equal(t, uint64(1), a.Stats().Replaced)
				a.Send(z.Self(), Custody, []byte("welcome"))
				z.wait(frame("welcome"), 1)
			})
		})
	}
}

// using reports whether n has a connection with m, and whether n dialled it.
func (n *node) using(m ident.Member) (dialled, connected bool) {
	n.Transport.mu.Lock()
	p := n.peers[m]
	n.Transport.mu.Unlock()
	if p == nil {
		return false, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current != nil && p.current.dialled, p.current != nil
}

func TestSimultaneousDialsLeaveOneConnection(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			inBubble(t, seed, 20*time.Millisecond, func(t *testing.T, b *bubble) {
				if seed%2 == 1 {
					b.net.jitter = 30 * time.Millisecond
				}
				if seed%4 > 1 {
					b.net.loss = 0.15
				}
				a, z := b.node("a", nil), b.node("z", nil)
				a.Send(z.Self(), Custody, []byte("from a"))
				time.Sleep(time.Duration(seed/4) * 8 * time.Millisecond)
				z.Send(a.Self(), Custody, []byte("from z"))
				time.Sleep(5 * time.Second)
				synctest.Wait()

				aDialled, aUp := a.using(z.Self())
				zDialled, zUp := z.using(a.Self())
				require.True(t, aUp && zUp)
				assert.NotEqual(t, aDialled, zDialled, "both use the same connection")
				if seed == 0 { // truly at once
					for _, n := range []*node{a, z} {
						for i := range n.count(kind("disconnected")) {
							assert.ErrorIs(t, n.wait(kind("disconnected"), i+1).err, ErrReplaced)
						}
					}
					assert.Equal(t, a.Self().Compare(z.Self()) < 0, aDialled, "the smaller id's dial stays")
				}
				a.Send(z.Self(), Custody, []byte("after"))
				z.Send(a.Self(), Custody, []byte("after"))
				a.wait(frame("after"), 1)
				z.wait(frame("after"), 1)
				for _, n := range []*node{a, z} {
					assert.Equal(t, 1, n.Stats().Connections)
					assert.Equal(t, n.count(kind("connected")), n.count(kind("disconnected"))+1)
				}
			})
		})
	}
}

func TestLossAndReordering(t *testing.T) {
	inBubble(t, 7, 20*time.Millisecond, func(t *testing.T, b *bubble) {
		b.net.loss, b.net.jitter = 0.2, 40*time.Millisecond
		a, z := b.node("a", nil), b.node("z", nil)
		const n = 2000
		for i := range n {
			a.Send(z.Self(), Class(i%2), fmt.Appendf(nil, "%06d %s", i, make([]byte, i%300)))
			time.Sleep(5 * time.Millisecond)
		}
		until(t, "everything arrives", func() bool { return z.count(kind("frame")) == n })
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

func TestPeerThatDoesNotReadIsGivenUp(t *testing.T) {
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

func TestFastPeerIsReadSlowly(t *testing.T) {
	inBubble(t, 1, time.Millisecond, func(t *testing.T, b *bubble) {
		const rate = 1000
		a := b.node("a", nil)
		z := b.node("z", func(c *Config) { c.limits.frames = rate })
		// A buffer full of frames, fewer than 8000, is handed over before anybody waits.
		const n = FrameBurst + 8000 + 5*rate
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
			until(t, "all is read", func() bool { return z.Stats().FramesReceived == n })
		})
		assert.Greater(t, took, 4*time.Second)
		assert.Positive(t, z.Stats().Throttled)
		assert.Zero(t, a.Stats().DroppedCustody)
	})
}

// TestQuietReaderGivesItsBufferBack: after much at once, and then silence, the
// reader goes on with a small buffer.
func TestQuietReaderGivesItsBufferBack(t *testing.T) {
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

func TestUnreachableAndBackOff(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a := b.node("a", nil)
		s := b.net.socket()
		z := b.open(b.t, b.book, s, "z", nil)
		s.cut()
		took := since(func() {
			a.Send(z.Self(), Custody, []byte("hello?"))
			a.wait(kind("unreachable"), 1)
		})
		require.ErrorIs(t, a.wait(kind("unreachable"), 1).err, ErrSilent)
		assert.LessOrEqual(t, took, HandshakeTimeout)
		assert.Equal(t, uint64(1), a.Stats().DroppedCustody)

		a.Send(z.Self(), Custody, []byte("hello?"))
		require.ErrorIs(t, a.wait(kind("unreachable"), 2).err, ErrBackOff)

		pauses := []time.Duration{}
		for range 12 {
			pauses = append(pauses, since(func() {
				before := a.Stats().DialFailures
				for a.Stats().DialFailures == before {
					a.Send(z.Self(), Custody, []byte("hello?"))
					time.Sleep(time.Millisecond)
				}
			})-HandshakeTimeout)
		}
		assert.InDelta(t, MinBackOff.Seconds(), pauses[0].Seconds(), 0.01)
		assert.InDelta(t, 2*MinBackOff.Seconds(), pauses[1].Seconds(), 0.01)
		assert.InDelta(t, MaxBackOff.Seconds(), pauses[11].Seconds(), 0.01)
		s.Close()
	})
}

// TestEndingADialIsNoFailure closes a connection before the peer has answered.
func TestEndingADialIsNoFailure(t *testing.T) {
	inBubble(t, 1, 20*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z := b.node("a", nil), b.node("z", nil)
		a.Send(z.Self(), Custody, []byte("x"))
		a.wait(kind("connected"), 1)
		a.Disconnect(z.Self(), CodeNormal)
		a.wait(kind("disconnected"), 1)
		took := since(func() {
			a.Send(z.Self(), Custody, []byte("now"))
			z.wait(frame("now"), 1)
		})
		assert.Less(t, took, MinBackOff)
		assert.Zero(t, a.count(kind("unreachable")))
	})
}

// TestContactEndsTheBackOff: who has been in contact is dialled at once, even
// if it could not be reached for long before.
func TestContactEndsTheBackOff(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a := b.node("a", nil)
		s := b.net.socket()
		z := b.open(b.t, b.book, s, "z", nil)
		b.book.set(z.Self(), "10.9.9.9:1") // where nobody is
		for range 6 {
			a.Send(z.Self(), Custody, []byte("hello?"))
			time.Sleep(HandshakeTimeout + MaxBackOff)
		}
		a.Send(z.Self(), Custody, []byte("hello?"))
		time.Sleep(HandshakeTimeout + time.Millisecond) // and so the longest pause has begun
		b.book.set(z.Self(), s.LocalAddr().String())
		z.Send(a.Self(), Custody, []byte("here I am"))
		a.wait(frame("here I am"), 1)
		z.Disconnect(a.Self(), CodeNormal)
		a.wait(kind("disconnected"), 1)
		took := since(func() {
			a.Send(z.Self(), Custody, []byte("ah"))
			z.wait(frame("ah"), 1)
		})
		assert.Less(t, took, 100*time.Millisecond)
	})
}

// TestSweepForgetsWhatIsOver, and not what is under way: a dial for which
// nothing waits any more.
func TestSweepForgetsWhatIsOver(t *testing.T) {
	inBubble(t, 1, 500*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z := b.node("a", nil), b.node("z", nil)
		a.Send(z.Self(), Custody, []byte("on second thoughts, no"))
		a.Disconnect(z.Self(), CodeNormal)
		a.wait(kind("connected"), 1)
		_, connected := a.using(z.Self())
		assert.True(t, connected)

		p := a.lock(z.Self())
		p.mu.Unlock()
		a.Send(z.Self(), Custody, []byte("hello"))
		z.wait(frame("hello"), 1)
		time.Sleep(3 * sweepInterval)
		p.mu.Lock()
		assert.Zero(t, cap(p.queue.lanes[Custody].buf), "an idle peer holds no buffer")
		p.mu.Unlock()

		a.Disconnect(z.Self(), CodeNormal)
		time.Sleep(3 * sweepInterval)
		assert.Zero(t, a.Stats().Peers)
	})
}

func TestUnansweredPreambleIsGivenUp(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		b.net.delay = 10 * time.Millisecond
		a := b.node("a", nil)
		m := b.mute("mute")
		a.Send(m, Custody, []byte("hello?"))
		e := a.wait(kind("unreachable"), 1)
		require.ErrorIs(t, e.err, ErrProtocol)
		assert.Equal(t, 1, a.count(kind("connected")))
		assert.Equal(t, 1, a.count(kind("disconnected")))
	})
}

func TestLapsedCertificateEndsAConnection(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		started := time.Now()
		clock := func(c *Config) {
			c.IdleTimeout = time.Hour
			c.Now = func() time.Time { return b.now.Add(time.Since(started)) }
		}
		a := b.node("a", clock)
		z := b.node("z", func(c *Config) {
			clock(c)
			c.Key, c.Certificate = b.shortLived(t, "z", time.Minute)
		})
		a.Send(z.Self(), Custody, []byte("x"))
		z.wait(frame("x"), 1)
		lived := since(func() { a.wait(kind("disconnected"), 1) })
		assert.InDelta(t, 60, lived.Seconds(), 2)
		require.ErrorIs(t, z.wait(kind("disconnected"), 1).err, ErrProtocol)
		assert.Equal(t, uint64(1), a.Stats().Lapsed)
		time.Sleep(MinBackOff)
		a.Send(z.Self(), Custody, []byte("x"))
		require.ErrorIs(t, a.wait(kind("unreachable"), 1).err, ErrExpired)

		_, renewed := b.shortLived(t, "z", time.Hour)
		require.NoError(t, z.SetCertificate(renewed, nil))
		time.Sleep(MaxBackOff)
		a.Send(z.Self(), Custody, []byte("renewed"))
		z.wait(frame("renewed"), 1)
	})
}
