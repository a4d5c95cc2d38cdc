package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"

	"github.com/quic-go/quic-go"
	"github.com/wandertoken/wander/protocol/certificate"
)

// admission is an inbound handshake in progress.
type admission struct {
	t       *Transport
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
func (t *Transport) admit(ctx context.Context, info *quic.ClientInfo) (context.Context, error) {
	leave, ok := t.gate.enter(t.now(), addressOf(info.RemoteAddr))
	if !ok {
		t.notices.note(errRate, "remote", info.RemoteAddr)
		return nil, errRate
	}
	a := &admission{t: t, remote: info.RemoteAddr, leave: leave}
	a.failed = context.AfterFunc(ctx, func() { a.refused(context.Cause(ctx)) })
	return context.WithValue(ctx, admissionKey{}, a), nil
}

// done ends the admission of a connection whose handshake has succeeded.
func (a *admission) done() {
	a.failed()
	a.left.Do(a.leave)
	a.t.gate.meets(a.cert.Member(), addressOf(a.remote))
}

// refused ends the admission of a connection whose handshake has failed.
func (a *admission) refused(err error) {
	a.left.Do(a.leave)
	if a.t.ctx.Err() != nil {
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
			a.t.counters.withdrawn.Add(1)
			a.t.notices.log.Debug("connection withdrawn by its dialler", "remote", a.remote, "reason", closeReason(err))
			return
		}
		a.t.notices.note(kind, append(attrs, "remote", a.remote, "error", err)...)
	})
}

// serverTLS asks the client for a certificate, and checks it together with its
// absence in VerifyConnection, which always runs.
func (t *Transport) serverTLS() *tls.Config {
	base := t.baseTLS()
	base.ClientAuth = tls.RequestClientCert
	base.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return t.tlsCert.Load(), nil }
	base.VerifyConnection = func(tls.ConnectionState) error { return ErrHandshake }
	base.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		a, ok := hello.Context().Value(admissionKey{}).(*admission)
		if !ok {
			return nil, errors.New("handshake without admission")
		}
		conf := base.Clone()
		conf.GetConfigForClient = nil
		conf.VerifyConnection = func(s tls.ConnectionState) (err error) {
			a.cert, err = t.verify.identify(s.PeerCertificates)
			return err
		}
		return conf, nil
	}
	return base
}
