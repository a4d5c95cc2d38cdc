package transport

import (
	"errors"
	"net"
	"syscall"
)

// knocker finds out whether nobody listens at an address: where nobody does, hosts answer a
// datagram with ICMP "port unreachable". It has a socket of its own, so that such an answer
// spoils nothing on the one that everything else goes over. A daemon takes no notice of an
// empty datagram, which is no QUIC packet.
//
// Anybody who sees or guesses the socket's port can forge the answer, and many networks
// drop it. So it is a hint, and never proof.
type knocker interface {
	knock()
	Close() error
}

// knockers makes a knocker, which calls refused for each answer until it is closed.
type knockers func(to *net.UDPAddr, refused func()) (knocker, error)

// udpKnocker is a connected socket: its kernel matches the answers.
type udpKnocker struct {
	socket  *net.UDPConn
	refused func()
}

// udpKnockers makes knockers that send from the machine's address that local is bound to.
// Where the system tells nobody of such answers they say nothing.
func udpKnockers(local *net.UDPConn) knockers {
	var from *net.UDPAddr
	if a, ok := local.LocalAddr().(*net.UDPAddr); ok && !a.IP.IsUnspecified() {
		from = &net.UDPAddr{IP: a.IP, Zone: a.Zone}
	}
	return func(to *net.UDPAddr, refused func()) (knocker, error) {
		socket, err := net.DialUDP("udp", from, to)
		if err != nil {
			return nil, err
		}
		k := &udpKnocker{socket, refused}
		go k.listen()
		return k, nil
	}
}

// knock sends an empty datagram. The kernel may hand it the answer to an earlier one.
func (k *udpKnocker) knock() {
	if err := nudge(k.socket); errors.Is(err, syscall.ECONNREFUSED) {
		k.refused()
	}
}

// listen waits for answers until the knocker is closed.
func (k *udpKnocker) listen() {
	var nothing [1]byte
	for {
		_, err := k.socket.Read(nothing[:])
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			k.refused()
		case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
			// An answer to one datagram, and no refusal.
		case err != nil:
			return
		}
	}
}

func (k *udpKnocker) Close() error { return k.socket.Close() }
