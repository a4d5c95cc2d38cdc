package transport

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDial_Unreachable_BacksOff(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a := b.node("a", nil)
		s := b.net.socket()
		z := b.open(b.t, b.book, s, "z", nil)
		cut(s)
		took := since(func() {
			a.Send(z.Self(), Custody, []byte("hello?"))
			a.wait(kind("unreachable"), 1)
		})
		require.ErrorIs(t, a.wait(kind("unreachable"), 1).err, ErrUnresponsive)
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

// TestDial_Ended_NoFailure closes a connection before the peer has answered.
func TestDial_Ended_NoFailure(t *testing.T) {
	inBubble(t, 1, 20*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z := b.node("a", nil), b.node("z", nil)
		a.Send(z.Self(), Custody, []byte("x"))
		a.wait(kind("connected"), 1)
		a.disconnect(z.Self(), CodeNormal)
		a.wait(kind("disconnected"), 1)
		took := since(func() {
			a.Send(z.Self(), Custody, []byte("now"))
			z.wait(frame("now"), 1)
		})
		assert.Less(t, took, MinBackOff)
		assert.Zero(t, a.count(kind("unreachable")))
	})
}

// TestBackOff_Contact_Ends: who has been in contact is dialled at once, even
// if it could not be reached for long before.
func TestBackOff_Contact_Ends(t *testing.T) {
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
		z.disconnect(a.Self(), CodeNormal)
		a.wait(kind("disconnected"), 1)
		took := since(func() {
			a.Send(z.Self(), Custody, []byte("ah"))
			z.wait(frame("ah"), 1)
		})
		assert.Less(t, took, 100*time.Millisecond)
	})
}

// TestSweep_PeerOver_Forgotten, and not what is in progress: a dial for which
// nothing waits any more.
func TestSweep_PeerOver_Forgotten(t *testing.T) {
	inBubble(t, 1, 500*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z := b.node("a", nil), b.node("z", nil)
		a.Send(z.Self(), Custody, []byte("on second thoughts, no"))
		a.disconnect(z.Self(), CodeNormal)
		a.wait(kind("connected"), 1)
		_, connected := a.using(z.Self())
		assert.True(t, connected)

		p := a.lock(z.Self())
		p.mu.Unlock()
		a.Send(z.Self(), Custody, []byte("hello"))
		z.wait(frame("hello"), 1)
		time.Sleep(3 * sweepInterval)
		p.mu.Lock()
		assert.Zero(t, cap(p.out.queue.lanes[Custody].buf), "an idle peer holds no buffer")
		p.mu.Unlock()

		a.disconnect(z.Self(), CodeNormal)
		time.Sleep(3 * sweepInterval)
		assert.Zero(t, a.Stats().Peers)
	})
}

// TestUnreachable_ConnectedMeanwhile_NotTold: a dial has failed, but before the handler is
// told so the peer has connected. The handler would take the connection for gone, and
// turn down all that comes on it.
func TestUnreachable_ConnectedMeanwhile_NotTold(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a, z := b.node("a", nil), b.node("z", nil)
		z.Send(a.Self(), Custody, []byte("first"))
		a.wait(frame("first"), 1)
		p := a.lock(z.Self())
		p.mu.Unlock()
		p.unreachable(ErrUnresponsive) // of the dial before
		assert.Zero(t, a.count(kind("unreachable")))

		z.Close()
		a.wait(kind("disconnected"), 1)
		p.unreachable(ErrUnresponsive)
		a.wait(kind("unreachable"), 1)
	})
}

// A transport that closes while frames wait for a peer that it dials does not dial it again and again, for as long as it waits for another peer.
func TestClose_FramesWaitForADial_NotDialledAgain(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a := b.node("a", nil)
		silent, absent := b.net.socket(), b.net.socket()
		y, z := b.open(b.t, b.book, absent, "y", nil), b.open(b.t, b.book, silent, "z", nil)
		a.Send(z.Self(), Custody, []byte("hello"))
		z.wait(frame("hello"), 1)
		cut(silent)
		cut(absent)
		a.Send(z.Self(), Custody, []byte("nobody acknowledges this"))
		a.Send(y.Self(), Custody, []byte("nobody answers this"))
		sent := b.net.Sent()
		took := since(func() { require.NoError(t, a.Close()) })
		assert.LessOrEqual(t, took, 2*Linger)
		assert.Less(t, b.net.Sent()-sent, 20)
	})
}
