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
	certificate.ErrTooMany, certificate.ErrAttached, certificate.ErrReason, certificate.ErrVersion, certificate.ErrSelf,
	certificate.ErrRole, ident.ErrClass,
}

var caID = certificate.AuthorityID(ca.Public())

// FuzzCertificate: the payload of a well signed certificate.
//
//fuzz:of protocol/certificate crypto/envelope crypto/canonical
func FuzzCertificate(f *testing.F) { targets["FuzzCertificate"].Fuzz(f) }

func checkCertificate(t require.TestingT, payload []byte) bool {
	raw, err := sealIf(envelope.Certificate, caID, payload, ca, func(raw []byte) error {
		_, err := certificate.ParseAny(group, raw, authorities{})
		return err
	})
	if err != nil {
		isOneOf(t, err, certificateRefusals...)
		return false
	}
	c, err := certificate.ParseAny(group, raw, authorities{})
	require.NoError(t, err, "refused for its signature")
	_, asMember := certificate.Parse(group, raw, authorities{})
	_, asGate := certificate.ParseGate(group, raw, authorities{})
	require.NotEqual(t, asMember == nil, asGate == nil, "it is one of them, and not both")
	require.Equal(t, asGate == nil, c.CheckGate(c.Member(), c.Body().NotBefore) == nil)
	again, err := c.Body().Sign(ca)
	require.NoError(t, err)
	require.Equal(t, raw, again.Raw())
	require.Equal(t, c.Member(), again.Member())
	_ = c.ValidAt(epoch)
	return true
}

func certificateSeeds() map[string][]byte {
	c := certificateOf(ada, "ada")
	full := c.Body()
	full.Extensions = later
	gate := full
	gate.Role = certificate.GateRole
	class := c.Body()
	class.Class = "backup"
	seeds := map[string][]byte{
		"good-usual":          payloadOf(envelope.Certificate, c.Raw()),
		"good-class":          payloadOf(envelope.Certificate, must(class.Sign(ca)).Raw()),
		"good-gate":           payloadOf(envelope.Certificate, must(gate.Sign(ca)).Raw()),
		"good-with-extension": payloadOf(envelope.Certificate, must(full.Sign(ca)).Raw()),
		"bad-other-kind":      payloadOf(envelope.Revocation, revocation().Raw()),
		"bad-empty-map":       {0xa0},
	}
	corpus.Spoil(seeds, "good-usual")
	return seeds
}

// FuzzEndpoint: the payload of an endpoint record that ada signed well.
//
//fuzz:of protocol/certificate crypto/envelope crypto/canonical
func FuzzEndpoint(f *testing.F) { targets["FuzzEndpoint"].Fuzz(f) }

