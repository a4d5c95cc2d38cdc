package conformance

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/wire"
)

// The codes of QUIC's CONNECTION_CLOSE that the checks know (T-18).
const (
	codeNormal   quic.ApplicationErrorCode = 0
	codeReplaced quic.ApplicationErrorCode = 2
	codeProtocol quic.ApplicationErrorCode = 4
	codeRevoked  quic.ApplicationErrorCode = 5
	codeOverload quic.ApplicationErrorCode = 6
)

const (
	// maxSilence is the max_idle_timeout that T-15 has both sides state.
	maxSilence = 7500 * time.Millisecond

	// maxHeard is how many messages that no check has waited for are kept.
	maxHeard = 4096

	// patience is after how long a question is put again. On an undisturbed
	// network nothing is lost.
	patience = 2 * time.Second

	// fencePatience is the same for the question of a fence: that may come when
	// the member has had too many (M-6).
	fencePatience = 50 * time.Millisecond
)

// session is a connection on which a check talks with the member under test.
type session struct {
	link
	t     *trial
	cert  certificate.Certificate // of the member
	hello *wire.Hello             // the member's, once it is here
	heard []wire.Message          // that no check has waited for
}

// own is how this member dials.
func (t *trial) own() *tls.Config { return t.as(t.paperOf(t.Identity)) }

// as is how somebody with this paper dials.
func (t *trial) as(p paper) *tls.Config {
	cert, err := p.sign()
	t.check(err == nil, "TLS certificate not made: %v", err)
	return clientTLS(cert)
}

// handshake dials, and opens the stream. The member is verified.
func (t *trial) handshake(conf *tls.Config) (*session, error) {
	s := &session{t: t, link: newLink(t.ctx)}
	conf.VerifyConnection = func(state tls.ConnectionState) (err error) {
		s.cert, err = t.memberOf(state.PeerCertificates)
		return err
	}
	var err error
	s.quic, err = t.quic.Dial(t.ctx, t.to, conf, t.config())
	if err != nil {
		return nil, err
	}
	t.sessions = append(t.sessions, s)
	s.stream, err = s.quic.OpenStreamSync(t.ctx)
	return s, err
}

// config is how this side's QUIC runs. It is the dialler, so the keep-alives are its
// task (T-15): checks that wait in silence are longer than maxSilence.
func (t *trial) config() *quic.Config {
	return &quic.Config{
		Versions: []quic.Version{quic.Version1}, HandshakeIdleTimeout: t.Timeout, MaxIncomingStreams: 1, MaxIncomingUniStreams: 1,
		EnableDatagrams: true, // to see whether the member would, too
		MaxIdleTimeout:  maxSilence, KeepAlivePeriod: maxSilence / 3,
	}
}

// dial is handshake for a member that has to be let in.
func (t *trial) dial() *session {
	s, err := t.handshake(t.own())
	t.check(err == nil, "no connection: %v", err)
	return s
}

// preamble is the next one of this process.
func (s *session) preamble() preamble {
	s.t.ordinal++
	return preamble{Process: s.t.process, Ordinal: s.t.ordinal}
}

// begin dials and exchanges preambles.
func (t *trial) begin() *session {
	s := t.dial()
	t.exchange(s, s.preamble())
	return s
}

// exchange exchanges preambles, and reads from then on.
func (t *trial) exchange(s *session, p preamble) preamble {
	answer, err := s.readPreamble(p)
	t.check(err == nil, "no preamble: %v", err)
	go s.read()
	return answer
}

// greet dials, and exchanges preambles and HELLOs.
func (t *trial) greet() *session {
	s := t.begin()
	s.say(s.greeting())
	s.awaitHello()
	return s
}

// greeting is this member's HELLO.
func (s *session) greeting() *wire.Hello {
	h := &wire.Hello{
		Versions: [2]uint64{1, 1}, Incarnation: s.t.incarnation, MaxFrame: wire.MaxFrame,
		Configuration: s.t.Group.Config().Version(), Endpoint: s.t.record.Raw(), Time: uint64(time.Now().UnixMilli()),
	}
	if s.t.settled > 0 {
		h.Settled = &wire.Settled{Incarnation: s.t.hello.Incarnation, Below: s.t.settled}
	}
	return h
}

// awaitHello waits for the member's HELLO.
func (s *session) awaitHello() {
	s.hello = expect(s, "HELLO", func(*wire.Hello) bool { return true })
	s.t.hello = s.hello
}

// say sends messages.
func (s *session) say(messages ...wire.Message) {
	var buf []byte
	for _, m := range messages {
		body, err := wire.Encode(m)
		s.t.check(err == nil, "%v not encoded: %v", m.Type(), err)
		buf = wire.AppendFrame(buf, body)
	}
	s.write(buf)
}

// closed waits for the end of the connection, and fails unless the member has
// closed it with this code.
func (s *session) closed(want quic.ApplicationErrorCode, after string) {
	t := s.t
	select {
	case <-s.quic.Context().Done():
	case <-t.ctx.Done():
		t.fail("%s: the connection stays, want it closed with code %d", after, want)
	}
	var app *quic.ApplicationError
	cause := context.Cause(s.quic.Context())
	switch {
	case !errors.As(cause, &app) || !app.Remote:
		t.fail("%s: the connection ended by %v, want code %d", after, cause, want)
	case app.ErrorCode != want:
		t.fail("%s: closed with code %d, want %d", after, app.ErrorCode, want)
	}
}

// finish ends this side's half of the stream, and takes in what the member still
// says until it closes.
func (s *session) finish() {
	_ = s.stream.Close()
	for s.next() != nil {
	}
}

// next is the next message, nil when there will be none. What cannot be decoded
// fails the check, whatever it is about.
func (s *session) next() wire.Message {
	m, err := s.receive(s.t.ctx)
	s.t.check(err == nil || errors.Is(err, io.EOF), "%v", err)
	return m
}

var errSilence = errors.New("nothing comes")

// receive is the next message, io.EOF when there will be none, or errSilence when
// ctx ends.
func (s *session) receive(ctx context.Context) (wire.Message, error) {
	select {
	case f, open := <-s.inbox:
		if !open {
			return nil, io.EOF
		}
		s.t.check(f.err == nil, "the member sends what no member may: %v", f.err)
		return f.message, nil
	case <-ctx.Done():
		return nil, errSilence
	}
}
