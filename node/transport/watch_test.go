package transport

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/memnet"
)

// watchers opens a member that watches another one and is connected with it, and z's
// socket. The knocks of the first are counted.
func (b *bubble) watchers(change func(*Config)) (a, z *node, s *memnet.Socket, knocks *atomic.Int64) {
	knocks, s = new(atomic.Int64), b.net.socket()
	a = b.node("a", func(c *Config) {
		c.knockers = b.net.knockers(knocks)
		if change != nil {
			change(c)
		}
	})
	z = b.open(b.t, b.book, s, "z", change)
	a.Send(z.Self(), Custody, []byte("x"))
	z.wait(frame("x"), 1)
	z.Send(a.Self(), Custody, []byte("y"))
	a.wait(frame("y"), 1)
	a.Watch(z.Self(), true)
	time.Sleep(time.Second)
	return a, z, s, knocks
}

// maxAbsent is after what time a watching member notices that a process has ended whose
// host refuses what comes, on a network without a delay to speak of.
const maxAbsent = knockEvery + minVerdict

func TestWatch_ProcessKilled_AbsentSoon(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z, s, _ := b.watchers(nil)
		kill(s)
		took := since(func() { require.ErrorIs(t, a.wait(kind("disconnected"), 1).err, ErrAbsent) })
		assert.LessOrEqual(t, took, maxAbsent+50*time.Millisecond, "when it has just begun to watch")
		require.ErrorIs(t, a.wait(kind("disconnected"), 1).err, ErrUnresponsive)
		assert.Zero(t, a.count(kind("unreachable")), "said once")
		a.Send(z.Self(), Custody, []byte("?"))
		took = since(func() { require.ErrorIs(t, a.wait(kind("unreachable"), 1).err, ErrAbsent) })
		assert.LessOrEqual(t, took, unknownVerdict+50*time.Millisecond, "a dial is given up as soon")
		assert.GreaterOrEqual(t, a.Stats().Hints.Confirmed, uint64(2))
		assert.Zero(t, a.Stats().Hints.Refuted)
	})
}

// TestWatch_LongWatched_KnockedAtWithWhatIsSent: after a while knocks wake nobody.
func TestWatch_LongWatched_KnockedAtWithWhatIsSent(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z, s, knocks := b.watchers(func(c *Config) { c.IdleTimeout = time.Hour })
		time.Sleep(knockUntil)
		before := knocks.Load()
		time.Sleep(time.Minute)
		assert.Equal(t, before, knocks.Load())
		a.Send(z.Self(), Rest, []byte("there?"))
		assert.Equal(t, before+1, knocks.Load())
		time.Sleep(time.Second)
		kill(s)
		took := since(func() {
			a.Send(z.Self(), Rest, []byte("there?"))
			require.ErrorIs(t, a.wait(kind("disconnected"), 1).err, ErrAbsent)
		})
		assert.LessOrEqual(t, took, minVerdict+100*time.Millisecond)
	})
}

func TestWatch_NotWatchedOrMachineGone_SilentLater(t *testing.T) {
	for _, killed := range []bool{true, false} {
		inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
			a, z, s, knocks := b.watchers(nil)
			if killed {
				a.Watch(z.Self(), false)
				kill(s)
			} else {
				cut(s)
			}
			before := knocks.Load()
			time.Sleep(time.Second)
			defer speak(a, z, "there?")()
			took := since(func() { a.wait(kind("disconnected"), 1) })
			err := a.wait(kind("disconnected"), 1).err
			require.ErrorIs(t, err, ErrUnresponsive)
			require.NotErrorIs(t, err, ErrAbsent)
			assert.InDelta(t, DefaultSilence.Seconds(), took.Seconds(), 0.5)
			assert.Equal(t, killed, knocks.Load() == before)
		})
	}
}

