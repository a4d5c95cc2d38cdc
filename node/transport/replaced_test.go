package transport

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// TestRestart_SameAddress_Reconnected kills a member and starts it again at its old
// address, and looks at how long the others cannot talk to it: the silence and
// more if they believed in the old connection.
func TestRestart_SameAddress_Reconnected(t *testing.T) {
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
				var closed *CloseError
				require.ErrorAs(t, a.wait(kind("disconnected"), 1).err, &closed)
				require.ErrorIs(t, closed, ErrReplaced)
				assert.False(t, closed.Alive)
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
	return p.current != nil && p.current.Dialled, p.current != nil
}

func TestDial_Simultaneous_OneConnection(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			inBubble(t, seed, 20*time.Millisecond, func(t *testing.T, b *bubble) {
				if seed%2 == 1 {
					b.net.Jitter = 30 * time.Millisecond
				}
				if seed%4 > 1 {
					b.net.Loss = 0.15
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

// TestDial_Second_ClosedWithoutPreamble has a member finish a dial while it uses a
// connection with the same peer.
func TestDial_Second_ClosedWithoutPreamble(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a := b.node("a", nil)
		key, cert := b.member(t, "z", nil)
		socket := b.net.socket()
		r := newRaw(t, socket, *must(tlsCertificate(key, cert, nil)))
		l := must(r.quic.Listen(r.tls, &quic.Config{}))
		defer l.Close()
		for range 2 {
			id, err := a.DialAddress(t.Context(), socket.LocalAddr().String())
			require.NoError(t, err)
			require.Equal(t, cert.Member(), id)
		}
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first := must(l.Accept(soon))
		_, err := wire.ReadFrame(must(first.AcceptStream(soon)), nil)
		require.NoError(t, err)
		if second, err := l.Accept(soon); err == nil { // else it was closed within its handshake
			require.Equal(t, CodeReplaced, closedWith(t, second))
			_, err = second.AcceptStream(soon)
			require.Error(t, err)
		}
		assert.Equal(t, uint64(1), a.Stats().Surplus)
		require.NoError(t, first.Context().Err())
	})
}

// TestHeldConnection_OtherOneEnds_ClosedToo ends the connection in use in ways other
// than a word of the peer's that it is replaced, while another one is held.
func TestHeldConnection_OtherOneEnds_ClosedToo(t *testing.T) {
	for how, end := range map[string]func(a *node, q *quic.Conn, s *quic.Stream){
		"closed by the peer":  func(_ *node, q *quic.Conn, _ *quic.Stream) { _ = q.CloseWithError(0, "") },
		"its half of the end": func(_ *node, _ *quic.Conn, s *quic.Stream) { _ = s.Close() },
		"tried out, silent":   func(a *node, _ *quic.Conn, _ *quic.Stream) { a.Recheck() },
	} {
		t.Run(how, func(t *testing.T) {
			inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
				a := b.node("a", nil)
				key, cert := b.member(t, b.nameFor(a, true), nil)
				socket := b.net.socket()
				b.book.set(cert.Member(), socket.LocalAddr().String())
				r := newRaw(t, socket, *must(tlsCertificate(key, cert, nil)))
				l := must(r.quic.Listen(r.tls, &quic.Config{}))
				defer l.Close()
				a.Send(cert.Member(), Custody, []byte("hello"))
				held := must(l.Accept(t.Context()))
				q, s := r.member(a)
				time.Sleep(time.Second)
				require.NoError(t, held.Context().Err())
				end(a, q, s)
				took := since(func() { assert.Equal(t, CodeNormal, closedWith(t, held)) })
				assert.Less(t, took, time.Second)
			})
		})
	}
}

// TestReplaced_BothDialAtOnce_Alive: two members dial each other at one time. Who is told
// that a connection was replaced is told, too, that the peer has not restarted; and when it
// has, the other way round (TestRestart_SameAddress_Reconnected).
func TestReplaced_BothDialAtOnce_Alive(t *testing.T) {
	for seed := range uint64(20) {
		inBubble(t, seed, 10*time.Millisecond, func(t *testing.T, b *bubble) {
			b.net.Jitter = 10 * time.Millisecond
			a, z := b.node("a", nil), b.node("z", nil)
			a.Send(z.Self(), Custody, []byte("to z"))
			time.Sleep(time.Duration(seed) * 3 * time.Millisecond)
			z.Send(a.Self(), Custody, []byte("to a"))
			time.Sleep(time.Minute / 4)
			for _, e := range append(a.all(), z.all()...) {
				if e.kind == "disconnected" && errors.Is(e.err, ErrReplaced) {
					var closed *CloseError
					require.ErrorAs(t, e.err, &closed)
					assert.True(t, closed.Alive)
				}
			}
		})
	}
}
