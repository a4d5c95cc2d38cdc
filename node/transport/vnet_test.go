package transport

import (
	"bytes"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// vnet is a network of sockets in memory with delay, loss and reordering from
// a seed. Inside a synctest bubble its time is virtual.
type vnet struct {
	mu      sync.Mutex
	rng     *rand.Rand
	delay   time.Duration // each way
	jitter  time.Duration // at most, added; reorders
	loss    float64
	sockets map[string]*vsocket
	next    int
	packets int
	tap     func(n int) // told of each datagram that has arrived, with their number so far
	arrived int
}

func newVnet(seed uint64, delay time.Duration) *vnet {
	return &vnet{rng: rand.New(rand.NewPCG(seed, 1)), delay: delay, sockets: make(map[string]*vsocket)}
}

// socket makes a socket at an address of its own.
func (n *vnet) socket() *vsocket {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.next++
	return n.bind(&net.UDPAddr{IP: net.IPv4(10, 0, byte(n.next>>8), byte(n.next)), Port: 4133})
}

// rebind cuts a socket off without a word, as when its process is killed, and
// makes a new one at its address.
func (n *vnet) rebind(s *vsocket) *vsocket {
	n.mu.Lock()
	defer n.mu.Unlock()
	s.dead.Store(true)
	return n.bind(s.addr)
}

// cut makes a socket's process unreachable, and itself unable to send.
func (s *vsocket) cut() { s.dead.Store(true) }

// kill ends a socket's process on a machine that goes on: its kernel refuses what comes.
func (s *vsocket) kill() { s.refuses.Store(true); s.cut() }

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
	time.AfterFunc(2*k.n.delay, func() {
		k.n.mu.Lock()
		s := k.n.sockets[k.to.String()]
		k.n.mu.Unlock()
		if s != nil && s.refuses.Load() && !k.closed.Load() {
			k.refused()
		}
	})
}

func (k *vknocker) Close() error { k.closed.Store(true); return nil }

// freeze stops what a socket's process is sent and sends, until thaw: as when the
// process is stopped, but for its timers.
func (s *vsocket) freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = true
}

// thaw lets out what has gathered since freeze.
func (s *vsocket) thaw() {
	s.mu.Lock()
	s.frozen = false
	out := s.out
	s.out = nil
	s.mu.Unlock()
	s.changed.Broadcast()
	for _, d := range out {
		s.net.deliver(d.data, s.addr, d.from)
	}
}

// move gives a socket another address, as when a NAT forgets a mapping or the machine
// gets a new lease: what is sent to the old one is lost.
func (n *vnet) move(s *vsocket) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.next++
	delete(n.sockets, s.addr.String())
	s.mu.Lock()
	s.addr = &net.UDPAddr{IP: net.IPv4(10, 1, byte(n.next>>8), byte(n.next)), Port: 4133}
	s.mu.Unlock()
	n.sockets[s.addr.String()] = s
}

func (n *vnet) bind(addr *net.UDPAddr) *vsocket {
	s := &vsocket{net: n, addr: addr}
	s.changed.L = &s.mu
	n.sockets[addr.String()] = s
	return s
}

// deliver brings a datagram to its receiver, or loses it.
func (n *vnet) deliver(b []byte, from, to *net.UDPAddr) {
	n.mu.Lock()
	n.packets++
	lost := n.rng.Float64() < n.loss
	after := n.delay
	if n.jitter > 0 {
		after += time.Duration(n.rng.Int64N(int64(n.jitter)))
	}
	n.mu.Unlock()
	if lost {
		return
	}
	data := append([]byte(nil), b...)
	time.AfterFunc(after, func() {
		n.mu.Lock()
		s := n.sockets[to.String()]
		n.mu.Unlock()
		if s != nil && !s.dead.Load() {
			s.receive(datagram{data, from})
		}
		n.mu.Lock()
		n.arrived++
		tap, number := n.tap, n.arrived
		n.mu.Unlock()
		if tap != nil {
			tap(number)
		}
	})
}

// after has f called, once, when so many more datagrams have arrived.
func (n *vnet) after(more int, f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.arrived + more
	n.tap = func(number int) {
		if number == at {
			f()
		}
	}
}

// sent is the number of datagrams so far.
func (n *vnet) sent() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.packets
}

type datagram struct {
	data []byte
	from *net.UDPAddr
}

// vsocket is a net.PacketConn.
type vsocket struct {
	net  *vnet
	addr *net.UDPAddr
	dead atomic.Bool

	refuses atomic.Bool // what comes to its port; or somebody forges that

	mu       sync.Mutex
	changed  sync.Cond
	in       []datagram
	deadline time.Time
	closed   bool
	frozen   bool
	out      []datagram // while frozen: what it has sent; from is the receiver
}

func (s *vsocket) receive(d datagram) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const buffer = 4096 // datagrams, then the kernel drops
	if !s.closed && len(s.in) < buffer {
		s.in = append(s.in, d)
	}
	s.changed.Broadcast()
}

func (s *vsocket) ReadFrom(b []byte) (int, net.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.closed:
			return 0, nil, net.ErrClosed
		case !s.deadline.IsZero() && !time.Now().Before(s.deadline):
			return 0, nil, os.ErrDeadlineExceeded
		case len(s.in) > 0 && !s.frozen:
			d := s.in[0]
			s.in = s.in[1:]
			return copy(b, d.data), d.from, nil
		}
		s.changed.Wait()
	}
}

func (s *vsocket) WriteTo(b []byte, to net.Addr) (int, error) {
	s.mu.Lock()
	closed, frozen, from := s.closed, s.frozen, s.addr
	if frozen {
		s.out = append(s.out, datagram{bytes.Clone(b), to.(*net.UDPAddr)})
	}
	s.mu.Unlock()
	if closed {
		return 0, net.ErrClosed
	}
	if !frozen && !s.dead.Load() {
		s.net.deliver(b, from, to.(*net.UDPAddr))
	}
	return len(b), nil
}

func (s *vsocket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.changed.Broadcast()
	return nil
}

func (s *vsocket) LocalAddr() net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

func (s *vsocket) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = t
	if wait := time.Until(t); !t.IsZero() && wait > 0 {
		time.AfterFunc(wait, s.changed.Broadcast)
	}
	s.changed.Broadcast()
	return nil
}

func (s *vsocket) SetDeadline(t time.Time) error    { return s.SetReadDeadline(t) }
func (s *vsocket) SetWriteDeadline(time.Time) error { return nil }

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
		f(t, &bubble{testGroup: newGroup(t, "g"), book: newBook(), t: t, net: newVnet(seed, delay)})
	})
}

// since runs f and says how long it took.
func since(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}
