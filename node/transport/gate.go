package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/wandertoken/wander/protocol/certificate"
)

// bucket is a token bucket. It is not safe for concurrent use.
type bucket struct {
	rate, burst float64 // tokens per second; at most
	tokens      float64
	last        time.Duration
}

func newBucket(rate, burst float64, now time.Duration) bucket {
	return bucket{rate: rate, burst: burst, tokens: burst, last: now}
}

func (b *bucket) refill(now time.Duration) {
	if now > b.last {
		b.tokens = min(b.burst, b.tokens+(now-b.last).Seconds()*b.rate)
		b.last = now
	}
}

// take takes one token, or reports false when there is none.
func (b *bucket) take(now time.Duration) bool {
	b.refill(now)
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// debt takes n tokens, there or not, and returns how long it is until none is
// owed.
func (b *bucket) debt(n float64, now time.Duration) time.Duration {
	b.refill(now)
	b.tokens -= n
	if b.tokens >= 0 {
		return 0
	}
	return time.Duration(-b.tokens / b.rate * float64(time.Second))
}

// gate counts the inbound handshakes under way and limits how many begin.
type gate struct {
	mu       sync.Mutex
	bucket   bucket
	underWay int
}

func (g *gate) enter(now time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.underWay >= MaxHandshakes || !g.bucket.take(now) {
		return false
	}
	g.underWay++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	g.underWay--
	g.mu.Unlock()
}

func (g *gate) pending() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.underWay
}

// busy reports whether new handshakes must prove their address first.
func (g *gate) busy() bool { return g.pending() >= RetryAbove }

// admission is an inbound handshake under way.
type admission struct {
	t       *Transport
	remote  net.Addr
	cert    certificate.Certificate // once it has been verified
	left    sync.Once
	failed  func() bool // stops the watch for the handshake's failure
	counted sync.Once   // that it has ended, and why
}

type admissionKey struct{}

// admit is quic-go's ConnContext: it is asked for each inbound connection
// before anything is spent on it.
func (t *Transport) admit(ctx context.Context, info *quic.ClientInfo) (context.Context, error) {
	if !t.gate.enter(time.Since(t.start)) {
		t.notices.note(errRate, "remote", info.RemoteAddr)
		return nil, errRate
	}
	a := &admission{t: t, remote: info.RemoteAddr}
	a.failed = context.AfterFunc(ctx, func() { a.refused(context.Cause(ctx)) })
	return context.WithValue(ctx, admissionKey{}, a), nil
}

// done ends the admission of a connection whose handshake has succeeded.
func (a *admission) done() {
	a.failed()
	a.left.Do(a.t.gate.leave)
}

// refused ends the admission of a connection whose handshake has failed.
func (a *admission) refused(err error) {
	a.left.Do(a.t.gate.leave)
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