func checkEndpoint(t require.TestingT, payload []byte) bool {
	raw, err := sealIf(envelope.Endpoint, adaID, payload, ada, func(raw []byte) error {
		_, err := certificate.ParseEndpoint(group, raw, ada.Public())
		return err
	})
	if err != nil {
		isOneOf(t, err, certificateRefusals...)
		return false
	}
	e, err := certificate.ParseEndpoint(group, raw, ada.Public())
	require.NoError(t, err, "refused for its signature")
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
//
//fuzz:of protocol/certificate crypto/envelope crypto/canonical
func FuzzRevocation(f *testing.F) { targets["FuzzRevocation"].Fuzz(f) }

func checkRevocation(t require.TestingT, payload []byte) bool {
	raw, err := sealIf(envelope.Revocation, caID, payload, ca, func(raw []byte) error {
		_, err := certificate.ParseRevocation(group, raw, authorities{})
		return err
	})
	if err != nil {
		isOneOf(t, err, certificateRefusals...)
		return false
	}
	r, err := certificate.ParseRevocation(group, raw, authorities{})
	require.NoError(t, err, "refused for its signature")
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

func leave() certificate.SignedLeave {
	return must(certificate.Leave{Member: adaID, Time: millis}.Sign(group, ada))
}

// FuzzLeave: the payload of a leave that ada signed well.
//
//fuzz:of protocol/certificate crypto/envelope crypto/canonical
func FuzzLeave(f *testing.F) { targets["FuzzLeave"].Fuzz(f) }

func checkLeave(t require.TestingT, payload []byte) bool {
	raw, err := sealIf(envelope.Leave, adaID, payload, ada, func(raw []byte) error {
		_, err := certificate.ParseLeave(group, raw, ada.Public())
		return err
	})
	if err != nil {
		isOneOf(t, err, certificateRefusals...)
		return false
	}
	l, err := certificate.ParseLeave(group, raw, ada.Public())
	require.NoError(t, err, "refused for its signature")
	signer, err := certificate.LeaveSigner(group, raw)
	require.NoError(t, err)
	require.Equal(t, adaID, signer)
	again, err := l.Body().Sign(group, ada)
	require.NoError(t, err)
	require.Equal(t, raw, again.Raw())
	return true
}

func leaveSeeds() map[string][]byte {
	full := certificate.Leave{Member: adaID, Time: millis, Extensions: later}
	seeds := map[string][]byte{
		"good-usual":          payloadOf(envelope.Leave, leave().Raw()),
		"good-with-extension": payloadOf(envelope.Leave, must(full.Sign(group, ada)).Raw()),
		"bad-of-another":      payloadOf(envelope.Leave, must(certificate.Leave{Member: benID}.Sign(group, ben)).Raw()),
		"bad-other-kind":      payloadOf(envelope.Endpoint, endpoint().Raw()),
	}
	corpus.Spoil(seeds, "good-usual")
	return seeds
}

func failure() certificate.SignedFailure {
	return must(certificate.Failure{Witness: adaID, Subject: benID, Sequence: 5, Time: millis}.Sign(group, ada))
}

// FuzzFailure: the payload of a failure statement that ada signed well.
//
//fuzz:of protocol/certificate crypto/envelope crypto/canonical
func FuzzFailure(f *testing.F) { targets["FuzzFailure"].Fuzz(f) }

func checkFailure(t require.TestingT, payload []byte) bool {
	raw, err := sealIf(envelope.Failure, adaID, payload, ada, func(raw []byte) error {
		_, err := certificate.ParseFailure(group, raw, ada.Public())
		return err
	})
	if err != nil {
		isOneOf(t, err, certificateRefusals...)
		return false
	}
	f, err := certificate.ParseFailure(group, raw, ada.Public())
	require.NoError(t, err, "refused for its signature")
	signer, err := certificate.FailureSigner(group, raw)
	require.NoError(t, err)
	require.Equal(t, adaID, signer)
	again, err := f.Body().Sign(group, ada)
	require.NoError(t, err)
	require.Equal(t, raw, again.Raw())
	return true
}

func failureSeeds() map[string][]byte {
	full := certificate.Failure{Witness: adaID, Subject: benID, Sequence: 1 << 63, Extensions: later}
	other := certificate.Failure{Witness: benID, Subject: adaID}
	seeds := map[string][]byte{
		"good-usual":          payloadOf(envelope.Failure, failure().Raw()),
		"good-with-extension": payloadOf(envelope.Failure, must(full.Sign(group, ada)).Raw()),
		"bad-of-another":      payloadOf(envelope.Failure, must(other.Sign(group, ben)).Raw()),
		"bad-other-kind":      payloadOf(envelope.Leave, leave().Raw()),
	}
	corpus.Spoil(seeds, "good-usual")
	return seeds
}

func request() certificate.SignedRequest {
	return must(certificate.Request{
		Name: "ftp-03", Key: [32]byte(publicBytes(ada)), Time: millis, Nonce: [certificate.NonceSize]byte{1, 2, 3},
	}.Sign(group, ada))
}

// FuzzRequest: the payload of a request that was signed with ada's key.
//
//fuzz:of protocol/certificate crypto/envelope crypto/canonical
func FuzzRequest(f *testing.F) { targets["FuzzRequest"].Fuzz(f) }

func checkRequest(t require.TestingT, payload []byte) bool {
	raw, err := sealIf(envelope.Request, adaID, payload, ada, func(raw []byte) error {
		_, err := certificate.ParseRequest(group, raw)
		return err
	})
	if err != nil {
		isOneOf(t, err, certificateRefusals...)
		return false
	}
	r, err := certificate.ParseRequest(group, raw)
	require.NoError(t, err, "refused for its signature")
	require.Equal(t, adaID, r.Member())
	again, err := r.Body().Sign(group, ada)
	require.NoError(t, err)
	require.Equal(t, raw, again.Raw())
	return true
}

func requestSeeds() map[string][]byte {
	full := request().Body()
	full.Extensions = later
	other := certificate.Request{Name: "b", Key: [32]byte(publicBytes(ben))}
	seeds := map[string][]byte{
		"good-usual":          payloadOf(envelope.Request, request().Raw()),
		"good-with-extension": payloadOf(envelope.Request, must(full.Sign(group, ada)).Raw()),
		"bad-other-key":       payloadOf(envelope.Request, must(other.Sign(group, ben)).Raw()),
		"bad-other-kind":      payloadOf(envelope.Leave, leave().Raw()),
	}
	corpus.Spoil(seeds, "good-usual")
	return seeds
}
