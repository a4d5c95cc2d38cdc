package transport

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wandertoken/wander/internal/memnet"
)

// vnet is a network in memory whose sockets have addresses of their own.
type vnet struct {
	*memnet.Network

	mu   sync.Mutex
	next int
}

// address is one that no socket had before.
func (n *vnet) address() *net.UDPAddr {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.next++
	return &net.UDPAddr{IP: net.IPv4(10, 0, byte(n.next>>8), byte(n.next)), Port: 4133}
}

// socket makes a socket at an address of its own.
func (n *vnet) socket() *memnet.Socket { return n.Open(n.address()) }

// rebind cuts a socket off without a word, as when its process is killed, and
// makes a new one at its address.
func (n *vnet) rebind(s *memnet.Socket) *memnet.Socket {
	cut(s)
	return n.Open(s.LocalAddr().(*net.UDPAddr))
}

// cut makes a socket's process unreachable, and itself unable to send.
func cut(s *memnet.Socket) { s.SetCut(true) }

// kill ends a socket's process on a machine that goes on: its kernel refuses what comes.
func kill(s *memnet.Socket) { s.Refuse(); cut(s) }

// knockers are those of a machine on the network. They count what they have sent.
func (n *vnet) knockers(count *atomic.Int64) knockers {
	return func(to *net.UDPAddr, refused func()) (knocker, error) {
		return &vknocker{n: n, to: to, refused: refused, count: count}, nil
	}
}

type vknocker struct {
	n       *vnet
	to      *net.UDPAddr
	refused func()
	count   *atomic.Int64
	closed  atomic.Bool
}

func (k *vknocker) knock() {
	k.count.Add(1)
	time.AfterFunc(2*k.n.Delay, func() {
		if s := k.n.Find(k.to); s != nil && s.Refuses() && !k.closed.Load() {
			k.refused()
		}
	})
}

func (k *vknocker) Close() error { k.closed.Store(true); return nil }

// bubble is one test in virtual time.
type bubble struct {
	*testGroup
	*book
	t   *testing.T
	net *vnet
}

func (b *bubble) node(name string, change func(*Config)) *node {
	return b.open(b.t, b.book, b.net.socket(), name, change)
}

// inBubble runs a test in virtual time on a virtual network. That the bubble
// ends shows that no goroutine is left when all members are closed.
func inBubble(t *testing.T, seed uint64, delay time.Duration, f func(*testing.T, *bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t, &bubble{testGroup: newGroup(t, "g"), book: newBook(), t: t, net: &vnet{Network: memnet.New(seed, delay)}})
	})
}

// since runs f and says how long it took.
func since(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}