// TestWatch_MachineGone_NoticedInTime: at whatever time of a look and of what is sent each
// second the machine is gone.
func TestWatch_MachineGone_NoticedInTime(t *testing.T) {
	const touch, phases = time.Second, 50
	for i := range phases {
		inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
			a, z, s, _ := b.watchers(nil)
			time.AfterFunc(3*touch+time.Duration(i)*touch/phases, func() { cut(s) })
			began := time.Now().Add(3*touch + time.Duration(i)*touch/phases)
			for a.count(kind("disconnected")) == 0 {
				a.Send(z.Self(), Rest, []byte("there?"))
				time.Sleep(touch)
				require.Less(t, time.Since(began), time.Minute)
			}
			assert.LessOrEqual(t, a.wait(kind("disconnected"), 1).at.Sub(began), DefaultSilence+touch+knockEvery+100*time.Millisecond)
		})
	}
}

// TestWatch_ForgedRefusals_NothingLost: whoever forges the refusals of a member that lives
// costs it nothing, and has the watcher dial it a few times an hour.
func TestWatch_ForgedRefusals_NothingLost(t *testing.T) {
	for _, delay := range []time.Duration{10 * time.Millisecond, 250 * time.Millisecond} {
		inBubble(t, 1, delay, func(t *testing.T, b *bubble) {
			a, z, s, knocks := b.watchers(func(c *Config) { c.IdleTimeout = 2 * time.Hour })
			s.Refuse()
			before := knocks.Load()
			const rounds = 3600
			for i := range rounds {
				a.Send(z.Self(), Rest, fmt.Append(nil, i))
				time.Sleep(time.Second)
			}
			z.wait(frame(fmt.Sprint(rounds-1)), 1)
			assert.Equal(t, rounds+1, z.count(kind("frame")))
			assert.Zero(t, a.count(kind("disconnected")))
			assert.Zero(t, z.count(kind("disconnected")))
			assert.Less(t, a.Stats().Surplus, uint64(20), "dials in an hour")
			hints := a.Stats().Hints
			assert.Zero(t, hints.Confirmed)
			assert.NotZero(t, hints.Refuted)
			assert.InDelta(t, rounds, hints.Refuted+hints.Ignored, 100)
			assert.InDelta(t, time.Hour/time.Second, knocks.Load()-before, 100)
		})
	}
}

// TestWatch_StaleRefusal_Restarted: a host refuses while a member's process starts again. The
// dial that follows is answered, and the new process is found by the next frame.
func TestWatch_StaleRefusal_Restarted(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z, s, _ := b.watchers(nil)
		kill(s)
		time.Sleep(knockEvery)
		b.open(b.t, b.book, b.net.rebind(s), "z", nil)
		time.Sleep(time.Second)
		assert.Zero(t, a.count(kind("disconnected")), "it lives")
		a.Send(z.Self(), Custody, make([]byte, 100))
		require.ErrorIs(t, a.wait(kind("disconnected"), 1).err, ErrRestarted)
	})
}

// TestWatch_RestartedPeerDials_NextDeathNoticed: a new process dials before the dial that a
// refusal led to is answered. The refusal was true, so that the next one counts.
func TestWatch_RestartedPeerDials_NextDeathNoticed(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a, _, s, _ := b.watchers(nil)
		kill(s)
		time.Sleep(knockEvery)
		s = b.net.rebind(s)
		z := b.open(b.t, b.book, s, "z", nil)
		z.Send(a.Self(), Custody, []byte("back"))
		a.wait(frame("back"), 1)
		a.Send(z.Self(), Custody, []byte("hello"))
		z.wait(frame("hello"), 1)
		time.Sleep(2 * time.Second)
		assert.Zero(t, a.Stats().Hints.Refuted)
		before := a.count(kind("disconnected"))
		kill(s)
		took := since(func() { require.ErrorIs(t, a.wait(kind("disconnected"), before+1).err, ErrAbsent) })
		assert.LessOrEqual(t, took, maxAbsent+50*time.Millisecond)
	})
}

// TestWatch_DialUnderWay_AbsentSoon: the watch begins while a peer whose process has ended is
// dialled, as when a token is on its way to it.
func TestWatch_DialUnderWay_AbsentSoon(t *testing.T) {
	for _, watches := range []bool{true, false} {
		inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
			a := b.node("a", func(c *Config) { c.knockers = b.net.knockers(new(atomic.Int64)) })
			s := b.net.socket()
			z := b.open(b.t, b.book, s, "z", nil)
			kill(s)
			took := since(func() {
				a.Send(z.Self(), Custody, []byte("x"))
				time.Sleep(100 * time.Millisecond)
				a.Watch(z.Self(), watches)
				err := a.wait(kind("unreachable"), 1).err
				assert.Equal(t, watches, errors.Is(err, ErrAbsent), "%v", err)
			})
			assert.Equal(t, watches, took <= time.Second, "%v", took)
		})
	}
}

