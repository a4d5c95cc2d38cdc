package transport

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wandertoken/wander/protocol/ident"
)

func TestDial_FirstAnswer_TwoRoundTrips(t *testing.T) {
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

func TestConnection_Idle_ClosedAndDialledAgain(t *testing.T) {
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

func TestConnection_Frames_KeptOpen(t *testing.T) {
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

func TestConnection_OnlyDialsOut_Kept(t *testing.T) {
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

// TestPeer_Dead_Noticed: a second after the silence where something is sent each second,
// as a member does that watches; else by the dialler's keep-alive.
func TestPeer_Dead_Noticed(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		for i, c := range []struct {
			dialler, watches bool
			within           time.Duration
		}{
			{true, true, DefaultSilence + time.Second},
			{false, true, DefaultSilence + time.Second},
			{true, false, KeepAlive + DefaultSilence + MaxRest},
		} {
			dialler := c.dialler
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
			cut(s)
			if c.watches {
				time.Sleep(time.Second)
				defer speak(a, z, "there?")()
			}
			took := since(func() { a.wait(kind("disconnected"), 1) })
			if c.watches {
				took += time.Second
			}
			require.ErrorIs(t, a.wait(kind("disconnected"), 1).err, ErrUnresponsive)
			assert.LessOrEqual(t, took, c.within+500*time.Millisecond, "dialler: %v, watches: %v", dialler, c.watches)
			s.Close()
		}
	})
}

func TestPreamble_Unanswered_GivenUp(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		b.net.Delay = 10 * time.Millisecond
		a := b.node("a", nil)
		m := b.mute("mute")
		a.Send(m, Custody, []byte("hello?"))
		e := a.wait(kind("unreachable"), 1)
		require.ErrorIs(t, e.err, ErrProtocol)
		assert.Equal(t, 1, a.count(kind("connected")))
		assert.Equal(t, 1, a.count(kind("disconnected")))
	})
}

func TestCertificate_Lapsed_ConnectionEnds(t *testing.T) {
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

// TestSilence_AcknowledgedAtAnyTimeOfALook_NeverLost: of two members only one speaks, and
// the other one's acknowledgements, which nobody answers, fall before and behind its looks.
func TestSilence_AcknowledgedAtAnyTimeOfALook_NeverLost(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		const step = 10 * time.Millisecond // the acknowledgement comes 25 ms after the frame
		a, z := b.node("a", nil), b.node("z", nil)
		for range MaxRest / step {
			a.Send(z.Self(), Rest, []byte("there"))
			time.Sleep(5*MaxRest + step)
		}
		assert.Equal(t, 1, a.count(kind("connected")))
		assert.Equal(t, 1, z.count(kind("connected")))
	})
}
