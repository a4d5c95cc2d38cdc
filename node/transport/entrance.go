package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// secretCurves are the key exchanges where what travels may be worth keeping for a quantum computer: the bytes of a resource, other
// than the frames between members.
var secretCurves = []tls.CurveID{tls.X25519MLKEM768, tls.X25519}

// EntranceConfig says what an entrance needs: the fields have the meanings of those of Config. Protocol and QUIC are those of what is
// spoken behind it.
type EntranceConfig struct {
	Conn        net.PacketConn
	Protocol    string // ALPN
	QUIC        *quic.Config
	Group       ident.Group
	Certificate certificate.Certificate
	Key         *signature.PrivateKey
	Authorities certificate.Authorities
	Vouchers    [][]byte
	Vouched     func(statements [][]byte)
	ResetKey    [32]byte
	Now         func() time.Time
	Log         *slog.Logger
}

// Entrance lets parties of a group in by their certificates, as a Transport does, and leaves to its user what they then
// say: another protocol, on QUIC connections of its own. Handshakes are admitted with the same limits. All methods are safe for
// concurrent use.
type Entrance struct {
	cfg       EntranceConfig
	lobby     lobby
	tlsCert   atomic.Pointer[tls.Certificate]
	withdrawn atomic.Uint64
	quic      *quic.Transport
	listener  *quic.Listener
	closed    atomic.Bool
}

// OpenEntrance listens on cfg.Conn, which the entrance owns once this has succeeded. The errors match ErrConfig, or are those
// of the socket.
func OpenEntrance(cfg EntranceConfig) (*Entrance, error) {
	if cfg.Conn == nil || cfg.Key == nil || cfg.Authorities == nil || cfg.QUIC == nil || cfg.Protocol == "" {
		return nil, fmt.Errorf("%w: an entrance without socket, key, authorities or protocol", ErrConfig)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	start := time.Now()
	e := &Entrance{cfg: cfg}
	var l limits
	l.fill()
	e.lobby = lobby{
		gate: newGate(l, 0), verify: newVerifier(cfg.Group, cfg.Authorities, cfg.Now), tlsCert: &e.tlsCert, notices: newNotices(cfg.Log),
		withdrawn: &e.withdrawn, now: func() time.Duration { return time.Since(start) }, closing: e.closed.Load, protocols: []string{cfg.Protocol}, curves: secretCurves,
	}
	e.lobby.verify.self = cfg.Certificate.Member()
	if cfg.Vouched != nil {
		e.lobby.verify.vouched = cfg.Vouched
	}
	if err := e.SetCertificate(cfg.Certificate, cfg.Vouchers); err != nil {
		return nil, err
	}
	resetKey := quic.StatelessResetKey(cfg.ResetKey)
	e.quic = &quic.Transport{
		Conn: quiet(cfg.Conn), StatelessResetKey: &resetKey,
		VerifySourceAddress: func(net.Addr) bool { return e.lobby.gate.busy() },
		ConnContext:         e.lobby.admit,
	}
	defer silenced()()
	var err error
	e.listener, err = e.quic.Listen(e.lobby.serverTLS(), cfg.QUIC)
	return e, err
}

// SetCertificate presents another certificate from the next handshake on, as Transport.SetCertificate does.
func (e *Entrance) SetCertificate(cert certificate.Certificate, vouchers [][]byte) error {
	c, err := tlsCertificate(e.cfg.Key, cert, vouchers)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	e.tlsCert.Store(c)
	return nil
}

// SetAuthorities makes these the CA keys that count from the next handshake on. Not nil.
func (e *Entrance) SetAuthorities(cas certificate.Authorities) { e.lobby.verify.trust(cas) }

// Accept returns the next connection whose handshake has succeeded, and whose it is.
func (e *Entrance) Accept(ctx context.Context) (*quic.Conn, certificate.Certificate, error) {
	q, err := e.listener.Accept(ctx)
	if err != nil {
		return nil, certificate.Certificate{}, err
	}
	a := q.Context().Value(admissionKey{}).(*admission)
	a.done()
	return q, a.cert, nil
}

// Addr is the local address of the socket.
func (e *Entrance) Addr() net.Addr { return e.cfg.Conn.LocalAddr() }

// Refused counts what was turned away in handshakes, by class.
func (e *Entrance) Refused() map[string]uint64 { return e.lobby.notices.snapshot() }

// Close ends every connection, and closes the socket.
func (e *Entrance) Close() error {
	e.closed.Store(true)
	return errors.Join(e.listener.Close(), e.quic.Close(), e.cfg.Conn.Close())
}

// ClientTLS is the TLS side of a dialler to the entrance of a gate, which shows its certificate. Identify is called with the verified
// certificate of the gate that answers, and refuses it by an error. The refusals of the handshake are those of errors.go.
func ClientTLS(cfg EntranceConfig, identify func(certificate.Certificate) error) (*tls.Config, error) {
	own, err := tlsCertificate(cfg.Key, cfg.Certificate, cfg.Vouchers)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	v := newVerifier(cfg.Group, cfg.Authorities, cfg.Now)
	v.self, v.read = cfg.Certificate.Member(), certificate.ParseGate
	if cfg.Vouched != nil {
		v.vouched = cfg.Vouched
	}
	conf := baseTLS(cfg.Protocol)
	conf.CurvePreferences = secretCurves
	conf.InsecureSkipVerify = true // X.509 says nothing here: VerifyConnection looks at what counts
	conf.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return own, nil }
	conf.VerifyConnection = func(s tls.ConnectionState) error {
		cert, err := v.identify(s.PeerCertificates)
		if err != nil {
			return err
		}
		return identify(cert)
	}
	return conf, nil
}

// Dial connects to an address from a socket of its own, which is closed with the connection. Errors are those of CloseReason.
func Dial(ctx context.Context, address string, tlsConf *tls.Config, conf *quic.Config) (*quic.Conn, error) {
	defer silenced()()
	q, err := quic.DialAddr(ctx, address, tlsConf, conf)
	if err != nil {
		return nil, closeReason(err)
	}
	return q, nil
}

// CloseReason turns what QUIC says about a dial that failed, or about a connection's end, into this package's errors.
func CloseReason(err error) error { return closeReason(err) }
