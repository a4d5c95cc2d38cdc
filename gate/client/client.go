package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/permit"
	"github.com/wandertoken/wander/protocol/token"
)

const (
	// Silence is for how long a connection may bring nothing: then the gate is lost. Below it QUIC sends a lost packet again
	// four times, up to a round trip of 100 ms.
	Silence = 4 * time.Second

	// KeepAlive is how often something is sent although there is nothing to say.
	KeepAlive = time.Second

	// HandshakeTimeout bounds a handshake, and greetTimeout the time from there to the gate's HELLO.
	HandshakeTimeout = 3 * time.Second
	greetTimeout     = 5 * time.Second

	// writeTimeout bounds the writing of one frame: a gate that does not read its control stream is lost.
	writeTimeout = 10 * time.Second

	// maxSessions bounds the sign-ins of a connection that have not ended: one for each slot would be 64, and a member has one session.
	maxSessions = 16

	// answerRoom is how many answers a session keeps until they are read. Of more the oldest goes: each BUSY replaces the one before.
	answerRoom = 16

	// streamWindow and connectionWindow are QUIC's largest receive windows: at 100 ms of round trip they admit 40 MB/s.
	streamWindow     = 4 << 20
	connectionWindow = 8 << 20
)

// Config says what a client needs. Address, Resource, Group, Certificate and Key must be given.
type Config struct {
	Address  string // of the gate, "host:port"
	Resource string

	// Gate is the id of the gate by its certificate; the zero value accepts each one that Identify accepts.
	Gate ident.Member

	// Identify refuses a gate by its certificate, which has verified. Nil accepts all.
	Identify func(certificate.Certificate) error

	// Group is the group as the member knows it now. It is asked at each sign-in, and must be safe for concurrent use.
	Group func() *group.Group

	Certificate certificate.Certificate // the member's own
	Key         *signature.PrivateKey   // of Certificate

	// Revocations gives signed revocations above a version, ascending, and up to which version of the member's list these are: there may be
	// more, which the gate is told before a later sign-in. Above 2^64-1 there are none. Nil: the member has none to tell.
	Revocations func(above uint64) (version uint64, list [][]byte)

	// Learn is told what the gate knows and the member does not. Nothing of it is verified. It is called on the goroutine that
	// reads the connection: while it blocks, the gate waits. It must return once the member has ended. Nil: nobody wants to know.
	Learn func(configuration []byte, authorities, revocations [][]byte)

	Now func() time.Time // nil: time.Now
	Log *slog.Logger     // nil: nowhere
}

