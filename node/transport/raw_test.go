package transport

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/require"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// raw is a peer made of plain quic-go, which does as the test wants.
type raw struct {
	t    testing.TB
	quic *quic.Transport
	tls  *tls.Config
	conf quic.Config
	said uint64 // preambles
}

func newRaw(t testing.TB, conn net.PacketConn, certs ...tls.Certificate) *raw {
	r := &raw{t: t, quic: &quic.Transport{Conn: conn}, tls: &tls.Config{
		Certificates: certs, NextProtos: []string{ALPN}, MinVersion: tls.VersionTLS13,
		ClientAuth: tls.RequestClientCert, InsecureSkipVerify: true,
	}}
	t.Cleanup(func() { r.quic.Close(); conn.Close() })
	return r
}

// dial makes a handshake with n as the client sees it, and opens the stream.
func (r *raw) dial(n *node) (*quic.Conn, *quic.Stream, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	q, err := r.quic.Dial(ctx, n.Addr(), r.tls, &r.conf)
	if err != nil {
		return nil, nil, err
	}
	s, err := q.OpenStreamSync(ctx)
	return q, s, err
}

// member dials n and exchanges preambles.
func (r *raw) member(n *node) (*quic.Conn, *quic.Stream) {
	q, s, err := r.dial(n)
	require.NoError(r.t, err)
	r.said++
	body := must(preamble{Process: process{1}, Ordinal: r.said}.encode())
	_, err = s.Write(wire.AppendFrame(nil, body))
	require.NoError(r.t, err)
	answer, err := wire.ReadFrame(s, nil)
	require.NoError(r.t, err)
	_, err = parsePreamble(answer)
	require.NoError(r.t, err)
	return q, s
}

// closedWith waits for the end of q and returns the application error code.
func closedWith(t testing.TB, q *quic.Conn) Code {
	t.Helper()
	<-q.Context().Done()
	app, ok := errors.AsType[*quic.ApplicationError](context.Cause(q.Context()))
	require.True(t, ok, "closed by %v", context.Cause(q.Context()))
	return Code(app.ErrorCode)
}

// mute enters a member into the book that shakes hands and then says nothing.
func (b *bubble) mute(name string) ident.Member {
	key, cert := b.member(b.t, name, nil)
	socket := b.net.socket()
	r := newRaw(b.t, socket, *must(tlsCertificate(key, cert, nil)))
	l, err := r.quic.Listen(r.tls, &quic.Config{})
	require.NoError(b.t, err)
	b.t.Cleanup(func() { l.Close() })
	b.book.set(cert.Member(), socket.LocalAddr().String())
	return cert.Member()
}

// shortLived is a member whose certificate ends so soon.
func (g *testGroup) shortLived(t testing.TB, name string, life time.Duration) (*signature.PrivateKey, certificate.Certificate) {
	return g.member(t, name, func(c *certificate.Claims) { c.NotAfter = g.now.Add(life) })
}

// forge makes a TLS certificate with this key and, unless it is nil, this
// value in the member extension.
func forge(t testing.TB, key ed25519.PrivateKey, value []byte) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "wander"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0),
	}
	if value != nil {
		template.ExtraExtensions = []pkix.Extension{{Id: CertificateOID, Value: value}}
	}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func octets(b []byte) []byte { return must(asn1.Marshal(b)) }

func seedKey(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}
