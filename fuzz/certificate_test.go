package fuzz

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/fuzz/corpus"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

func certificateOf(key *signature.PrivateKey, name string) certificate.Certificate {
	return must(certificate.Claims{
		Name: name, Serial: 7, NotBefore: epoch, NotAfter: epoch.Add(90 * 24 * time.Hour), IssuedAt: epoch,
		Key: key.Public().Bytes(), Group: group, ConfigVersion: 1, RevocationVersion: 2,
	}.Sign(ca))
}

func endpoint() certificate.SignedEndpoint {
	return must(certificate.Endpoint{
		Member: adaID, Sequence: 5, Mode: certificate.Reachable, Time: millis,
		Addresses: []string{"ftp-03.example.org:4133", "192.0.2.7:4133", "[2001:db8::7]:4133"},
	}.Sign(group, ada))
}

func revocation() certificate.SignedRevocation {
	return must(certificate.Revocation{
		Version: 2, Member: benID, Serial: 7, Reason: "key lost", Time: millis,
	}.Sign(group, ca))
}

// certificateRefusals are those of all objects about a member.
var certificateRefusals = []error{
	certificate.ErrMalformed, certificate.ErrTooLarge, certificate.ErrGroup, certificate.ErrSigner, certificate.ErrName,
	certificate.ErrSerial, certificate.ErrKey, certificate.ErrValidity, certificate.ErrMode, certificate.ErrAddress,
	certificate.ErrTooMany, certificate.ErrAttached, certificate.ErrReason, certificate.ErrVersion,
}

var caID = certificate.AuthorityID(ca.Public())

// FuzzCertificate: the payload of a well signed certificate.
func FuzzCertificate(f *testing.F) { targets["FuzzCertificate"].Fuzz(f) }

func checkCertificate(t require.TestingT, payload []byte) bool {
	raw := seal(envelope.Certificate, caID, payload, ca)
	c, err := certificate.Parse(group, raw, authorities{})
	if err != nil {
		isOneOf(t, err, certificateRefusals...)
		return false
	}
	again, err := c.Claims().Sign(ca)
	require.NoError(t, err)
	require.Equal(t, raw, again.Raw())
	require.Equal(t, c.Member(), again.Member())
	_ = c.ValidAt(epoch)
	return true
}

func certificateSeeds() map[string][]byte {
	c := certificateOf(ada, "ada")
	full := c.Claims()
	full.Extensions = later
	seeds := map[string][]byte{
		"good-usual":          payloadOf(envelope.Certificate, c.Raw()),
		"good-with-extension": payloadOf(envelope.Certificate, must(full.Sign(ca)).Raw()),
		"bad-other-kind":      payloadOf(envelope.Revocation, revocation().Raw()),
		"bad-empty-map":       {0xa0},
	}
	corpus.Spoil(seeds, "good-usual")
	return seeds
}

// FuzzEndpoint: the payload of an endpoint record that ada signed well.
func FuzzEndpoint(f *testing.F) { targets["FuzzEndpoint"].Fuzz(f) }

func checkEndpoint(t require.TestingT, payload []byte) bool {
	raw := seal(envelope.Endpoint, adaID, payload, ada)
	e, err := certificate.ParseEndpoint(group, raw, ada.Public())
	if err != nil {
		isOneOf(t, err, certificateRefusals...)
		return false
	}
	signer, err := certificate.EndpointSigner(group, raw)
	require.NoError(t, err)
	require.Equal(t, adaID, signer)
	again, err := e.Body().Sign(group, ada)
	require.NoError(t, err)
	require.Equal(t, raw, again.Raw())
	return true
}

func endpointSeeds() map[string][]byte {
	out := certificate.Endpoint{
		Member: adaID, Sequence: 6, Mode: certificate.DialsOut, Attached: []ident.Member{benID}, Extensions: later,
	}
	seeds := map[string][]byte{
		"good-reachable": payloadOf(envelope.Endpoint, endpoint().Raw()),
		"good-dials-out": payloadOf(envelope.Endpoint, must(out.Sign(group, ada)).Raw()),
		"bad-of-another": payloadOf(envelope.Endpoint, must(certificate.Endpoint{Member: benID, Mode: certificate.DialsOut}.Sign(group, ben)).Raw()),
		"bad-other-kind": payloadOf(envelope.Revocation, revocation().Raw()),
	}
	corpus.Spoil(seeds, "good-reachable")
	return seeds
}

// FuzzRevocation: the payload of a well signed revocation.
func FuzzRevocation(f *testing.F) { targets["FuzzRevocation"].Fuzz(f) }

func checkRevocation(t require.TestingT, payload []byte) bool {
	raw := seal(envelope.Revocation, caID, payload, ca)
	r, err := certificate.ParseRevocation(group, raw, authorities{})
	if err != nil {
		isOneOf(t, err, certificateRefusals...)
		return false
	}
	again, err := r.Body().Sign(group, ca)
	require.NoError(t, err)
	require.Equal(t, raw, again.Raw())
	return true
}

func revocationSeeds() map[string][]byte {
	least := certificate.Revocation{Version: 1, Member: adaID, Extensions: later}
	seeds := map[string][]byte{
		"good-usual":     payloadOf(envelope.Revocation, revocation().Raw()),
		"good-least":     payloadOf(envelope.Revocation, must(least.Sign(group, ca)).Raw()),
		"bad-other-kind": payloadOf(envelope.Endpoint, endpoint().Raw()),
	}
	corpus.Spoil(seeds, "good-usual")
	return seeds
}
