package wire_test

import (
	"bytes"
	"crypto/sha256"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/permit"
)

var group = ident.Group{7}

func keyOf(t *testing.T, name string) *signature.PrivateKey {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	key, err := signature.Generate(bytes.NewReader(seed[:]))
	require.NoError(t, err)
	return key
}

func answer() wire.AnswerBody {
	return wire.AnswerBody{
		Resource: "tape", Slot: 1, Member: ident.Member{1}, Title: ident.Hash{2}, Exporter: [permit.ExporterSize]byte{3}, Number: 4, Time: 5,
		Answer: gate.OpenAnswer{Session: 6, Until: 7, Token: ident.Token{8}, Hop: 9},
	}
}

func TestAnswer_EachKind_ReadBack(t *testing.T) {
	key := keyOf(t, "gate")
	for _, a := range []gate.Answer{
		gate.OpenAnswer{Session: 6, Until: 7, Token: ident.Token{8}, Hop: 9},
		gate.BusyAnswer{Session: 6, Until: 7, Token: ident.Token{8}, Hop: 9, Holder: ident.Member{10}, Stuck: true},
		gate.RefuseAnswer{Code: gate.Stale, NotBefore: 11},
		gate.ClosedAnswer{Session: 6, Reason: gate.ByLoss, Confirmed: true},
	} {
		b := answer()
		b.Answer = a
		signed, err := b.Sign(group, key)
		require.NoError(t, err)
		again, err := wire.ParseAnswer(group, signed.Raw(), key.Public())
		require.NoError(t, err)
		assert.Equal(t, b, again.Body())
	}
}

func TestAnswer_AnotherKey_Refused(t *testing.T) {
	key, other := keyOf(t, "gate"), keyOf(t, "other")
	signed, err := answer().Sign(group, key)
	require.NoError(t, err)
	_, err = wire.ParseAnswer(group, signed.Raw(), other.Public())
	require.ErrorIs(t, err, wire.ErrAnswerKey)
	_, err = wire.ParseAnswer(ident.Group{8}, signed.Raw(), key.Public())
	require.ErrorIs(t, err, wire.ErrSignature)
	altered := bytes.Clone(signed.Raw())
	altered[len(altered)-1] ^= 1
	_, err = wire.ParseAnswer(group, altered, key.Public())
	require.ErrorIs(t, err, wire.ErrSignature)
	_, err = wire.ParseAnswer(group, altered[1:], key.Public())
	require.ErrorIs(t, err, wire.ErrAnswer)
	statement, err := envelope.Sign(envelope.Domain{Version: 1, Group: group, Kind: envelope.Statement}, wire.KeyID(key.Public()), []byte{0x80}, key)
	require.NoError(t, err)
	_, err = wire.ParseAnswer(group, statement.Raw(), key.Public())
	require.ErrorIs(t, err, wire.ErrAnswer)
}

func TestAnswer_Impossible_NotSigned(t *testing.T) {
	for name, change := range map[string]func(*wire.AnswerBody){
		"no resource":       func(b *wire.AnswerBody) { b.Resource = "" },
		"number 0":          func(b *wire.AnswerBody) { b.Number = 0 },
		"nothing":           func(b *wire.AnswerBody) { b.Answer = nil },
		"a configuration":   func(b *wire.AnswerBody) { b.Answer = gate.RefuseAnswer{Code: gate.Outdated, Configuration: []byte{1}} },
		"an unknown code":   func(b *wire.AnswerBody) { b.Answer = gate.RefuseAnswer{Code: gate.Shut + 1} },
		"an unknown reason": func(b *wire.AnswerBody) { b.Answer = gate.ClosedAnswer{} },
		"session 0 opens":   func(b *wire.AnswerBody) { b.Answer = gate.OpenAnswer{} },
		"a critical extension": func(b *wire.AnswerBody) {
			b.Extensions = canonical.Extensions{}.With(2, canonical.Raw{0})
		},
	} {
		b := answer()
		change(&b)
		_, err := b.Sign(group, keyOf(t, "gate"))
		require.ErrorIs(t, err, wire.ErrAnswer, name)
	}
}

