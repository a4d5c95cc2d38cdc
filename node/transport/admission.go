package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/wandertoken/wander/protocol/certificate"
)

// lobby admits inbound handshakes, and identifies who makes them.
type lobby struct {
	gate      *gate
	verify    *verifier
	tlsCert   *atomic.Pointer[tls.Certificate]
	notices   *notices
	withdrawn *atomic.Uint64
	now       func() time.Duration
	closing   func() bool
	protocols []string      // ALPN
	curves    []tls.CurveID // nil: those of baseTLS
}

// admission is an inbound handshake in progress.
type admission struct {
	lobby   *lobby
	remote  net.Addr
	leave   func()                  // gives its place back
	cert    certificate.Certificate // once it has been verified
	left    sync.Once
	failed  func() bool // stops the watch for the handshake's failure
	counted sync.Once   // that it has ended, and why
}

type admissionKey struct{}

// admit is quic-go's ConnContext: it is asked for each inbound connection
// before anything is spent on it.
func (l *lobby) admit(ctx context.Context, info *quic.ClientInfo) (context.Context, error) {
	leave, ok := l.gate.enter(l.now(), addressOf(info.RemoteAddr))
	if !ok {
		l.notices.note(errRate, "remote", info.RemoteAddr)
		return nil, errRate
	}
	a := &admission{lobby: l, remote: info.RemoteAddr, leave: leave}
	a.failed = context.AfterFunc(ctx, func() { a.refused(context.Cause(ctx)) })
	return context.WithValue(ctx, admissionKey{}, a), nil
}

// done ends the admission of a connection whose handshake has succeeded.
func (a *admission) done() {
	a.failed()
	a.left.Do(a.leave)
	a.lobby.gate.meets(a.cert.Member(), addressOf(a.remote))
}

// refused ends the admission of a connection whose handshake has failed.
func (a *admission) refused(err error) {
	a.left.Do(a.leave)
	if a.lobby.closing() {
		return // shutting down
	}
	kind := refusalOf(err)
	if kind == nil {
		kind = ErrHandshake
	}
	a.ended(kind, err, "side", "inbound")
}

// ended counts an inbound connection that ended before it was used: as an event of
// this kind, or, when its dialler withdrew it, apart from what this member refused. Of
// one that ends while its handshake does, two goroutines may learn: it counts once.
func (a *admission) ended(kind, err error, attrs ...any) {
	a.counted.Do(func() {
		if refusalOf(err) == nil && withdrawn(err) {
			a.lobby.withdrawn.Add(1)
			a.lobby.notices.log.Debug("connection withdrawn by its dialler", "remote", a.remote, "reason", closeReason(err))
			return
		}
		a.lobby.notices.note(kind, append(attrs, "remote", a.remote, "error", err)...)
	})
}

// serverTLS asks the client for a certificate, and checks it together with its
// absence in VerifyConnection, which always runs.
func (l *lobby) serverTLS() *tls.Config {
	base := baseTLS(l.protocols...)
	if l.curves != nil {
		base.CurvePreferences = l.curves
	}
	base.ClientAuth = tls.RequestClientCert
	base.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return l.tlsCert.Load(), nil }
	base.VerifyConnection = func(tls.ConnectionState) error { return ErrHandshake }
	base.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		a, ok := hello.Context().Value(admissionKey{}).(*admission)
		if !ok {
			return nil, errors.New("handshake without admission")
		}
		conf := base.Clone()
		conf.GetConfigForClient = nil
		conf.VerifyConnection = func(s tls.ConnectionState) (err error) {
			a.cert, err = l.verify.identify(s.PeerCertificates)
			return err
		}
		return conf, nil
	}
	return base
}
