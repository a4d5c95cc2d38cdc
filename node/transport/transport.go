package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// Transport keeps this member's connections. All methods are safe for
// concurrent use.
//
// Locks: peer.call is taken before peer.mu, peer.mu before Transport.mu, and
// no handler is called with one of the latter two held.
type Transport struct {
	cfg     Config
	self    ident.Member
	process process
	ordinal atomic.Uint64 // of the last preamble written
	verify  *verifier
	tlsCert atomic.Pointer[tls.Certificate]

	quic     *quic.Transport
	listener *quic.Listener // nil when DialOnly
	gate     *gate
	lobby    *lobby
	dials    chan struct{} // a slot for each outbound handshake

	ctx    context.Context // ends when Close begins
	cancel context.CancelFunc
	wg     sync.WaitGroup
	start  time.Time

	counters counters
	notices  *notices
	backs    *backs
	queued   atomic.Int64 // bytes in all queues
	patience atomic.Int64 // Config.Silence, as it is now
	watches  watches
	swept    atomic.Int64  // when the last look at the connections began, nanoseconds since the start
	awake    chan struct{} // the process is awake, and the next look is due soon; see wakes

	mu      sync.Mutex
	peers   map[ident.Member]*peer
	closing bool    // no new work from callers
	stopped bool    // no new goroutines
	conns   int     // connections in use
	dirty   []*peer // with frames that Queue has kept
	spare   []*peer // empty, for dirty
}

// Open starts a transport on cfg.Conn. The errors match ErrConfig, or are
// those of the socket.
func Open(cfg Config) (*Transport, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	t := &Transport{
		cfg:     cfg,
		self:    cfg.Certificate.Member(),
		notices: newNotices(cfg.Log),
		peers:   make(map[ident.Member]*peer),
		dials:   make(chan struct{}, MaxDials),
		awake:   make(chan struct{}, 1),
		start:   time.Now(),
	}
	t.backs = newBacks(t)
	t.patience.Store(int64(cfg.Silence))
	t.verify = newVerifier(cfg.Group, cfg.Authorities, cfg.Now)
	t.verify.self, t.verify.vouched = t.self, cfg.Vouched
	t.gate = newGate(cfg.limits, 0)
	if _, err := io.ReadFull(cfg.Rand, t.process[:]); err != nil {
		return nil, fmt.Errorf("process identity: %w", err)
	}
	if err := t.SetCertificate(cfg.Certificate, cfg.Vouchers); err != nil {
		return nil, err
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.lobby = &lobby{
		gate: t.gate, verify: t.verify, tlsCert: &t.tlsCert, notices: t.notices, withdrawn: &t.counters.withdrawn,
		now: t.now, closing: func() bool { return t.ctx.Err() != nil }, protocols: []string{ALPN, backALPN},
	}
	if err := t.listen(); err != nil {
		t.cancel()
		return nil, err
	}
	t.spawn(t.sweepLoop)
	if t.listener != nil {
		t.spawn(t.acceptLoop)
	}
	return t, nil
}

// SetAuthorities makes these the CA keys that count from the next handshake on.
// Open connections with members whose newest certificates (Config.Newest) are
// signed by another are closed within a second or two. Not nil.
func (t *Transport) SetAuthorities(cas certificate.Authorities) { t.verify.trust(cas) }

// SetCertificate presents another certificate from the next handshake on: a
// renewed one, or the same with other vouchers (Config.Vouchers; at most about
// 4 kB). It must be for the same member, or the error matches ErrConfig.
func (t *Transport) SetCertificate(cert certificate.Certificate, vouchers [][]byte) error {
	if cert.Member() != t.self || cert.Key() == nil || !cert.Key().Equal(t.cfg.Key.Public()) {
		return fmt.Errorf("%w: certificate is not for this member and key", ErrConfig)
	}
	c, err := tlsCertificate(t.cfg.Key, cert, vouchers)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	t.tlsCert.Store(c)
	return nil
}

// silenceVariable is the switch of quic-go for its warning about small receive
// buffers. The warning is about bulk transfers: what waits here is a few
// packets, and QUIC sends again what the kernel drops. It also goes to the
// standard logger, past ours.
const silenceVariable = "QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING"

// silenced sets the switch, and returns how to put it back.
func silenced() (back func()) {
	if _, set := os.LookupEnv(silenceVariable); set {
		return func() {}
	}
	os.Setenv(silenceVariable, "true")
	return func() { os.Unsetenv(silenceVariable) }
}

func (t *Transport) listen() error {
	resetKey := quic.StatelessResetKey(t.cfg.ResetKey)
	t.quic = &quic.Transport{
		Conn:                quiet(t.cfg.Conn),
		StatelessResetKey:   &resetKey,
		VerifySourceAddress: func(net.Addr) bool { return t.gate.busy() },
		ConnContext:         t.lobby.admit,
	}
	defer silenced()()
	if t.cfg.DialOnly {
		// Nothing is sent: this only makes quic-go take the socket over now, as
		// it does when listening.
		_, err := t.quic.WriteTo(nil, t.cfg.Conn.LocalAddr())
		return err
	}
	var err error
	t.listener, err = t.quic.Listen(t.lobby.serverTLS(), quicConfig(0))
	return err
}

// quicConfig is how QUIC runs; the reasons are in limits.go. Datagrams, 0-RTT,
// unidirectional streams and more than one stream are off, and so is the search for
// larger packets: it takes ten packets on each side of a new connection, which is more
// than most connections carry. The dialler sends keep-alives, which is enough; an
// acceptor has 0.
func quicConfig(keepAlive time.Duration) *quic.Config {
	c := &quic.Config{
		Versions:                       []quic.Version{quic.Version1},
		HandshakeIdleTimeout:           HandshakeTimeout,
		MaxIdleTimeout:                 QuietTimeout,
		KeepAlivePeriod:                keepAlive,
		InitialStreamReceiveWindow:     streamWindow,
		MaxStreamReceiveWindow:         maxStreamWindow,
		InitialConnectionReceiveWindow: streamWindow,
		MaxConnectionReceiveWindow:     maxStreamWindow,
		MaxIncomingStreams:             -1,
		MaxIncomingUniStreams:          -1,
		DisablePathMTUDiscovery:        true,
	}
	if keepAlive == 0 {
		c.MaxIncomingStreams = 1
	}
	return c
}

// keepAlive is for how long nothing may come on a connection that this member has
// dialled before it sends a keep-alive.
func (t *Transport) keepAlive() time.Duration {
	if t.cfg.DialOnly {
		return KeepAliveOut
	}
	return KeepAlive
}

// baseTLS has what both sides of a handshake share. Session tickets are off: a
// resumed session would skip the checks. The key exchange is X25519 without
// ML-KEM: what travels is signed and meant to be shown, so that nobody gains
// from keeping it for a quantum computer, while ML-KEM costs 15 % of a
// handshake's processor time and a second datagram for ClientHello.
func baseTLS(protocols ...string) *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		NextProtos:             protocols,
		SessionTicketsDisabled: true,
		CurvePreferences:       []tls.CurveID{tls.X25519},
	}
}

