package transport

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// maxMove is after what time both sides of a connection hear each other again when one
// of them has another address.
const maxMove = 4 * time.Second

// unused is for how long nothing came on the connection before that.
const unused = 10*time.Second + 123*time.Millisecond

// TestAddressChange_EachSideAndState_HeardAgain gives one side of a connection another
// address: one that has dialled or was dialled, which only dials out or can be dialled
// at the new address or not, and that speaks afterwards or only hears.
func TestAddressChange_EachSideAndState_HeardAgain(t *testing.T) {
	var worst time.Duration
	for i := range 32 {
		dialler, smaller, known, speaks, hears := i&1 > 0, i&2 > 0, i&4 > 0, i&8 > 0, i&16 > 0
		t.Run(fmt.Sprintf("dialler=%v smaller=%v known=%v speaks=%v hears=%v", dialler, smaller, known, speaks, hears), func(t *testing.T) {
			inBubble(t, 1, instantDelay, func(t *testing.T, b *bubble) {
				socket := b.net.socket()
				moved := b.open(b.t, b.book, socket, "moved", nil)
				stays := b.node(b.nameFor(moved, smaller), nil)
				greetBoth(moved, stays)
				from, to := stays, moved
				if dialler {
					from, to = to, from
				}
				from.Send(to.Self(), Custody, []byte("hello"))
				moved.wait(frame("HELLO"), 1)
				stays.wait(frame("HELLO"), 1)
				time.Sleep(unused)

				b.net.Move(socket, b.net.address())
				if known {
					b.book.set(moved.Self(), socket.LocalAddr().String())
				}
				if !speaks && !hears {
					time.Sleep(maxMove)
				}
				began := time.Now()
				if speaks || !hears {
					defer speak(moved, stays, "here")()
				}
				if hears || !speaks {
					defer speak(stays, moved, "there")()
				}
				if speaks || !hears {
					stays.wait(frame("here"), 1)
				}
				if hears || !speaks {
					moved.wait(frame("there"), 1)
				}
				worst = max(worst, time.Since(began))
				limit := maxMove + time.Second
				if !known && !speaks && hears {
					// Only the member that has moved can bring them together, and all
					// that it can notice is that no keep-alive comes, or is answered: the
					// other one may have given the connection up before it comes.
					limit = KeepAlive + overdue + MaxRest - unused + 100*time.Millisecond
				}
				assert.Less(t, time.Since(began), limit)
			})
		})
	}
	t.Logf("at most %v", worst)
}

// TestRecheck_AfterAnAddressChange_HeardAtOnce gives the accepting side another address,
// and tells it so.
func TestRecheck_AfterAnAddressChange_HeardAtOnce(t *testing.T) {
	inBubble(t, 1, instantDelay, func(t *testing.T, b *bubble) {
		socket := b.net.socket()
		moved, stays := b.open(b.t, b.book, socket, "moved", nil), b.node("stays", nil)
		stays.Send(moved.Self(), Custody, []byte("hello"))
		moved.wait(frame("hello"), 1)
		time.Sleep(2 * KeepAlive)
		moved.Recheck()
		time.Sleep(time.Second)
		assert.Equal(t, uint64(1), moved.Stats().Surplus+moved.Stats().Moved, "it was tried out")

		b.net.Move(socket, b.net.address())
		moved.Recheck()
		took := since(func() { moved.wait(kind("connected"), 1+int(moved.Stats().Moved)+1) })
		assert.Less(t, took, 10*instantDelay)
		defer speak(moved, stays, "here")()
		stays.wait(frame("here"), 1)
		assert.NotZero(t, moved.Stats().Moved)
	})
}
