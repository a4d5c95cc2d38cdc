// Package memnet is a network of UDP sockets in memory, with delay, loss and reordering from a seed, for tests. Within a bubble of
// testing/synctest its time is virtual.
package memnet

import (
	"bytes"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"
)

// maxQueued is how many datagrams wait for a reader, as in the buffer of a kernel. More are lost.
const maxQueued = 4096

// Network brings datagrams from socket to socket. Its methods are safe for concurrent use. Its fields are to be set while nothing is sent.
type Network struct {
	Delay  time.Duration // of a datagram
	Jitter time.Duration // at most, added to the delay; it reorders datagrams
	Loss   float64       // the share of datagrams that are lost, 0 to 1

	mu      sync.Mutex
	rng     *rand.Rand
	sockets map[string]*Socket // by address
	sent    int                // datagrams
	arrived int                // datagrams
	told    func(arrived int)  // of each datagram that has arrived; may be nil
}

// New makes a network that loses nothing.
func New(seed uint64, delay time.Duration) *Network {
	return &Network{Delay: delay, rng: rand.New(rand.NewPCG(seed, 1)), sockets: make(map[string]*Socket)}
}

// Open makes the socket of an address. It gets each datagram that is sent there from now on, and an earlier socket gets none.
func (n *Network) Open(address *net.UDPAddr) *Socket {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := &Socket{network: n, address: address}
	s.changed.L = &s.mu
	n.sockets[address.String()] = s
	return s
}

// Find is the socket of an address, or nil.
func (n *Network) Find(address net.Addr) *Socket {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.sockets[address.String()]
}

// Move gives a socket another address, as when a NAT forgets a mapping. Datagrams to the former address are lost.
func (n *Network) Move(s *Socket, to *net.UDPAddr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(n.sockets, s.address.String())
	s.address = to
	n.sockets[to.String()] = s
}

// Sent is the number of datagrams so far.
func (n *Network) Sent() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.sent
}

// After has f called, once, when so many more datagrams have arrived. A later call takes the place of an earlier one.
func (n *Network) After(more int, f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.arrived + more
	n.told = func(arrived int) {
		if arrived == at {
			f()
		}
	}
}

// send brings a datagram to its receiver, or loses it.
func (n *Network) send(d datagram, to net.Addr) {
	n.mu.Lock()
	n.sent++
	lost := n.rng.Float64() < n.Loss
	after := n.Delay
	if n.Jitter > 0 {
		after += time.Duration(n.rng.Int64N(int64(n.Jitter)))
	}
	n.mu.Unlock()
	if lost {
		return
	}
	time.AfterFunc(after, func() {
		if s := n.Find(to); s != nil {
			s.receive(d)
		}
		n.mu.Lock()
		n.arrived++
		told, arrived := n.told, n.arrived
		n.mu.Unlock()
		if told != nil {
			told(arrived)
		}
	})
}

// datagram is one on its way to a socket, or one that a frozen socket sends.
type datagram struct {
	peer net.Addr // its sender; of a frozen socket's, its receiver
	body []byte
}

// Socket is a net.PacketConn of a network. Its methods are safe for concurrent use.
type Socket struct {
	network *Network

	mu       sync.Mutex
	changed  sync.Cond
	address  *net.UDPAddr
	deadline time.Time
	closed   bool
	cut      bool
	refuses  bool
	frozen   bool
	in       []datagram
	out      []datagram // what it has sent while frozen
}

// SetCut has all that is sent to and by the socket lost from now on, or no more.
func (s *Socket) SetCut(cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = cut
}

// Refuse has the machine refuse what comes to the socket, as a kernel does where no process listens. Only [Socket.Refuses] shows it.
func (s *Socket) Refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuses = true
}

// Refuses reports whether the machine refuses what comes.
func (s *Socket) Refuses() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refuses
}

// Freeze holds up what the socket is sent and sends, as when its process is stopped.
func (s *Socket) Freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = true
}

// Thaw ends what Freeze began, and lets out what has gathered.
func (s *Socket) Thaw() {
	s.mu.Lock()
	s.frozen = false
	out, from := s.out, s.address
	s.out = nil
	s.mu.Unlock()
	s.changed.Broadcast()
	for _, d := range out {
		s.network.send(datagram{from, d.body}, d.peer)
	}
}

func (s *Socket) receive(d datagram) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.cut && !s.closed && len(s.in) < maxQueued {
		s.in = append(s.in, d)
		s.changed.Broadcast()
	}
}

// ReadFrom implements net.PacketConn.
func (s *Socket) ReadFrom(b []byte) (int, net.Addr, error) {
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
			return copy(b, d.body), d.peer, nil
		}
		s.changed.Wait()
	}
}

// WriteTo implements net.PacketConn.
func (s *Socket) WriteTo(b []byte, to net.Addr) (int, error) {
	s.mu.Lock()
	closed, cut, frozen, d := s.closed, s.cut, s.frozen, datagram{s.address, bytes.Clone(b)}
	if frozen {
		s.out = append(s.out, datagram{to, d.body})
	}
	s.mu.Unlock()
	if closed {
		return 0, net.ErrClosed
	}
	if !frozen && !cut {
		s.network.send(d, to)
	}
	return len(b), nil
}

// Close implements net.PacketConn.
func (s *Socket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.changed.Broadcast()
	return nil
}

// LocalAddr implements net.PacketConn.
func (s *Socket) LocalAddr() net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.address
}

// SetReadDeadline implements net.PacketConn.
func (s *Socket) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = t
	if wait := time.Until(t); !t.IsZero() && wait > 0 {
		time.AfterFunc(wait, s.changed.Broadcast)
	}
	s.changed.Broadcast()
	return nil
}

// SetDeadline implements net.PacketConn.
func (s *Socket) SetDeadline(t time.Time) error { return s.SetReadDeadline(t) }

// SetWriteDeadline implements net.PacketConn: nothing waits to be written.
func (s *Socket) SetWriteDeadline(time.Time) error { return nil }
