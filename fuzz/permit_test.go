package fuzz

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/fuzz/corpus"
	"github.com/wandertoken/wander/protocol/certificate"
	protocolgroup "github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/permit"
	"github.com/wandertoken/wander/protocol/token"
)

var (
	permitConditions = permit.Conditions{
		Group: group, Authorities: authorities{}, At: epoch.Add(time.Hour),
		Settings: protocolgroup.Settings{Resources: []protocolgroup.Resource{{Name: "ftp", Slots: 2}}},
		Revoked:  func(m ident.Member) bool { return m[0] == 0 },
	}
	permitRefusals = append([]error{
		permit.ErrMalformed, permit.ErrGroup, permit.ErrCertificates, permit.ErrResource, permit.ErrSlot, permit.ErrHolder, permit.ErrSigner,
		token.ErrChain, token.ErrUnknownSigner, token.ErrSignature, certificate.ErrExpired, certificate.ErrNotYetValid,
		certificate.ErrMalformed, certificate.ErrName, certificate.ErrSerial, certificate.ErrValidity, certificate.ErrKey, certificate.ErrGroup,
		certificate.ErrUnknownCA, certificate.ErrSignature, certificate.ErrRole,
	}, tokenRefusals...)
	permitSession = permit.Session{Gate: [envelope.KeyIDSize]byte{8}, Exporter: [permit.ExporterSize]byte{9}, Number: 1}
)

// FuzzPermit: the first byte says how the rest is taken. As a permit: what the decoder accepts has one encoding and
// one file, and what verifies is held together. As a file. As the payload of a statement that ada signs: what
// is read has one encoding, and opens only its own session.
//
//fuzz:of protocol/permit protocol/token crypto/keyfile
func FuzzPermit(f *testing.F) { targets["FuzzPermit"].Fuzz(f) }

func checkPermit(t require.TestingT, data []byte) bool {
	if len(data) == 0 {
		return false
	}
	switch data[0] % 3 {
	case 0:
		f, err := permit.Decode(data[1:])
		if err != nil {
			isOneOf(t, err, permit.ErrMalformed)
			return false
		}
		again, err := f.Encode()
		require.NoError(t, err)
		require.Equal(t, data[1:], again)
		return checkForm(t, f)
	case 1:
		f, err := permit.ParseText(data[1:])
		if err != nil {
			isOneOf(t, err, permit.ErrText, permit.ErrMalformed)
			return false
		}
		return checkForm(t, f)
	}
	return checkStatement(t, data[1:])
}

func checkForm(t require.TestingT, f permit.Form) bool {
	text, err := f.Text()
	require.NoError(t, err)
	again, err := permit.ParseText(text)
	require.NoError(t, err)
	require.Equal(t, f, again)
	p, err := permit.Verify(f, permitConditions)
	if err != nil {
		isOneOf(t, err, permitRefusals...)
		return false
	}
	require.NoError(t, p.Title().Since(p.Before()))
	require.Equal(t, p.Title().Holder(), p.Holder().Member())
	require.False(t, p.Follows(p.Title()), "nothing follows from itself")
	if p.Title().Hop() > 0 {
		require.True(t, p.Follows(p.Before()))
	}
	return true
}

func checkStatement(t require.TestingT, payload []byte) bool {
	var b permit.StatementBody
	_ = canonical.Unmarshal(payload, &b, generous) // only to learn the signer
	parse := func(raw []byte) error {
		_, err := permit.ParseStatement(group, raw, anybody{})
		return err
	}
	if err := parse(badlySealed(b.Holder, payload)); !is(err, permit.ErrSignature) {
		isOneOf(t, err, permit.ErrStatement, permit.ErrPresenter)
		return false
	}
	raw := seal(envelope.Statement, b.Holder, payload, ada)
	s, err := permit.ParseStatement(group, raw, anybody{})
	require.NoError(t, err)
	again, err := s.Body().Sign(group, ada)
	require.NoError(t, err)
	require.Equal(t, raw, again.Raw())
	p, err := permit.Verify(permitForm(false), permitConditions)
	require.NoError(t, err)
	if got, err := p.Statement(raw, permitSession); err == nil {
		require.Equal(t, adaID, got.Body().Holder)
		require.Equal(t, permitSession, permit.Session{Gate: b.Gate, Exporter: b.Exporter, Number: b.Number})
	} else {
		isOneOf(t, err, permit.ErrPresenter, permit.ErrTitle, permit.ErrGate, permit.ErrExporter, permit.ErrNumber, permit.ErrSignature, token.ErrUnknownSigner)
	}
	return true
}

// permitForm is ada's permit of a token that she has generated, or, declined by ben, of one that came back.
func permitForm(returned bool) permit.Form {
	genesis, transfer, void := tokenObjects()
	title, before := token.Title{Genesis: genesis}, token.Title{}
	if returned {
		title, before = token.Title{Genesis: genesis, Transfer: transfer, Void: void}, token.Title{Genesis: genesis}
	}
	return permit.New(group, title, before, func(m ident.Member) []byte {
		if m == benID {
			return certificateOf(ben, "ben").Raw()
		}
		return certificateOf(ada, "ada").Raw()
	})
}

func permitSeeds() map[string][]byte {
	born, returned := permitForm(false), permitForm(true)
	genesis, _, _ := tokenObjects()
	statement := permit.StatementOf(token.Title{Genesis: genesis})
	statement.Gate, statement.Exporter, statement.Number = permitSession.Gate, permitSession.Exporter, permitSession.Number
	statement.Configuration, statement.Length, statement.Extensions = 1, 4000, later
	of := func(kind byte, raw []byte) []byte { return append([]byte{kind}, raw...) }
	foreign := returned
	foreign.Group[0] ^= 1
	lacking := returned
	lacking.Certificates = lacking.Certificates[:1]
	empty := statement
	empty.Number = 0
	seeds := map[string][]byte{
		"good-born":           of(0, must(born.Encode())),
		"good-returned":       of(0, must(returned.Encode())),
		"good-file":           of(1, must(returned.Text())),
		"good-statement":      of(2, must(canonical.Marshal(statement))),
		"bad-foreign":         of(0, must(foreign.Encode())),
		"bad-lacking":         of(0, must(lacking.Encode())),
		"bad-file":            of(1, must(keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Evidence, Bytes: []byte{1}}))),
		"bad-statement":       of(2, must(canonical.Marshal(empty))),
		"bad-empty-statement": {2},
	}
	corpus.Spoil(seeds, "good-returned")
	return seeds
}
