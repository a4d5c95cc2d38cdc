package transport

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"flag"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/fuzz/corpus"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

var update = flag.Bool("update", false, "write the seed corpora anew")

// The seeds are made anew by go test ./node/transport -run TestSeeds -update;
// see package fuzz.
func TestSeeds(t *testing.T) { corpus.Test(t, fuzzTargets, *update) }

var fuzzTargets map[string]corpus.Target

func init() {
	fuzzTargets = map[string]corpus.Target{
		"FuzzExtension":      {Check: checkExtension, Seeds: extensionSeeds},
		"FuzzVouchers":       {Check: checkVouchers, Seeds: voucherSeeds},
		"FuzzTLSCertificate": {Check: checkTLSCertificate, Seeds: tlsCertificateSeeds},
		"FuzzPreamble":       {Check: checkPreamble, Seeds: preambleSeeds},
		"FuzzBackAnswer":     {Check: checkBackAnswer, Seeds: backAnswerSeeds},
	}
}

// knownMember is the one member whose certificate can verify, and the verifier
// that a peer of it has.
func knownMember(t testing.TB) (*verifier, certificate.Certificate, []byte) {
	g := newGroup(t, "fuzzed")
	key, cert := g.member(t, "ada", nil)
	tls, err := tlsCertificate(key, cert, nil)
	require.NoError(t, err)
	v := newVerifier(g.id, g, func() time.Time { return g.now })
	v.self = ident.Member{1}
	return v, cert, tls.Certificate[0]
}

// helper makes fixtures where there is no test, and panics where one would
// fail.
type helper struct{ testing.TB }

func (helper) Helper()               {}
func (helper) Errorf(string, ...any) { panic("fixture") }
func (helper) FailNow()              { panic("fixture") }

// known is knownMember, made once: it does not change.
type known struct {
	v    *verifier
	cert certificate.Certificate
}

var theKnown = sync.OnceValue(func() known {
	v, cert, _ := knownMember(helper{})
	return known{v, cert}
})

var theRotation = sync.OnceValue(func() *rotation { return newRotation(helper{}) })

// identifyOne checks what identify makes of a TLS certificate: it is refused
// for a documented reason, or it carries the one certificate that was issued.
func identifyOne(t require.TestingT, x *x509.Certificate) bool {
	v, known := theKnown().v, theKnown().cert
	got, err := v.identify([]*x509.Certificate{x})
	_, errAny := IdentifyAny(v.group, *v.authorities.Load(), []*x509.Certificate{x}, v.now())
	require.Equal(t, err == nil, errAny == nil, "nobody has a gate's certificate")
	if err == nil {
		require.Equal(t, known.Raw(), got.Raw())
		return true
	}
	for _, reason := range []error{ErrNotMember, ErrCertificate, ErrOtherGroup, ErrKeyMismatch, ErrExpired, ErrNotYetValid} {
		if errors.Is(err, reason) {
			return false
		}
	}
	require.Fail(t, "undocumented reason", "%v", err)
	return false
}

// FuzzExtension: the value of the X.509 extension with the member certificate.
//
//fuzz:of node/transport protocol/certificate
func FuzzExtension(f *testing.F) { fuzzTargets["FuzzExtension"].Fuzz(f) }

func checkExtension(t require.TestingT, value []byte) bool {
	key := theKnown().cert.Key().Bytes()
	x := &x509.Certificate{
		PublicKey:  ed25519.PublicKey(key[:]),
		Extensions: []pkix.Extension{{Id: CertificateOID, Value: value}},
	}
	raw, err := extension(x)
	accepted := identifyOne(t, x)
	if err != nil {
		require.ErrorIs(t, err, ErrCertificate)
		require.False(t, accepted)
		return false
	}
	again, err := asn1.Marshal(raw)
	require.NoError(t, err)
	require.Equal(t, value, again)
	return true
}

func extensionSeeds() map[string][]byte {
	_, known, _ := knownMember(helper{})
	value, err := asn1.Marshal(known.Raw())
	if err != nil {
		panic(err)
	}
	large := append([]byte{0x04, 0x82, 0x10, 0x01}, make([]byte, maxExtension+1)...)
	seeds := map[string][]byte{
		"good-usual":      value,
		"good-empty":      {0x04, 0x00},
		"good-no-object":  {0x04, 0x02, 0xd2, 0x84},
		"bad-nothing":     {},
		"bad-text":        {0x0c, 0x01, 'a'},
		"bad-large":       large,
		"bad-constructed": {0x24, 0x80, 0x04, 0x01, 0x00, 0x00, 0x00},
		"bad-long-length": {0x04, 0x81, 0x01, 0x00},
	}
	corpus.Spoil(seeds, "good-usual")
	return seeds
}

// FuzzVouchers: the extension with the statements about CA keys.
//
//fuzz:of node/transport protocol/certificate
func FuzzVouchers(f *testing.F) { fuzzTargets["FuzzVouchers"].Fuzz(f) }

// checkVouchers: what is read has one encoding, and a group that is shown it
// learns nothing that its CA has not signed.
func checkVouchers(t require.TestingT, value []byte) bool {
	x := &x509.Certificate{Extensions: []pkix.Extension{{Id: VouchersOID, Value: value}}}
	statements := vouchers(x)
	if statements == nil {
		return false
	}
	again, err := asn1.Marshal(statements)
	require.NoError(t, err)
	require.Equal(t, value, again)
	r := theRotation()
	for _, raw := range r.knowledge[before].Vouched(statements).Vouchers() {
		require.Equal(t, r.knowledge[begun].Vouchers()[0], raw)
	}
	return true
}

