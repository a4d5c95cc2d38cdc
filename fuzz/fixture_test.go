package fuzz

import (
	"bytes"
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/fuzz/corpus"
	"github.com/wandertoken/wander/fuzz/memory"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

var update = flag.Bool("update", false, "write the seed corpora anew")

func TestSeeds(t *testing.T) { corpus.Test(t, targets, *update) }

// The keys behind all seeds, and the group that the first one makes.
var (
	ca       = newKey(1)
	ada, ben = newKey(2), newKey(3)
	group    = ident.GroupOf(publicBytes(ca))
	adaID    = ident.MemberOf(group, publicBytes(ada))
	benID    = ident.MemberOf(group, publicBytes(ben))
	epoch    = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	millis   = uint64(epoch.UnixMilli())
)

// remembered is what the keys remember.
var remembered = memory.New()

func newKey(n byte) *signature.PrivateKey {
	return must(remembered.PrivateKey(bytes.Repeat([]byte{n}, signature.SeedSize)))
}

func publicBytes(key *signature.PrivateKey) []byte {
	raw := key.Public().Bytes()
	return raw[:]
}

// must is for making seeds, which cannot fail.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// authorities knows the one CA.
type authorities struct{}

func (authorities) Key(kid [16]byte) *signature.PublicKey {
	if kid != certificate.AuthorityID(ca.Public()) {
		return nil
	}
	return ca.Public()
}

// seal signs a payload, or returns nil if it is too large for an envelope.
func seal(kind envelope.Kind, kid [16]byte, payload []byte, key *signature.PrivateKey) []byte {
	d := envelope.Domain{Version: certificate.Version, Group: group, Kind: kind}
	signed, err := envelope.Sign(d, kid, payload, key)
	if err != nil {
		return nil
	}
	return signed.Raw()
}

// sealIf is seal, unless the payload is refused whatever its signature: then it is
// the reason. Most of what a fuzzer makes is, and a signature costs more than all
// the rest.
func sealIf(kind envelope.Kind, kid [16]byte, payload []byte, key *signature.PrivateKey, parse func(raw []byte) error) ([]byte, error) {
	if err := parse(badlySealed(kid, payload)); !is(err, certificate.ErrSignature) && !is(err, token.ErrSignature) {
		return nil, err
	}
	return seal(kind, kid, payload, key), nil
}

// badlySealed is an envelope whose signature is refused at the first look: its S is
// not below the group order.
func badlySealed(kid [16]byte, payload []byte) []byte {
	raw := append([]byte("\xd2\x84\x55\xa2\x01\x27\x04\x50"), kid[:]...)
	raw = append(raw, 0xa0)
	raw = must(canonical.Append(raw, payload))
	raw = append(raw, 0x58, signature.SignatureSize)
	return append(raw, badSignature...)
}

var badSignature = bytes.Repeat([]byte{0xff}, signature.SignatureSize)

// payloadOf is the payload of a signed object.
func payloadOf(kind envelope.Kind, raw []byte) []byte {
	u := must(envelope.Parse(envelope.Domain{Version: certificate.Version, Group: group, Kind: kind}, raw))
	return slices.Clone(u.Payload())
}

// isOneOf is for a refusal, whose reason has to be among those documented.
func isOneOf(t require.TestingT, err error, reasons ...error) {
	for _, reason := range reasons {
		if is(err, reason) {
			return
		}
	}
	require.Fail(t, "undocumented reason", "%v", err)
}

// later has one extension that this version does not know.
var later = canonical.Extensions{}.With(1, canonical.Raw{0x18, 42})