// Addr is the local address of the socket.
func (t *Transport) Addr() net.Addr { return t.cfg.Conn.LocalAddr() }

// Self is this member's id.
func (t *Transport) Self() ident.Member { return t.self }

// spawn runs f on a goroutine that Close waits for, or reports false when the
// transport has stopped.
func (t *Transport) spawn(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return false
	}
	t.wg.Go(f)
	return true
}

// now looks at the clock: the time since start.
func (t *Transport) now() time.Duration {
	return time.Since(t.start)
}

// lock returns the peer with this id, locked, and makes it when it is not
// there; nil when the transport is closing.
func (t *Transport) lock(id ident.Member) *peer {
	for {
		t.mu.Lock()
		if t.closing {
			t.mu.Unlock()
			return nil
		}
		p := t.peers[id]
		if p == nil {
			p = &peer{t: t, id: id}
			t.peers[id] = p
		}
		t.mu.Unlock()
		p.mu.Lock()
		if !p.gone {
			return p
		}
		p.mu.Unlock()
	}
}

// allPeers is a copy of the list of peers.
func (t *Transport) allPeers() []*peer {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]*peer, 0, len(t.peers))
	for _, p := range t.peers {
		all = append(all, p)
	}
	return all
}

// Stats is a snapshot of the counters. Counters that change meanwhile may be
// from slightly different moments.
func (t *Transport) Stats() Stats {
	c := &t.counters
	s := Stats{
		Handshakes: t.gate.pending(), Queued: t.queued.Load(),
		Accepted: c.accepted.Load(), Dialled: c.dialled.Load(),
		DialFailures: c.dialFailures.Load(), Surplus: c.surplus.Load(),
		Replaced: c.replaced.Load(), Moved: c.moved.Load(), IdleClosed: c.idleClosed.Load(), Lapsed: c.lapsed.Load(),
		FramesReceived: c.framesReceived.Load(), BytesReceived: c.bytesReceived.Load(),
		FramesSent: c.framesSent.Load(), BytesSent: c.bytesSent.Load(),
		DroppedCustody: c.dropped[Custody].Load(), DroppedRest: c.dropped[Rest].Load(),
		Hints:     Hints{c.hintsConfirmed.Load(), c.hintsRefuted.Load(), c.hintsIgnored.Load()},
		Throttled: c.throttled.Load(), Withdrawn: c.withdrawn.Load(), Refused: t.notices.snapshot(),
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s.Connections, s.Peers = t.conns, len(t.peers)
	return s
}

// Close ends every connection with CodeShuttingDown, after what has been sent
// has arrived or Linger has passed, closes the socket and waits for every
// goroutine. After it no handler is called. It must not be called from a
// handler.
func (t *Transport) Close() error {
	t.mu.Lock()
	if t.closing {
		t.mu.Unlock()
		t.wg.Wait()
		return nil
	}
	t.closing = true
	t.mu.Unlock()
	t.cancel()
	t.watches.close()
	if t.listener != nil {
		t.listener.Close()
	}
	var last sync.WaitGroup
	for _, p := range t.allPeers() {
		last.Go(func() { p.shutDown() })
	}
	last.Wait()
	t.mu.Lock()
	t.stopped = true
	t.mu.Unlock()
	err := t.quic.Close()
	if e := t.cfg.Conn.Close(); err == nil {
		err = e
	}
	t.wg.Wait()
	return err
}
