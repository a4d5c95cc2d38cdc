// Package halfopen begins QUIC handshakes and does not go on with them, as somebody does who
// wants to take the places for handshakes from others. Tests and the bad members of the soak
// harness use it, and no daemon.
package halfopen

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
)

// keptFor is how long a socket stays after it has begun a handshake: longer than a member
// waits for the rest of one. Where a socket is gone, the host would say so to the member.
const keptFor = 6 * time.Second

// Socket is the socket of a client that begins a handshake and says nothing more.
type Socket struct {
	net.PacketConn
	// Mute has it not even answer a Retry, so that its address is not proved.
	Mute bool

	silent atomic.Bool
}

// retry is the first byte of QUIC's Retry packets, in the bits of retryMask (RFC 9000, 17.2.5).
const retryMask, retry = 0xf0, 0xf0

// ReadFrom reads the next Retry. Whatever else comes, the client is silent from then on.
func (s *Socket) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := s.PacketConn.ReadFrom(b)
		if err != nil || n > 0 && b[0]&retryMask == retry && !s.Mute {
			return n, from, err
		}
		s.silent.Store(true)
	}
}

// WriteTo sends a packet, unless the client is silent. It tells nobody that it did not.
func (s *Socket) WriteTo(b []byte, to net.Addr) (int, error) {
	if s.silent.Load() {
		return len(b), nil
	}
	if s.Mute {
		s.silent.Store(true)
	}
	return s.PacketConn.WriteTo(b, to)
}

// Hold begins a handshake for this protocol, and closes the socket after keptFor, or when ctx
// ends.
func (s *Socket) Hold(ctx context.Context, to net.Addr, protocol string) {
	ctx, cancel := context.WithTimeout(ctx, keptFor)
	defer cancel()
	defer s.Close()
	t := &quic.Transport{Conn: s}
	defer t.Close()
	hello := &tls.Config{
		NextProtos: []string{protocol}, MinVersion: tls.VersionTLS13, InsecureSkipVerify: true,
		CurvePreferences: []tls.CurveID{tls.X25519}, // as members have it: the hello fits into one packet
	}
	_, _ = t.Dial(ctx, to, hello, &quic.Config{HandshakeIdleTimeout: 2 * keptFor})
	<-ctx.Done() // the dial may have ended before
}