func TestFrame_Malformed_Refused(t *testing.T) {
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"nothing":       {nil, io.EOF},
		"half a length": {[]byte{0, 0}, io.ErrUnexpectedEOF},
		"half a body":   {[]byte{0, 0, 0, 9, 0x82}, io.ErrUnexpectedEOF},
		"no body":       {[]byte{0, 0, 0, 0}, wire.ErrFrameSize},
		"a large body":  {[]byte{0, 4, 0xc0, 1}, wire.ErrFrameSize},
		"another type":  {[]byte{0, 0, 0, 3, 0x82, 0x17, 0x80}, wire.ErrFrameType},
		"number 0":      {[]byte{0, 0, 0, 4, 0x82, 4, 0x81, 0}, wire.ErrFrame},
		"too long":      {[]byte{0, 0, 0, 5, 0x82, 4, 0x81, 1, 0}, wire.ErrFrame},
	} {
		_, err := wire.Read(bytes.NewReader(c.raw), nil)
		require.ErrorIs(t, err, c.want, name)
	}
	for _, f := range []wire.Frame{
		&wire.Hello{Versions: [2]uint64{2, 1}, Resource: "r", Configuration: 1}, &wire.Hello{Versions: [2]uint64{1, 1}, Configuration: 1},
		&wire.Hello{Versions: [2]uint64{1, 1}, Resource: "r"}, &wire.Update{Revocations: make([][]byte, wire.MaxRevocations+1)}, &wire.Update{Authorities: [][]byte{{}}},
		&wire.Update{Configuration: make([]byte, wire.MaxConfiguration+1)}, &wire.SignIn{Number: 1, Permit: []byte{1}}, &wire.Answer{Number: 1}, &wire.Connect{},
		&wire.ConnectTo{Number: 1}, &wire.ConnectTo{Target: "sql"}, &wire.ConnectTo{Number: 1, Target: "a/b"}, &wire.Targets{}, &wire.Targets{Names: []string{"b", "a"}},
		&wire.Targets{Names: []string{"a", "a"}}, &wire.Targets{Names: []string{""}}, &wire.Targets{Names: make([]string, wire.MaxTargets+1)},
	} {
		_, err := wire.Append(nil, f)
		require.ErrorIs(t, err, wire.ErrFrame, "%+v", f)
	}
}

// The largest UPDATE fits a frame, and of large ones the reader waits for room.
func TestFrame_Largest_Fits(t *testing.T) {
	object := make([]byte, 4<<10)
	configuration := &wire.Update{Configuration: make([]byte, wire.MaxConfiguration)}
	revocations := &wire.Update{}
	for range wire.MaxRevocations {
		revocations.Revocations = append(revocations.Revocations, object)
	}
	for range 8 {
		configuration.Authorities = append(configuration.Authorities, object)
	}
	for _, f := range []wire.Frame{configuration, revocations} {
		raw, err := wire.Append(nil, f)
		require.NoError(t, err)
		waited := 0
		_, err = wire.Read(bytes.NewReader(raw), func() func() { waited++; return func() { waited += 10 } })
		require.NoError(t, err)
		assert.Equal(t, 11, waited)
	}
}

// A data stream makes room for a CONNECT, and for nothing larger.
func TestReadConnect_OtherFrames_Refused(t *testing.T) {
	for _, n := range []uint64{1, gate.MaxNumber} {
		raw, err := wire.Append(nil, &wire.Connect{Number: n})
		require.NoError(t, err)
		c, err := wire.ReadConnect(bytes.NewReader(raw))
		require.NoError(t, err)
		assert.Equal(t, &wire.ConnectTo{Number: n}, c)
		longest := &wire.ConnectTo{Number: n, Target: strings.Repeat("x", 64)}
		raw, err = wire.Append(nil, longest)
		require.NoError(t, err)
		c, err = wire.ReadConnect(bytes.NewReader(raw))
		require.NoError(t, err)
		assert.Equal(t, longest, c)
	}
	_, err := wire.ReadConnect(bytes.NewReader([]byte{0, 4, 0, 0}))
	require.ErrorIs(t, err, wire.ErrFrameSize)
	raw, err := wire.Append(nil, &wire.SignOut{Number: 1})
	require.NoError(t, err)
	_, err = wire.ReadConnect(bytes.NewReader(raw))
	require.ErrorIs(t, err, wire.ErrFrameType)
}
