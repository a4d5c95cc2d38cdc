package conformance

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// subject is a member to test that can be broken on purpose: the project's own
// machine behind a QUIC listener of a hundred lines.
type subject struct {
	faults
	run // to look at certificates with
	key *signature.PrivateKey
	l   *quic.Listener

	mu        sync.Mutex
	machine   *member.Member
	machineID ident.Member
	began     time.Time
	timer     *time.Timer
	conns     map[ident.Member]*pipe
	unready   int
	said      uint64 // preambles
}

// faults are where a subject goes wrong. Nil is right.
type faults struct {
	tls      func(*tls.Config)
	quic     func(*quic.Config)
	identify func(error) error // forgives what is wrong with a certificate
	code     func(quic.ApplicationErrorCode) quic.ApplicationErrorCode
	stays    func(old, next preamble) bool // the new connection
	in       func(*pipe, []byte) [][]byte
	out      func(*pipe, wire.Message) []wire.Message
}

// pipe is one connection of a subject.
type pipe struct {
	s       *subject
	quic    *quic.Conn
	stream  *quic.Stream
	cert    certificate.Certificate
	theirs  preamble
	greeted bool                      // HELLO has come
	last    quic.ApplicationErrorCode // for an orderly end
	notes   map[string]int            // of faults
}

func newSubject(t testing.TB, a *authority, revoked ident.Member, f faults) *subject {
	id := a.issue(t, "subject", time.Hour)
	s := &subject{machineID: id.Certificate.Member(), faults: f, run: run{Options: Options{Group: a.group, Identity: id}, wallet: wallet{reservations: map[custody]uint64{}}}, key: id.Key, began: time.Now(), conns: map[ident.Member]*pipe{}}
	var err error
	var effects []effect.Effect
	s.machine, effects, err = member.New(member.Config{
		Group: a.group, Certificate: id.Certificate, Key: id.Key, Durable: true, Machine: "here", Boot: "boot", Tuning: brisk,
	}, s.reading())
	require.NoError(t, err)
	s.timer = time.AfterFunc(time.Hour, func() { s.step(member.Tick{}) })
	s.do(effects)
	s.step(member.Learn{Revocations: [][]byte{a.revoke(t, revoked)}})
	s.listen(t, id)
	return s
}

func (s *subject) listen(t testing.TB, id Identity) {
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	cert, err := s.paperOf(id).sign()
	require.NoError(t, err)
	conf := &tls.Config{
		Certificates: []tls.Certificate{cert}, NextProtos: []string{alpn}, MinVersion: tls.VersionTLS13, ClientAuth: tls.RequestClientCert,
		SessionTicketsDisabled: true, CurvePreferences: []tls.CurveID{tls.X25519},
		VerifyConnection: func(state tls.ConnectionState) error {
			_, err := s.who(state.PeerCertificates)
			return err
		},
	}
	qc := &quic.Config{MaxIncomingStreams: 1, MaxIncomingUniStreams: -1}
	if s.tls != nil {
		s.tls(conf)
	}
	if s.faults.quic != nil {
		s.faults.quic(qc)
	}
	s.run.quic = &quic.Transport{Conn: socket}
	s.l, err = s.run.quic.Listen(conf, qc)
	require.NoError(t, err)
	t.Cleanup(func() { s.timer.Stop(); s.stop() })
	go s.accept()
}

// who is the member that has shown this.
func (s *subject) who(chain []*x509.Certificate) (certificate.Certificate, error) {
	c, err := s.memberOf(chain)
	if err != nil && s.identify != nil {
		err = s.identify(err)
	}
	return c, err
}

func (s *subject) reading() clock.Reading {
	return clock.Reading{Boot: clock.Instant(time.Hour + time.Since(s.began)), Wall: time.Now()}
}

func (s *subject) accept() {
	for {
		q, err := s.l.Accept(context.Background())
		if err != nil {
			return
		}
		go s.serve(q)
	}
}

// end closes a connection, with another code where that is the fault.
func (s *subject) end(q *quic.Conn, code quic.ApplicationErrorCode) {
	if s.code != nil {
		code = s.code(code)
	}
	q.CloseWithError(code, "")
}

func (s *subject) serve(q *quic.Conn) {
	p, err := s.welcome(q)
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			s.end(q, codeProtocol)
		}
		return
	}
	if !s.use(p) {
		s.end(q, codeReplaced)
		return
	}
	for {
		body, err := wire.ReadFrame(p.stream, nil)
		if err != nil {
			s.lost(p, err)
			return
		}
		s.hear(p, body)
	}
}

// welcome waits for the preamble.
func (s *subject) welcome(q *quic.Conn) (*pipe, error) {
	if !s.room(1) {
		s.end(q, codeOverload)
		return nil, context.Canceled
	}
	defer s.room(-1)
	ctx, cancel := context.WithTimeout(q.Context(), preambleTimeout)
	defer cancel()
	stream, err := q.AcceptStream(ctx)
	if err != nil {
		return nil, err
	}
	stream.SetReadDeadline(time.Now().Add(preambleTimeout))
	body, err := wire.ReadFrame(stream, make([]byte, 0, 32))
	if err != nil {
		return nil, err
	}
	stream.SetReadDeadline(time.Time{})
	p := &pipe{s: s, quic: q, stream: stream, notes: map[string]int{}}
	p.cert, _ = s.who(q.ConnectionState().TLS.PeerCertificates)
	p.theirs, err = parsePreamble(body)
	return p, err
}

