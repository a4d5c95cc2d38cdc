package transport

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// stranger is somebody who is to be refused, and why.
type stranger struct {
	name string
	cert *tls.Certificate // nil: none
	want error
}

func strangers(t *testing.T, g *testGroup) []stranger {
	t.Helper()
	own := func(name string, change func(*certificate.Claims)) *tls.Certificate {
		key, cert := g.member(t, name, change)
		return must(tlsCertificate(key, cert, nil))
	}
	forged := func(value []byte) *tls.Certificate { c := forge(t, seedKey("stranger"), value); return &c }
	_, victim := g.member(t, "victim", nil)
	other := newGroup(t, "other")
	otherKey, otherCert := other.member(t, "member", nil)
	impostor := &testGroup{id: g.id, ca: keyFromSeed(t, "impostor"), now: g.now}
	impostorKey, impostorCert := impostor.member(t, "member", nil)
	altered := append([]byte(nil), victim.Raw()...)
	altered[len(altered)-1] ^= 1
	return []stranger{
		{"no certificate", nil, ErrNoCertificate},
		{"self-made, without extension", forged(nil), ErrNotMember},
		{"not an Ed25519 key", ecdsaCertificate(t), ErrNotMember},
		{"two certificates", twice(forged(octets(victim.Raw()))), ErrNotMember},
		{"extension is no DER", forged([]byte{1, 2, 3}), ErrCertificate},
		{"extension with something behind it", forged(append(octets(victim.Raw()), 0)), ErrCertificate},
		{"extension is no COSE", forged(octets([]byte("hello"))), ErrCertificate},
		{"extension is large", forged(octets(make([]byte, maxExtension))), ErrCertificate},
		{"altered member certificate", forged(octets(altered)), ErrCertificate},
		{"somebody else's certificate", forged(octets(victim.Raw())), ErrKeyMismatch},
		{"member of another group", must(tlsCertificate(otherKey, otherCert, nil)), ErrOtherGroup},
		{"right group, wrong CA", must(tlsCertificate(impostorKey, impostorCert, nil)), ErrOtherGroup},
		{"expired", own("late", func(c *certificate.Claims) { c.NotAfter = g.now }), ErrExpired},
		{"not yet valid", own("early", func(c *certificate.Claims) { c.NotBefore = g.now.Add(time.Second) }), ErrNotYetValid},
		{"gate of the group", own("gate", func(c *certificate.Claims) { c.Role = certificate.GateRole }), ErrCertificate},
		{"this member itself", own("a", nil), ErrSelf},
	}
}

func twice(c *tls.Certificate) *tls.Certificate {
	c.Certificate = append(c.Certificate, c.Certificate[0])
	return c
}

func ecdsaCertificate(t *testing.T) *tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// TestStranger_Dials_Refused dials a member as each of the strangers, several
// times: the handshake fails, nothing of what they write reaches the handler,
// each attempt is counted and the first is logged.
func TestStranger_Dials_Refused(t *testing.T) {
	g := newGroup(t, "g")
	for _, s := range strangers(t, g) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			const attempts = 3
			a := g.open(t, newBook(), loopback(t), "a", nil)
			r := newRaw(t, loopback(t))
			if s.cert != nil {
				r.tls.Certificates = []tls.Certificate{*s.cert}
			}
			for range attempts {
				err := refusedDial(t, r, a)
				var tr *quic.TransportError
				require.ErrorAs(t, err, &tr)
				require.True(t, tr.Remote && tr.ErrorCode.IsCryptoError(), "%v", err)
			}
			await.Until(t, "all are counted", func() bool { return a.Stats().Refused[s.want.Error()] == attempts })
			await.Until(t, "one is logged", func() bool { return a.log.lines(s.want.Error()) == 1 })
			for class, n := range a.Stats().Refused {
				assert.True(t, n == 0 || class == s.want.Error(), class)
			}
			assert.Empty(t, a.all())
			assert.Zero(t, a.Stats().Handshakes)
			assert.Zero(t, a.Stats().Connections)
		})
	}
}

// refusedDial dials, writes a frame at once and returns why the connection
// ended. The TLS 1.3 client has finished before the server sees its
// certificate, so that the refusal may come as the end of a connection.
func refusedDial(t *testing.T, r *raw, n *node) error {
	q, s, err := r.dial(n)
	if err != nil {
		return err
	}
	s.Write([]byte{0, 0, 0, 1, 0x80})
	<-q.Context().Done()
	return context.Cause(q.Context())
}

// TestStranger_Dialled_NothingSent lets a member dial each of the strangers.
func TestStranger_Dialled_NothingSent(t *testing.T) {
	g := newGroup(t, "g")
	for _, s := range strangers(t, g) {
		if s.cert == nil {
			continue // a TLS server has a certificate
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			b := newBook()
			a := g.open(t, b, loopback(t), "a", nil)
			_, z := g.member(t, "z", nil)
			r := newRaw(t, loopback(t), *s.cert)
			l, err := r.quic.Listen(r.tls, &quic.Config{})
			require.NoError(t, err)
			defer l.Close()
			b.set(z.Member(), r.quic.Conn.LocalAddr().String())
			a.Send(z.Member(), Custody, []byte("secret"))
			require.ErrorIs(t, a.wait(kind("unreachable"), 1).err, s.want)
			assert.Equal(t, uint64(1), a.Stats().Refused[s.want.Error()])
			assert.Equal(t, 1, a.log.lines(s.want.Error()))
			assert.Zero(t, a.count(kind("connected")))
			assert.Zero(t, a.Stats().FramesSent)
		})
	}
}

