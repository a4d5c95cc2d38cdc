package conformance

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509/pkix"
	"errors"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// handshakeChecks are about chapter 11.1: who gets a connection.
var handshakeChecks = []Check{
	{"tls", []string{"T-1", "T-2"}, "A connection has QUIC version 1, TLS 1.3, the ALPN identifier wander/1 and the key exchange X25519, though others are offered.", tlsVersion},
	{"session-tickets", []string{"T-2"}, "No session ticket comes until the member has answered a message.", sessionTickets},
	{"member-certificate", []string{"T-3"}, "The member's X.509 certificate is for an Ed25519 key and carries its member certificate, for the same key, in an extension that is not critical.", memberCertificate},
	{"alpn", []string{"T-1"}, "A dialler that speaks another application protocol is refused in the handshake.", refusesALPN},
	{"no-certificate", []string{"T-4"}, "A dialler without a TLS certificate is refused in the handshake.", refusesNobody},
	{"no-extension", []string{"T-4"}, "A dialler whose certificate has no extension is refused in the handshake.", refusesNoExtension},
	{"bad-extension", []string{"T-4"}, "An extension with something else, with something behind it, or above 4096 bytes, is refused in the handshake.", refusesBadExtension},
	{"two-certificates", []string{"T-4"}, "Two X.509 certificates are refused in the handshake.", refusesTwo},
	{"other-key-type", []string{"T-4"}, "A P-256 key with this member's certificate is refused in the handshake.", refusesKeyType},
	{"other-key", []string{"T-4"}, "Another Ed25519 key with this member's certificate is refused in the handshake.", refusesOtherKey},
	{"forged-certificate", []string{"T-4", "E-5"}, "A member certificate with one bit changed, anywhere in its signature, is refused in the handshake.", refusesForged},
	{"own-ca", []string{"T-4"}, "A member certificate of this group that no CA of it has signed is refused in the handshake.", refusesOwnCA},
	{"other-group", []string{"T-4"}, "A member of another group is refused in the handshake.", refusesOtherGroup},
	{"expired-certificate", []string{"T-4"}, "A member whose certificate has expired is refused in the handshake. Needs one.", refusesExpired},
	{"x509-ignored", []string{"T-3"}, "An X.509 certificate that has expired, whose own signature does not hold, and with an extension that nobody knows, is let in for its member certificate.", ignoresX509},
	{"revoked-member", []string{"D-9", "T-6", "T-18"}, "A revoked member passes the handshake, is handed its revocation before anything else, and closed with code 5. Needs one.", handsOverRevocation},
}

func tlsVersion(t *trial) {
	conf := t.own()
	conf.CurvePreferences = []tls.CurveID{tls.X25519MLKEM768, tls.X25519, tls.CurveP256}
	s, err := t.handshake(conf)
	t.check(err == nil, "no connection: %v", err)
	state := s.quic.ConnectionState()
	t.check(state.Version == quic.Version1, "QUIC version %v", state.Version)
	t.check(state.TLS.Version == tls.VersionTLS13, "TLS version %s", tls.VersionName(state.TLS.Version))
	t.check(state.TLS.NegotiatedProtocol == alpn, "ALPN identifier %q", state.TLS.NegotiatedProtocol)
	t.check(state.TLS.CurveID == tls.X25519, "key exchange %v", state.TLS.CurveID)
}

// ticketCounter counts the session tickets that come, and keeps none.
type ticketCounter struct{ n atomic.Int32 }

func (c *ticketCounter) Get(string) (*tls.ClientSessionState, bool) { return nil, false }
func (c *ticketCounter) Put(_ string, s *tls.ClientSessionState) {
	if s != nil {
		c.n.Add(1)
	}
}

func sessionTickets(t *trial) {
	conf, tickets := t.own(), &ticketCounter{}
	conf.ClientSessionCache = tickets
	s, err := t.handshake(conf)
	t.check(err == nil, "no connection: %v", err)
	t.exchange(s, s.preamble())
	s.say(s.greeting())
	s.awaitHello()
	s.fence()
	t.check(tickets.n.Load() == 0, "%d session tickets", tickets.n.Load())
}

func memberCertificate(t *trial) { t.dial() } // it verifies all of that

// turnedAway dials with a configuration that must not be let in.
func (t *trial) turnedAway(conf *tls.Config, what string) {
	conf.InsecureSkipVerify = true
	q, err := t.quic.Dial(t.ctx, t.to, conf, &quic.Config{Versions: []quic.Version{quic.Version1}, HandshakeIdleTimeout: t.Timeout})
	if err == nil { // the client is done before the server has looked at its certificate
		defer q.CloseWithError(codeNormal, "")
		err = t.isIn(q)
	}
	t.lost = t.lost || isLoss(err)
	switch {
	case err == nil:
		t.fail("%s: let in", what)
	case !isAlert(err):
		t.fail("%s: ended by %v, want a TLS alert", what, err)
	}
}

// isIn tries to talk on a connection: nil if the member answers.
func (t *trial) isIn(q *quic.Conn) error {
	stream, err := q.OpenStreamSync(t.ctx)
	if err == nil {
		at, _ := t.ctx.Deadline()
		stream.SetDeadline(at)
		t.ordinal++
		_, _ = stream.Write(wire.AppendFrame(nil, preamble{Process: t.process, Ordinal: t.ordinal}.encode()))
		_, err = wire.ReadFrame(stream, nil)
	}
	if cause := context.Cause(q.Context()); err != nil && cause != nil {
		return cause
	}
	return err
}