func (s *subject) room(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > 0 && s.unready == maxUnready {
		return false
	}
	s.unready += n
	return true
}

// use makes a connection the one that is used, or reports false.
func (s *subject) use(p *pipe) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	stays := func(old, next preamble) bool { return old.Process != next.Process || old.Ordinal < next.Ordinal }
	if s.stays != nil {
		stays = s.stays
	}
	if old := s.conns[p.cert.Member()]; old != nil {
		if !stays(old.theirs, p.theirs) {
			return false
		}
		s.end(old.quic, codeReplaced)
		s.handle(member.Disconnected{Peer: p.cert.Member()})
	}
	s.conns[p.cert.Member()] = p
	s.said++
	_, _ = p.stream.Write(wire.AppendFrame(nil, preamble{Process: [16]byte{1}, Ordinal: s.said}.encode()))
	if !p.cert.IsZero() {
		s.handle(member.Connected{Certificate: p.cert})
	}
	return true
}

// lost takes in that a stream has ended.
func (s *subject) lost(p *pipe, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(err, io.EOF) {
		_ = p.stream.Close()
		go p.linger()
	} else {
		s.end(p.quic, codeProtocol)
	}
	if s.conns[p.cert.Member()] == p {
		delete(s.conns, p.cert.Member())
		s.handle(member.Disconnected{Peer: p.cert.Member()})
	}
}

// linger closes a connection in order.
func (p *pipe) linger() {
	wait := 100 * time.Millisecond
	if p.s.in != nil {
		wait = time.Minute // what the fault has said has to arrive
	}
	select {
	case <-p.quic.Context().Done():
	case <-time.After(wait):
	}
	p.s.end(p.quic, p.last)
}

// hear hands a frame to the machine.
func (s *subject) hear(p *pipe, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns[p.cert.Member()] != p {
		return
	}
	bodies := [][]byte{body}
	if s.in != nil {
		bodies = s.in(p, body)
	}
	for _, b := range bodies {
		s.handle(member.Received{From: p.cert.Member(), Body: b})
	}
	if m, err := wire.Decode(body); err == nil {
		h, ok := m.(*wire.Hello)
		p.greeted = p.greeted || ok && h.Versions[0] == 1
	}
}

func (s *subject) step(in member.Input) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handle(in)
}

// handle steps the machine. Needs s.mu.
func (s *subject) handle(in member.Input) { s.do(s.machine.Step(s.reading(), in)) }

// do performs what the network sees of effects. Needs s.mu.
func (s *subject) do(effects []effect.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case effect.Send:
			if p := s.conns[e.To]; p != nil {
				p.tell(e.Message)
			}
		case effect.Expel:
			if p := s.conns[e.Member]; p != nil {
				p.write(&wire.Revocations{Revocations: [][]byte{e.Revocation}})
				_ = p.stream.Close()
				p.last = codeRevoked // when the peer has read it, and ends its half
			}
		}
	}
	s.timer.Reset(s.machine.NextDeadline().Sub(s.reading().Boot))
}

// tell sends a message, or what the fault makes of it.
func (p *pipe) tell(m wire.Message) {
	list := []wire.Message{m}
	if h, ok := m.(*wire.Hello); ok {
		p.s.incarnation = h.Incarnation
	}
	if p.s.out != nil {
		list = p.s.out(p, m)
	}
	for _, m := range list {
		p.write(m)
	}
}

func (p *pipe) write(m wire.Message) {
	body, err := wire.Encode(m)
	if err != nil {
		panic(err)
	}
	_, _ = p.stream.Write(wire.AppendFrame(nil, body))
}

// sign answers a transfer, whatever the machine thinks of it.
func (p *pipe) sign(raw []byte, v token.Verdict, e canonical.Extensions) []byte {
	b, hash, err := token.PeekTransfer(p.s.Group.ID(), raw)
	if err != nil {
		panic(err)
	}
	a, err := token.AnswerBody{
		Transfer: hash, Token: b.Token, Hop: b.Hop, Signer: b.To, Incarnation: p.s.incarnation, Extensions: e,
	}.Sign(p.s.Group.ID(), v, p.s.key)
	if err != nil {
		panic(err)
	}
	return a.Raw()
}

// verifierOf verifies what is said on a connection.
func (s *subject) verifierOf(p *pipe) *token.Verifier {
	return token.NewVerifier(s.Group.ID(), keys{s.machineID: s.key.Public(), p.cert.Member(): p.cert.Key()})
}

// keys is token.Keys of a few members.
type keys map[ident.Member]*signature.PublicKey

func (k keys) Key(m ident.Member) *signature.PublicKey { return k[m] }

func received(p *pipe, body []byte) member.Received {
	return member.Received{From: p.cert.Member(), Body: body}
}