func (c *Config) fill() error {
	if c.Address == "" || c.Resource == "" || c.Group == nil || c.Key == nil || c.Certificate.Key() == nil {
		return fmt.Errorf("%w: address, resource, group, certificate and key are needed", ErrConfig)
	}
	if c.Identify == nil {
		c.Identify = func(certificate.Certificate) error { return nil }
	}
	if c.Revocations == nil {
		c.Revocations = func(uint64) (uint64, [][]byte) { return 0, nil }
	}
	if c.Learn == nil {
		c.Learn = func([]byte, [][]byte, [][]byte) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// Conn is a connection with a gate. All methods are safe for concurrent use.
type Conn struct {
	cfg      Config
	group    ident.Group
	self     ident.Member
	quic     *quic.Conn
	control  *quic.Stream
	gate     certificate.Certificate
	exporter [permit.ExporterSize]byte
	done     chan struct{}
	workers  sync.WaitGroup
	greeting atomic.Bool // greeted runs

	writing sync.Mutex // held while frames are written, so that an UPDATE goes before the SIGN-IN that needs it
	theirs  told       // by writing
	number  uint64     // by writing: of the last sign-in

	mu       sync.Mutex
	err      error // why it has ended
	sessions map[uint64]*Session
	targets  []string // of the gate, those with a name
}

// Dial connects with a gate, and exchanges versions with it. Errors match ErrConfig, ErrOtherGate, ErrResource, ErrVersion,
// ErrProtocol, ErrLost, or those of package transport.
func Dial(ctx context.Context, cfg Config) (*Conn, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	g := cfg.Group()
	c := &Conn{cfg: cfg, group: g.ID(), self: cfg.Certificate.Member(), done: make(chan struct{}), sessions: make(map[uint64]*Session)}
	tlsConf, err := transport.ClientTLS(transport.EntranceConfig{
		Protocol: wire.ALPN, Group: g.ID(), Certificate: cfg.Certificate, Key: cfg.Key, Authorities: g, Vouchers: g.Vouchers(), Now: cfg.Now,
	}, c.identify)
	if err != nil {
		return nil, err
	}
	shaking, cancel := context.WithTimeout(ctx, HandshakeTimeout)
	c.quic, err = transport.Dial(shaking, cfg.Address, tlsConf, quicConfig())
	cancel()
	if err != nil {
		return nil, err
	}
	if err := c.open(ctx); err != nil {
		c.end(err)
		return nil, c.Err()
	}
	c.workers.Go(c.read)
	context.AfterFunc(c.quic.Context(), func() { c.end(fmt.Errorf("%w: %w", ErrLost, transport.CloseReason(context.Cause(c.quic.Context())))) })
	return c, nil
}

func quicConfig() *quic.Config {
	return &quic.Config{
		Versions: []quic.Version{quic.Version1}, HandshakeIdleTimeout: HandshakeTimeout, MaxIdleTimeout: Silence, KeepAlivePeriod: KeepAlive,
		MaxStreamReceiveWindow: streamWindow, MaxConnectionReceiveWindow: connectionWindow,
		MaxIncomingStreams: -1, MaxIncomingUniStreams: -1,
	}
}

// identify looks at the certificate of whoever answers, within the handshake.
func (c *Conn) identify(cert certificate.Certificate) error {
	if want := c.cfg.Gate; !want.IsZero() && cert.Member() != want {
		return fmt.Errorf("%w: %v", ErrOtherGate, cert.Member())
	}
	c.gate = cert
	return c.cfg.Identify(cert)
}

// open says HELLO, and reads the gate's.
func (c *Conn) open(ctx context.Context) error {
	state := c.quic.ConnectionState().TLS
	value, err := state.ExportKeyingMaterial(wire.ExporterLabel, nil, permit.ExporterSize)
	if err != nil {
		return err
	}
	c.exporter = [permit.ExporterSize]byte(value)
	ctx, cancel := context.WithTimeout(ctx, greetTimeout)
	defer cancel()
	if c.control, err = c.quic.OpenStreamSync(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrLost, transport.CloseReason(err))
	}
	defer context.AfterFunc(ctx, func() { c.control.CancelRead(0) })()
	c.writing.Lock()
	defer c.writing.Unlock()
	has, _ := c.cfg.Revocations(math.MaxUint64)
	if err := c.write(&wire.Hello{
		Versions: [2]uint64{wire.Version, wire.Version}, Resource: c.cfg.Resource,
		Configuration: c.cfg.Group().Config().Version(), Revocations: has,
	}); err != nil {
		return err
	}
	f, err := wire.Read(c.control, nil)
	if err != nil {
		return c.readError(err)
	}
	hello, ok := f.(*wire.Hello)
	switch {
	case !ok:
		return fmt.Errorf("%w: no HELLO", ErrProtocol)
	case hello.Versions[0] > wire.Version || hello.Versions[1] < wire.Version:
		return fmt.Errorf("%w: %d to %d", ErrVersion, hello.Versions[0], hello.Versions[1])
	case hello.Resource != c.cfg.Resource:
		return fmt.Errorf("%w: %q", ErrResource, hello.Resource)
	}
	c.theirs.has = versions{hello.Configuration, hello.Revocations}
	return c.update()
}

// write writes one frame. It needs c.writing.
func (c *Conn) write(f wire.Frame) error {
	raw, err := wire.Append(nil, f)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	_ = c.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := c.control.Write(raw); err != nil {
		return fmt.Errorf("%w: %w", ErrLost, transport.CloseReason(err))
	}
	return nil
}

// update tells the gate what it lacks. It needs c.writing.
func (c *Conn) update() error {
	if g := c.cfg.Group(); g.Config().Version() > c.theirs.has.configuration {
		if err := c.write(&wire.Update{Configuration: g.Config().Raw(), Authorities: g.Vouchers()}); err != nil {
			return err
		}
		c.theirs.has.configuration = g.Config().Version()
	}
	version, list := c.cfg.Revocations(c.theirs.has.revocations)
	for version > c.theirs.has.revocations && len(list) > 0 {
		page := list[:min(len(list), wire.MaxRevocations)]
		list = list[len(page):]
		if err := c.write(&wire.Update{Revocations: page}); err != nil {
			return err
		}
	}
	c.theirs.has.revocations = max(c.theirs.has.revocations, version)
	return nil
}

// read reads the gate's frames until the connection ends.
func (c *Conn) read() {
	in := bufio.NewReader(c.control)
	for {
		f, err := wire.Read(in, nil)
		if err != nil {
			c.end(c.readError(err))
			return
		}
		switch f := f.(type) {
		case *wire.Answer:
			err = c.answered(f)
		case *wire.Targets:
			c.mu.Lock()
			c.targets = f.Names
			c.mu.Unlock()
		case *wire.Update:
			c.cfg.Learn(f.Configuration, f.Authorities, f.Revocations)
		case *wire.Hello:
			if c.greeting.CompareAndSwap(false, true) {
				c.workers.Go(func() { c.greeted(f) }) // not here: the gate may be writing too
			}
		default:
			err = fmt.Errorf("%w: a frame that only members write", ErrProtocol)
		}
		if err != nil {
			c.end(err)
			return
		}
	}
}

// greeted: the gate asks for what is newer.
func (c *Conn) greeted(f *wire.Hello) {
	defer c.greeting.Store(false)
	c.writing.Lock()
	defer c.writing.Unlock()
	c.theirs.asks(versions{f.Configuration, f.Revocations})
	if err := c.update(); err != nil {
		c.end(err)
	}
}

func (c *Conn) readError(err error) error {
	for _, broken := range []error{wire.ErrFrame, wire.ErrFrameSize, wire.ErrFrameType} {
		if errors.Is(err, broken) {
			return fmt.Errorf("%w: %w", ErrProtocol, err)
		}
	}
	return fmt.Errorf("%w: %w", ErrLost, transport.CloseReason(err))
}

// answered takes in an answer.
func (c *Conn) answered(f *wire.Answer) error {
	a, err := wire.ParseAnswer(c.group, f.Signed, c.gate.Key())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	c.mu.Lock()
	s := c.sessions[f.Number]
	c.mu.Unlock()
	if s == nil {
		return nil // it has ended
	}
	b := a.Body()
	if b.Number != f.Number || b.Exporter != c.exporter || b.Member != c.self || b.Title != s.title || b.Resource != c.cfg.Resource || b.Slot != s.slot {
		return fmt.Errorf("%w: an answer to somebody else", ErrProtocol)
	}
	if s.take(a) {
		c.mu.Lock()
		delete(c.sessions, f.Number)
		c.mu.Unlock()
	}
	return nil
}

// SignIn asks for a session of a length under a title, which the member must hold. The title before it is the one from which its transfer
// follows (the zero value at hop 0), and certificates gives those of the signers of both. Errors match ErrTooMany, ErrLost, ErrClosed, or those of
// package permit.
func (c *Conn) SignIn(title, before token.Title, certificates func(ident.Member) []byte, length time.Duration) (*Session, error) {
	form, err := permit.New(c.group, title, before, certificates).Encode()
	if err != nil {
		return nil, err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.update(); err != nil {
		c.end(err)
		return nil, err
	}
	b := permit.StatementOf(title)
	b.Gate, b.Exporter, b.Number = wire.KeyID(c.gate.Key()), c.exporter, c.number+1
	b.Configuration, b.Length = c.cfg.Group().Config().Version(), uint64(length/time.Millisecond)
	st, err := b.Sign(c.group, c.cfg.Key)
	if err != nil {
		return nil, err
	}
	s := &Session{conn: c, number: b.Number, slot: b.Slot, title: b.Title, answers: make(chan wire.SignedAnswer, answerRoom), ended: make(chan struct{})}
	if err := c.enter(s); err != nil {
		return nil, err
	}
	c.number++
	if err := c.write(&wire.SignIn{Number: b.Number, Permit: form, Statement: st.Raw()}); err != nil {
		c.end(err)
		return nil, err
	}
	return s, nil
}

func (c *Conn) enter(s *Session) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return c.err
	case len(c.sessions) >= maxSessions:
		return ErrTooMany
	}
	c.sessions[s.number] = s
	return nil
}

// Gate is the certificate that the gate has shown.
func (c *Conn) Gate() certificate.Certificate { return c.gate }

// observed reports whether the gate only observes, as far as the member knows.
func (c *Conn) observed() bool {
	for _, r := range c.cfg.Group().Config().Settings().Resources {
		if r.Name == c.cfg.Resource {
			return r.Gate.Mode == group.Observe
		}
	}
	return false
}

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err is why the connection has ended, and nil while it lasts: ErrLost, ErrClosed, ErrProtocol and others.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection, and all sessions with it: the gate closes them as lost. It waits for all goroutines.
func (c *Conn) Close() error {
	c.end(ErrClosed)
	c.workers.Wait()
	return nil
}

// end ends the connection for a reason.
func (c *Conn) end(why error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = why
	left := c.sessions
	c.sessions = nil
	c.mu.Unlock()
	code := transport.CodeNormal
	if errors.Is(why, ErrProtocol) {
		code = transport.CodeProtocol
	}
	c.quic.CloseWithError(quic.ApplicationErrorCode(code), "")
	for _, s := range left {
		s.lose()
	}
	close(c.done)
}
