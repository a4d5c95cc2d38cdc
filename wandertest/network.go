package wandertest

import (
	"bytes"
	"net"
	"os"
	"sync"
	"time"
)

const (
	// oneWay is how long a datagram takes: so that time passes, and nobody has to wait for it.
	oneWay = time.Millisecond
	// maxQueued is how many datagrams wait for a reader, as in the buffer of a kernel; more are lost.
	maxQueued = 4096
)

// network brings datagrams from socket to socket.
type network struct {
	mu      sync.Mutex
	sockets map[string]*socket // by address
}

// open makes the socket of an address. What is sent there goes to it from now on, and no more to an earlier one.
func (n *network) open(address *net.UDPAddr) *socket {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := &socket{network: n, address: address}
	s.changed.L = &s.mu
	n.sockets[address.String()] = s
	return s
}

// find is the socket of an address, or nil.
func (n *network) find(address net.Addr) *socket {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.sockets[address.String()]
}

type datagram struct {
	from *net.UDPAddr
	body []byte
}

// socket is a net.PacketConn of the network.
type socket struct {
	network *network
	address *net.UDPAddr

	mu       sync.Mutex
	changed  sync.Cond
	queue    []datagram
	deadline time.Time
	closed   bool
	cut      bool
}

// setCut lets nothing in or out any more, or again.
func (s *socket) setCut(cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = cut
}

func (s *socket) receive(d datagram) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.cut && !s.closed && len(s.queue) < maxQueued {
		s.queue = append(s.queue, d)
		s.changed.Broadcast()
	}
}

// ReadFrom implements net.PacketConn.
func (s *socket) ReadFrom(b []byte) (int, net.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.closed:
			return 0, nil, net.ErrClosed
		case !s.deadline.IsZero() && !time.Now().Before(s.deadline):
			return 0, nil, os.ErrDeadlineExceeded
		case len(s.queue) > 0:
			d := s.queue[0]
			s.queue = s.queue[1:]
			return copy(b, d.body), d.from, nil
		}
		s.changed.Wait()
	}
}

// WriteTo implements net.PacketConn.
func (s *socket) WriteTo(b []byte, to net.Addr) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return 0, net.ErrClosed
	case !s.cut:
		d := datagram{s.address, bytes.Clone(b)}
		time.AfterFunc(oneWay, func() {
			if there := s.network.find(to); there != nil {
				there.receive(d)
			}
		})
	}
	return len(b), nil
}

// Close implements net.PacketConn.
func (s *socket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.changed.Broadcast()
	return nil
}

// LocalAddr implements net.PacketConn.
func (s *socket) LocalAddr() net.Addr { return s.address }

// SetReadDeadline implements net.PacketConn.
func (s *socket) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = t
	if !t.IsZero() {
		time.AfterFunc(max(0, time.Until(t)), s.changed.Broadcast)
	}
	s.changed.Broadcast()
	return nil
}

// SetDeadline implements net.PacketConn.
func (s *socket) SetDeadline(t time.Time) error { return s.SetReadDeadline(t) }

// SetWriteDeadline implements net.PacketConn: nothing waits to be written.
func (s *socket) SetWriteDeadline(time.Time) error { return nil }