// TestWatch_DialOnlyPeer_NotKnockedAt: it answers no dial, so that a refusal would be
// believed.
func TestWatch_DialOnlyPeer_NotKnockedAt(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		var knocks, outKnocks atomic.Int64
		a := b.node("a", func(c *Config) { c.knockers = b.net.knockers(&knocks) })
		out := b.node("out", func(c *Config) { c.DialOnly, c.knockers = true, b.net.knockers(&outKnocks) })
		out.Send(a.Self(), Custody, []byte("x"))
		a.wait(frame("x"), 1)
		a.Watch(out.Self(), true)
		out.Watch(a.Self(), true)
		time.Sleep(10 * time.Second)
		assert.Zero(t, knocks.Load())
		assert.NotZero(t, outKnocks.Load())
	})
}

func TestWatch_EndedOrClosed_NoKnocks(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z, _, knocks := b.watchers(func(c *Config) { c.IdleTimeout = time.Hour })
		a.Watch(z.Self(), false)
		a.Watch(z.Self(), false)
		before := knocks.Load()
		time.Sleep(time.Minute)
		assert.Equal(t, before, knocks.Load())
		for range 100 {
			a.Watch(z.Self(), true)
			a.Watch(z.Self(), true)
			time.Sleep(firstKnock / 2)
			a.Watch(z.Self(), false)
		}
		assert.Equal(t, before, knocks.Load(), "short watches cost nothing")
		a.Watch(z.Self(), true)
		time.Sleep(time.Second)
		require.Greater(t, knocks.Load(), before)
		require.NoError(t, a.Close())
		a.Watch(z.Self(), true)
		before = knocks.Load()
		time.Sleep(time.Minute)
		assert.Equal(t, before, knocks.Load())
	})
}

// TestSilence_Changed_CountsAtOnce: the time to wait is the one that the group says now.
func TestSilence_Changed_CountsAtOnce(t *testing.T) {
	for _, silence := range []time.Duration{time.Second, 2 * time.Second, 10 * time.Second, time.Hour} {
		inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
			a, z, s, _ := b.watchers(func(c *Config) { c.Silence = 3 * time.Second })
			a.SetSilence(silence)
			time.Sleep(MaxRest)
			cut(s)
			defer speak(a, z, "there?")()
			took := since(func() { require.ErrorIs(t, a.wait(kind("disconnected"), 1).err, ErrUnresponsive) })
			assert.InDelta(t, min(silence, MaxSilence).Seconds(), took.Seconds(), 0.5)
		})
	}
}

// TestWatch_RealSocketClosed_AbsentSoon: this machine's kernel refuses what comes to the
// port of a process that has ended.
func TestWatch_RealSocketClosed_AbsentSoon(t *testing.T) {
	g, book := newGroup(t, "g"), newBook()
	a := g.open(t, book, loopback(t), "a", nil)
	socket := loopback(t)
	z := g.open(t, book, socket, "z", nil)
	probe, err := net.DialUDP("udp", nil, socket.LocalAddr().(*net.UDPAddr))
	require.NoError(t, err)
	defer probe.Close()
	a.Send(z.Self(), Custody, []byte("x"))
	z.wait(frame("x"), 1)
	z.Send(a.Self(), Custody, []byte("y"))
	a.wait(frame("y"), 1)
	a.Watch(z.Self(), true)
	time.Sleep(firstKnock)
	require.NoError(t, socket.Close()) // without a word
	if _, err := probe.Write(nil); err == nil {
		_ = probe.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := probe.Read(make([]byte, 1)); err == nil || isTimeout(err) {
			t.Skip("this system tells nobody of refusals")
		}
	}
	took := since(func() { require.ErrorIs(t, a.wait(kind("disconnected"), 1).err, ErrAbsent) })
	t.Log(took)
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}
