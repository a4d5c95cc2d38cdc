package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// DialAddress connects to whoever answers at an address ("host:port") and
// returns its id: the way to a first member, before its id is known. When that
// member is connected already, nothing changes. The errors match those of
// errors.go; ErrSelf says that the address is this member's own.
func (t *Transport) DialAddress(ctx context.Context, address string) (ident.Member, error) {
	if err := ctx.Err(); err != nil { // on a busy machine a dial may end before anybody sees that
		return ident.Member{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	q, cert, err := t.reach(ctx, []string{address}, target{})
	if err != nil {
		return ident.Member{}, err
	}
	id := cert.Member()
	p := t.lock(id)
	if p == nil {
		q.CloseWithError(quic.ApplicationErrorCode(CodeShuttingDown), "")
		return id, ErrClosed
	}
	p.users++
	p.mu.Unlock()
	defer p.leave()
	c, err := p.useDialled(q, cert)
	switch {
	case err == nil:
		p.start(c)
	case errors.Is(err, errSuperseded):
		err = nil
	}
	return id, err
}

// dial starts to dial, unless it is too soon after a failure. Needs p.mu.
func (p *peer) dial() { p.dialAt(nil) }

// dialAt is dial at the address of the hint, if there is one, and nowhere else.
func (p *peer) dialAt(h *hint) {
	t := p.t
	if p.dialling {
		return
	}
	switch {
	case t.ctx.Err() != nil: // a dial would fail at once, and what waits would ask for the next one
		p.giveUp(ErrClosed)
		return
	case t.now() < p.redial.at:
		p.giveUp(ErrBackOff)
		return
	}
	select {
	case t.dials <- struct{}{}:
	default:
		p.giveUp(ErrBusy)
		return
	}
	ctx, cancel := context.WithCancel(t.ctx)
	if !t.spawn(func() { p.dialNow(ctx, cancel, h) }) {
		cancel()
		<-t.dials
		return
	}
	p.dialling, p.stopDial = true, cancel
	p.users++
}

// giveUp drops what waits and tells the handler so, from a goroutine of its
// own: this one may be within a call of the handler's. Needs p.mu.
func (p *peer) giveUp(err error) {
	if p.engaged() {
		return // it was only to be tried out
	}
	p.dropAll()
	if p.complained {
		return
	}
	p.complained = p.t.spawn(func() {
		p.unreachable(err)
		p.mu.Lock()
		p.complained = false
		p.users--
		p.mu.Unlock()
	})
	if p.complained {
		p.users++
	}
}

// unreachable tells the handler that the peer could not be reached, unless there is a
// connection meanwhile: of that the handler would know nothing more, though its frames
// come.
func (p *peer) unreachable(err error) {
	p.call.Lock()
	defer p.call.Unlock()
	p.mu.Lock()
	engaged := p.engaged()
	p.mu.Unlock()
	if !engaged {
		p.t.cfg.Handler.Unreachable(p.id, err)
	}
}

// dialNow dials the peer and serves the connection.
func (p *peer) dialNow(ctx context.Context, cancel func(), h *hint) {
	defer p.leave()
	defer cancel()
	q, cert, err := p.answer(ctx, h)
	<-p.t.dials
	var c *conn
	if err == nil {
		c, err = p.useDialled(q, cert)
	}
	p.mu.Lock()
	p.dialling, p.stopDial = false, nil
	if c := p.current; c != nil {
		c.doubted = false
	}
	failed := err != nil && !errors.Is(err, errSuperseded) && !p.engaged() && p.t.ctx.Err() == nil
	if failed {
		p.redial.failed(p.t.now())
		p.dropAll()
		p.t.counters.dialFailures.Add(1)
	}
	p.judgeHint(h, err)
	p.pump() // the connection that came first may be gone already
	p.mu.Unlock()
	switch {
	case failed:
		p.unreachable(err)
	case c != nil:
		p.start(c)
	}
}

// answer dials the peer where it is known to be, or where a hint says that it is not.
func (p *peer) answer(ctx context.Context, h *hint) (*quic.Conn, certificate.Certificate, error) {
	if h != nil {
		return p.t.reach(ctx, []string{h.at.String()}, target{want: &p.id, verdict: h.verdict, hint: h})
	}
	return p.t.reach(ctx, p.t.cfg.Addresses(p.id), target{want: &p.id, verdict: unknownVerdict})
}

// useDialled makes a connection that this side dialled the one in use, and
// writes the preamble. When there is one already that is heard it returns
// errSuperseded: a preamble on a dialled connection says that there is none (see
// Choose).
func (p *peer) useDialled(q *quic.Conn, cert certificate.Certificate) (*conn, error) {
	s, err := q.OpenStream()
	if err != nil {
		q.CloseWithError(quic.ApplicationErrorCode(CodeProtocol), "")
		return nil, closeReason(err)
	}
	p.t.gate.meets(p.id, addressOf(q.RemoteAddr()))
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.t.newConn(p, q, s, cert)
	c.Dialled = true
	p.giveWay()
	if p.engaged() {
		p.t.counters.surplus.Add(1)
		c.close(CodeReplaced)
		return nil, errSuperseded
	}
	if err := c.writePreamble(); err != nil {
		c.close(CodeProtocol)
		return nil, closeReason(err)
	}
	if !p.attach(c, false) {
		c.close(CodeShuttingDown)
		return nil, ErrClosed
	}
	p.t.counters.dialled.Add(1)
	return c, nil
}

// reach tries addresses in order until a member answers: the one that is
// wanted, or anyone. The error matches ErrAbsent only if nobody listens at any of them.
func (t *Transport) reach(ctx context.Context, addresses []string, whom target) (*quic.Conn, certificate.Certificate, error) {
	err, absent := ErrNoAddress, true
	for _, address := range addresses[:min(len(addresses), maxAddresses)] {
		targets, e := resolve(ctx, address)
		for _, to := range targets {
			var q *quic.Conn
			var cert certificate.Certificate
			if q, cert, e = t.connect(ctx, to, whom); e == nil {
				return q, cert, nil
			}
			absent = absent && errors.Is(e, ErrAbsent)
			if ctx.Err() != nil {
				break
			}
		}
		if errors.Is(e, ErrAbsent) && !absent {
			e = ErrUnresponsive
		}
		err = fmt.Errorf("%s: %w", address, e)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, certificate.Certificate{}, err
}

// target is who is dialled.
type target struct {
	want    *ident.Member // nil: anyone
	verdict time.Duration // see expectRefusal; 0: a refusal is not awaited
	hint    *hint         // that led to the dial, or nil

	protocol string          // ALPN; empty: that of members
	via      *quic.Transport // the socket; nil: this member's
}

// connect makes one handshake.
func (t *Transport) connect(ctx context.Context, to *net.UDPAddr, whom target) (*quic.Conn, certificate.Certificate, error) {
	want := whom.want
	ctx, cancel := context.WithTimeout(ctx, min(HandshakeTimeout, t.silence()))
	defer cancel()
	ctx, give := context.WithCancelCause(ctx)
	defer t.expectRefusal(to, whom, give)()
	var cert certificate.Certificate
	conf := baseTLS(cmp.Or(whom.protocol, ALPN))
	conf.InsecureSkipVerify = true // VerifyConnection does what X.509 cannot
	conf.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return t.tlsCert.Load(), nil }
	conf.VerifyConnection = func(s tls.ConnectionState) (err error) {
		cert, err = t.verify.identify(s.PeerCertificates)
		if err == nil && want != nil && cert.Member() != *want {
			err = fmt.Errorf("%w: %v", ErrWrongMember, cert.Member())
		}
		return err
	}
	q, err := cmp.Or(whom.via, t.quic).Dial(ctx, to, conf, quicConfig(t.keepAlive()))
	if err == nil {
		return q, cert, nil
	}
	if errors.Is(context.Cause(ctx), ErrAbsent) {
		return nil, certificate.Certificate{}, ErrAbsent
	}
	err = closeReason(err)
	if kind := refusalOf(err); kind != nil && t.ctx.Err() == nil {
		t.notices.note(kind, "side", "outbound", "remote", to, "error", err)
	}
	return nil, certificate.Certificate{}, err
}

// resolve turns "host:port" into socket addresses.
func resolve(ctx context.Context, address string) ([]*net.UDPAddr, error) {
	if a, err := netip.ParseAddrPort(address); err == nil {
		return []*net.UDPAddr{net.UDPAddrFromAddrPort(a)}, nil
	}
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoAddress, err)
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoAddress, err)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoAddress, err)
	}
	var all []*net.UDPAddr
	for _, ip := range ips {
		all = append(all, net.UDPAddrFromAddrPort(netip.AddrPortFrom(ip.Unmap(), uint16(port))))
	}
	return all, nil
}