func TestDial_AnotherMemberAnswers_Refused(t *testing.T) {
	g, b := newGroup(t, "g"), newBook()
	a := g.open(t, b, loopback(t), "a", nil)
	z := g.open(t, b, loopback(t), "z", nil)
	_, wanted := g.member(t, "wanted", nil)
	b.set(wanted.Member(), z.Addr().String())
	a.Send(wanted.Member(), Custody, []byte("for somebody else"))
	require.ErrorIs(t, a.wait(kind("unreachable"), 1).err, ErrWrongMember)
	assert.Zero(t, z.count(kind("frame")))
}

func TestDial_OtherProtocol_Refused(t *testing.T) {
	g := newGroup(t, "g")
	a := g.open(t, newBook(), loopback(t), "a", nil)
	key, cert := g.member(t, "z", nil)
	r := newRaw(t, loopback(t), *must(tlsCertificate(key, cert, nil)))
	r.tls.NextProtos = []string{"wander/2"}
	require.Error(t, refusedDial(t, r, a))
	await.Until(t, "it is counted", func() bool { return a.Stats().Refused[ErrHandshake.Error()] == 1 })
}

func TestDialAddress(t *testing.T) {
	g, b := newGroup(t, "g"), newBook()
	a := g.open(t, b, loopback(t), "a", nil)
	z := g.open(t, b, loopback(t), "z", nil)
	ctx := context.Background()

	id, err := a.DialAddress(ctx, z.Addr().String())
	require.NoError(t, err)
	require.Equal(t, z.Self(), id)
	id, err = a.DialAddress(ctx, z.Addr().String())
	require.NoError(t, err, "again")
	require.Equal(t, z.Self(), id)
	assert.Equal(t, 1, a.Stats().Connections)
	assert.Equal(t, uint64(1), a.Stats().Surplus)

	_, err = a.DialAddress(ctx, a.Addr().String())
	require.ErrorIs(t, err, ErrSelf)
	for _, bad := range []string{"", "nowhere", "127.0.0.1", "127.0.0.1:http", "127.0.0.1:70000"} {
		_, err = a.DialAddress(ctx, bad)
		require.ErrorIs(t, err, ErrNoAddress, bad)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	_, err = a.DialAddress(stopped, z.Addr().String())
	require.Error(t, err)
}

func TestDial_ManyAddresses_InOrder(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		_, cert := b.member(t, "z", nil)
		dead, live := b.net.socket(), b.net.socket()
		a := b.node("a", func(c *Config) {
			c.Addresses = func(ident.Member) []string {
				return []string{"not an address", dead.LocalAddr().String(), live.LocalAddr().String()}
			}
		})
		z := b.open(t, b.book, live, "z", nil)
		took := since(func() {
			a.Send(cert.Member(), Custody, []byte("x"))
			z.wait(frame("x"), 1)
		})
		assert.Greater(t, took, HandshakeTimeout)
		assert.Less(t, took, HandshakeTimeout+time.Second)
		assert.Zero(t, a.count(kind("unreachable")))
	})
}

func TestConfig_Invalid_Refused(t *testing.T) {
	g := newGroup(t, "g")
	key, cert := g.member(t, "a", nil)
	_, other := g.member(t, "b", nil)
	conn := loopback(t)
	defer conn.Close()
	good := func() Config {
		return Config{Conn: conn, Group: g.id, Authorities: g, Certificate: cert, Key: key, Handler: newRecorder()}
	}
	for name, spoil := range map[string]func(*Config){
		"no socket":             func(c *Config) { c.Conn = nil },
		"no key":                func(c *Config) { c.Key = nil },
		"no authorities":        func(c *Config) { c.Authorities = nil },
		"no handler":            func(c *Config) { c.Handler = nil },
		"no certificate":        func(c *Config) { c.Certificate = certificate.Certificate{} },
		"another's certificate": func(c *Config) { c.Certificate = other },
		"negative idle timeout": func(c *Config) { c.IdleTimeout = -1 },
	} {
		c := good()
		spoil(&c)
		_, err := Open(c)
		assert.ErrorIs(t, err, ErrConfig, name)
	}
	c := good()
	tr, err := Open(c)
	require.NoError(t, err)
	require.ErrorIs(t, tr.SetCertificate(other, nil), ErrConfig)
	require.NoError(t, tr.Close())
}

// TestTLSCertificate says what others find in ours.
func TestTLSCertificate(t *testing.T) {
	g := newGroup(t, "g")
	key, cert := g.member(t, "a", nil)
	c := must(tlsCertificate(key, cert, nil))
	parsed, err := x509.ParseCertificate(c.Certificate[0])
	require.NoError(t, err)
	require.NoError(t, parsed.CheckSignatureFrom(&x509.Certificate{
		PublicKey: parsed.PublicKey, PublicKeyAlgorithm: x509.Ed25519, IsCA: true, BasicConstraintsValid: true, Version: 3,
	}))
	pub := key.Public().Bytes()
	require.Equal(t, ed25519.PublicKey(pub[:]), parsed.PublicKey)
	raw, err := extension(parsed)
	require.NoError(t, err)
	require.Equal(t, cert.Raw(), raw)
	require.Equal(t, 9999, parsed.NotAfter.Year())
	require.Equal(t, "2.25.1968744538", CertificateOID.String())
}

func TestRefusal_Each_ItsError(t *testing.T) {
	for _, r := range refusals {
		require.Equal(t, r, refusalOf(errors.Join(errors.New("x"), r)))
	}
	require.NoError(t, refusalOf(errors.New("x")))
}
