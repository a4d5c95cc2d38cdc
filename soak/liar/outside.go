package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"iter"
	"net"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/soak/liar/report"
)

// Kinds of programs that are no members: one without a certificate that begins handshakes
// and does not go on with them, and an honest one that wants to be let in meanwhile.
const (
	kindFlood    = "flood"
	kindNewcomer = "newcomer"
)

const (
	// halfOpenFor is how long a handshake is kept open: longer than a member waits for the
	// rest of it.
	halfOpenFor = 2 * transport.HandshakeTimeout
	// maxTries bounds the tries of a newcomer, and tryPause is between two of them.
	maxTries, tryPause = 20, transport.MinBackOff
	// shutWithin is how long a newcomer's connection is watched after it was made: the
	// other side may turn it down.
	shutWithin = 500 * time.Millisecond
)

// flood begins rate handshakes a second with the first peer, from one address.
func flood(ctx context.Context, o options, r *report.Report) error {
	address, err := net.ResolveUDPAddr("udp4", o.peers[0])
	if err != nil {
		return err
	}
	own, err := net.ResolveUDPAddr("udp4", o.listen)
	if err != nil {
		return err
	}
	conn, err := net.ListenUDP("udp4", own)
	if err != nil {
		return err
	}
	defer conn.Close()
	t := &quic.Transport{Conn: &halfOpen{conn}}
	defer t.Close()
	settings := &tls.Config{NextProtos: []string{transport.ALPN}, MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, CurvePreferences: []tls.CurveID{tls.X25519}}
	acts := time.NewTicker(time.Duration(float64(time.Second) / o.rate))
	defer acts.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-acts.C:
			r.Handshakes++
			go func() { _, _ = t.Dial(ctx, address, settings, &quic.Config{HandshakeIdleTimeout: halfOpenFor}) }()
		}
	}
}

// halfOpen lets a handshake come as far as its first answer: of what comes in only a Retry
// is read, so that the address is proved, and nothing more.
type halfOpen struct{ net.PacketConn }

// retry is the first byte of QUIC's Retry packets, in the bits of retryMask (RFC 9000, 17.2.5).
const retryMask, retry = 0xf0, 0xf0

func (h *halfOpen) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := h.PacketConn.ReadFrom(b)
		if err != nil || n > 0 && b[0]&retryMask == retry {
			return n, from, err
		}
	}
}

// newcomer is a member that has not been in the group. It dials the first peer until it is
// let in.
func newcomer(ctx context.Context, o options, r *report.Report) error {
	id, err := identity(o.dir)
	if err != nil {
		return err
	}
	began := time.Now()
	for r.Tries < maxTries && ctx.Err() == nil {
		r.Tries++
		own, err := net.ResolveUDPAddr("udp4", o.listen)
		if err != nil {
			return err
		}
		conn, err := net.ListenUDP("udp4", own)
		if err != nil {
			return err
		}
		g := &guest{over: make(chan error, 1)}
		var reset [32]byte
		if _, err := rand.Read(reset[:]); err != nil {
			return errors.Join(err, conn.Close())
		}
		t, err := transport.Open(transport.Config{
			Conn: conn, Group: id.Group.ID(), Authorities: id.Group, Certificate: id.Certificate, Key: id.Key, Handler: g, ResetKey: reset,
			Silence: id.Group.Config().Settings().Silence,
		})
		if err != nil {
			return errors.Join(err, conn.Close())
		}
		dial, cancel := context.WithTimeout(ctx, transport.HandshakeTimeout+time.Second)
		_, err = t.DialAddress(dial, o.peers[0])
		cancel()
		took := time.Since(began)
		if err == nil {
			select {
			case err = <-g.over:
			case <-time.After(shutWithin):
			}
		}
		_ = t.Close()
		if err == nil {
			r.LetIn, r.Within = true, int(took.Milliseconds())
			return nil
		}
		time.Sleep(tryPause)
	}
	return nil
}

// guest is a handler that only notes the end of its connection.
type guest struct{ over chan error }

// Connected implements transport.Handler.
func (*guest) Connected(certificate.Certificate) {}

// Frames implements transport.Handler.
func (*guest) Frames(ident.Member, iter.Seq[[]byte]) {}

// Unreachable implements transport.Handler.
func (*guest) Unreachable(ident.Member, error) {}

// Disconnected implements transport.Handler.
func (g *guest) Disconnected(_ ident.Member, err error) {
	select {
	case g.over <- err:
	default:
	}
}