func voucherSeeds() map[string][]byte {
	r := newRotation(helper{})
	usual, useless := r.knowledge[begun].Vouchers(), r.statement(helper{}, r.ca, r.ca, 0).Raw()
	encode := func(statements ...[]byte) []byte {
		value, err := asn1.Marshal(statements)
		if err != nil {
			panic(err)
		}
		return value
	}
	seeds := map[string][]byte{
		"good-usual":   encode(usual...),
		"good-two":     encode(useless, usual[0]),
		"good-nothing": encode([]byte{}),
		"bad-empty":    {},
		"bad-large":    encode(make([]byte, maxVouchers)),
		"bad-octets":   octets(usual[0]),
	}
	corpus.Spoil(seeds, "good-usual")
	return seeds
}

// FuzzTLSCertificate: the whole TLS certificate of a peer.
//
//fuzz:of node/transport protocol/certificate
func FuzzTLSCertificate(f *testing.F) { fuzzTargets["FuzzTLSCertificate"].Fuzz(f) }

func checkTLSCertificate(t require.TestingT, der []byte) bool {
	x, err := x509.ParseCertificate(der)
	return err == nil && identifyOne(t, x)
}

func tlsCertificateSeeds() map[string][]byte {
	_, known, der := knownMember(helper{})
	other := newGroup(helper{}, "another")
	key, cert := other.member(helper{}, "ada", nil)
	foreign, err := tlsCertificate(key, cert, nil)
	if err != nil {
		panic(err)
	}
	stolen, err := tlsCertificate(keyFromSeed(helper{}, "thief"), known, nil)
	if err != nil {
		panic(err)
	}
	seeds := map[string][]byte{
		"good-usual":      der,
		"bad-other-group": foreign.Certificate[0],
		"bad-stolen":      stolen.Certificate[0],
		"bad-oid":         bytes.Replace(der, oidBytes(), make([]byte, len(oidBytes())), 1),
	}
	corpus.Spoil(seeds, "good-usual")
	return seeds
}

func oidBytes() []byte {
	raw, err := asn1.Marshal(CertificateOID)
	if err != nil {
		panic(err)
	}
	return raw[2:]
}

// FuzzPreamble: the first frame of a stream.
//
//fuzz:of node/transport protocol/certificate
func FuzzPreamble(f *testing.F) { fuzzTargets["FuzzPreamble"].Fuzz(f) }

func checkPreamble(t require.TestingT, body []byte) bool {
	p, err := parsePreamble(body)
	if err != nil {
		require.ErrorIs(t, err, ErrProtocol)
		return false
	}
	again, err := p.encode()
	require.NoError(t, err)
	require.Equal(t, body, again)
	return true
}

// FuzzBackAnswer gives any bytes to the parser of what a member has seen that was asked to dial back. What is accepted is encoded as it was.
//
//fuzz:of node/transport crypto/canonical
func FuzzBackAnswer(f *testing.F) { fuzzTargets["FuzzBackAnswer"].Fuzz(f) }

func checkBackAnswer(t require.TestingT, body []byte) bool {
	a, _, err := parseBackAnswer(body)
	if err != nil {
		require.ErrorIs(t, err, ErrProtocol)
		return false
	}
	again, err := a.encode()
	require.NoError(t, err)
	require.Equal(t, body, again)
	return true
}

func backAnswerSeeds() map[string][]byte {
	encode := func(a backAnswer) []byte {
		body, err := a.encode()
		if err != nil {
			panic(err)
		}
		return body
	}
	seeds := map[string][]byte{
		"good-usual":  encode(backAnswer{Seen: "192.0.2.7:4133", Dialled: []BackDial{{Address: "m1.example:4133", Outcome: DialUnanswered}}}),
		"good-none":   encode(backAnswer{Seen: "[2001:db8::1]:1", Dialled: []BackDial{}}),
		"bad-name":    encode(backAnswer{Seen: "m1.example:4133"}),
		"bad-mapped":  encode(backAnswer{Seen: "[::ffff:192.0.2.7]:04133"}),
		"bad-outcome": encode(backAnswer{Seen: "192.0.2.7:4133", Dialled: []BackDial{{Outcome: DialRefused + 1}}}),
		"bad-many":    encode(backAnswer{Seen: "192.0.2.7:4133", Dialled: make([]BackDial, maxAddresses+1)}),
		"bad-empty":   {},
	}
	corpus.Spoil(seeds, "good-usual")
	return seeds
}

func preambleSeeds() map[string][]byte {
	encode := func(p preamble) []byte {
		body, err := p.encode()
		if err != nil {
			panic(err)
		}
		return body
	}
	usual := encode(preamble{Process: process{1, 2, 3}, Ordinal: 300, Keep: true})
	seeds := map[string][]byte{
		"good-usual": usual,
		"good-most":  encode(preamble{Ordinal: 1<<64 - 1}),
		"bad-type":   append([]byte{0x82, 0x01}, usual[2:]...),
		"bad-empty":  {},
	}
	corpus.Spoil(seeds, "good-usual")
	return seeds
}