func refusesALPN(t *trial) {
	conf := t.own()
	conf.NextProtos = []string{"wander/0"}
	t.turnedAway(conf, "wander/0")
	conf.NextProtos = nil
	t.turnedAway(conf, "no ALPN")
}

func refusesNobody(t *trial) { t.turnedAway(clientTLS(), "no certificate") }

// bare is this member's paper with other extensions.
func (t *trial) bare(extensions []pkix.Extension) *tls.Config {
	p := t.paperOf(t.Identity)
	p.extensions = extensions
	return t.as(p)
}

func refusesNoExtension(t *trial) { t.turnedAway(t.bare(nil), "no extension") }

func refusesBadExtension(t *trial) {
	raw := t.Identity.Certificate.Raw()
	t.turnedAway(t.bare(carrying([]byte("hello"))), "not DER")
	t.turnedAway(t.bare(carrying(raw)), "no OCTET STRING")
	t.turnedAway(t.bare(carrying(append(octets(raw), 5, 0))), "something behind it")
	t.turnedAway(t.bare(carrying(octets(append(bytes.Clone(raw), 0)))), "a byte behind the member certificate")
	t.turnedAway(t.bare(carrying(octets(make([]byte, maxExtension)))), "above 4096 bytes")
}

func refusesTwo(t *trial) {
	cert, err := t.paperOf(t.Identity).sign()
	t.check(err == nil, "TLS certificate not made: %v", err)
	cert.Certificate = append(cert.Certificate, cert.Certificate[0])
	t.turnedAway(clientTLS(cert), "two certificates")
}

func refusesKeyType(t *trial) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	t.check(err == nil, "no key: %v", err)
	p := t.paperOf(t.Identity)
	p.key = key
	t.turnedAway(t.as(p), "a P-256 key")
}

func refusesOtherKey(t *trial) {
	p := t.paperOf(t.Identity)
	p.key = t.newKey().StdKey()
	t.turnedAway(t.as(p), "another key")
}

func (t *trial) newKey() *signature.PrivateKey {
	key, err := signature.Generate(rand.Reader)
	t.check(err == nil, "no key: %v", err)
	return key
}

func refusesForged(t *trial) {
	for _, back := range []int{1, 20, 40, 64} {
		raw := bytes.Clone(t.Identity.Certificate.Raw())
		raw[len(raw)-back] ^= 1
		t.turnedAway(t.bare(carrying(octets(raw))), "forged")
	}
}

// selfMade is a certificate for a key by a CA of somebody's own.
func (t *trial) selfMade(g ident.Group, key, ca *signature.PrivateKey) Identity {
	now := time.Now()
	c, err := certificate.Claims{
		Name: "nobody", Serial: 1, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), IssuedAt: now.Add(-time.Hour),
		Key: key.Public().Bytes(), Group: g, ConfigVersion: 1,
	}.Sign(ca)
	t.check(err == nil, "certificate not signed: %v", err)
	return Identity{Certificate: c, Key: key}
}

func refusesOwnCA(t *trial) {
	key := t.newKey()
	t.turnedAway(t.as(t.paperOf(t.selfMade(t.Group.ID(), key, t.newKey()))), "a CA of its own")
	t.turnedAway(t.as(t.paperOf(t.selfMade(t.Group.ID(), t.newKey(), t.Identity.Key))), "signed by a member")
}

func refusesOtherGroup(t *trial) {
	ca := t.newKey()
	pub := ca.Public().Bytes()
	p := t.paperOf(t.selfMade(ident.GroupOf(pub[:]), t.newKey(), ca))
	t.turnedAway(t.as(p), "another group")
}

// needs skips a check for which no other member was given, or one whose certificate
// is refused for another reason: it is by a CA key that is not of the group, or no
// more since a rotation.
func (t *trial) needs(other *Identity, which string) {
	if other == nil {
		t.skip("needs a member of the group %s", which)
	}
	if t.Group.Key(other.Certificate.Authority()) == nil {
		t.skip("needs a member of the group %s: the certificate of the one that was given is by a CA key that does not count", which)
	}
}

func refusesExpired(t *trial) {
	t.needs(t.Expired, "whose certificate has expired")
	err := t.Expired.Certificate.ValidAt(time.Now())
	if !errors.Is(err, certificate.ErrExpired) {
		t.skip("the certificate that was given for it has not expired")
	}
	t.turnedAway(t.as(t.paperOf(*t.Expired)), "expired")
}

func ignoresX509(t *trial) {
	p := t.paperOf(t.Identity)
	p.ends, p.spoilt = time.Unix(1000, 0), true
	p.extensions = append(p.extensions, pkix.Extension{Id: []int{2, 25, 1}, Value: []byte{5, 0}})
	s, err := t.handshake(t.as(p))
	t.check(err == nil, "not let in: %v", err)
	t.exchange(s, s.preamble())
}

func handsOverRevocation(t *trial) {
	t.needs(t.Revoked, "that was revoked")
	s, err := t.handshake(t.as(t.paperOf(*t.Revoked)))
	t.check(err == nil, "does not pass the handshake: %v", err)
	t.exchange(s, s.preamble())
	first := s.next()
	m, ok := first.(*wire.Revocations)
	t.check(ok && len(m.Revocations) == 1, "the first message is not REVOCATIONS with one revocation")
	r, err := certificate.ParseRevocation(t.Group.ID(), m.Revocations[0], t.Group)
	t.check(err == nil, "the revocation does not verify: %v", err)
	t.check(r.Body().Member == t.Revoked.Certificate.Member(), "the revocation is of %v", r.Body().Member)
	s.finish()
	s.closed(codeRevoked, "a revoked member")
}
