package fuzz

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/gate"
	gatewire "github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/ident"
)

// FuzzGateFrame: the first byte says how the rest is taken. As a frame between a member and a gate: what is read has one encoding. As the payload of an
// answer that ada signs as a gate: what is accepted says the same again.
//
//fuzz:of protocol/gate/wire crypto/canonical
func FuzzGateFrame(f *testing.F) { targets["FuzzGateFrame"].Fuzz(f) }

func checkGateFrame(t require.TestingT, data []byte) bool {
	if len(data) == 0 {
		return false
	}
	if data[0]%2 == 0 {
		f, err := gatewire.Read(bytes.NewReader(data[1:]), nil)
		first, bad := gatewire.ReadConnect(bytes.NewReader(data[1:]))
		switch c := f.(type) {
		case *gatewire.Connect:
			require.NoError(t, bad)
			require.Equal(t, &gatewire.ConnectTo{Number: c.Number}, first)
		case *gatewire.ConnectTo:
			require.NoError(t, bad)
			require.Equal(t, c, first)
		default:
			require.Error(t, bad)
		}
		if err != nil {
			return false
		}
		again, err := gatewire.Append(nil, f)
		require.NoError(t, err)
		require.Equal(t, data[1:1+len(again)], again)
		return true
	}
	form, err := envelope.Sign(envelope.Domain{Version: 1, Group: group, Kind: envelope.GateAnswer}, gatewire.KeyID(ada.Public()), data[1:], ada)
	if err != nil {
		require.ErrorIs(t, err, envelope.ErrTooLarge)
		return false
	}
	a, err := gatewire.ParseAnswer(group, form.Raw(), ada.Public())
	if err != nil {
		isOneOf(t, err, gatewire.ErrAnswer)
		return false
	}
	again, err := a.Body().Sign(group, ada)
	require.NoError(t, err)
	require.Equal(t, a.Raw(), again.Raw())
	return true
}

func gateFrameSeeds() map[string][]byte {
	seeds := map[string][]byte{
		"bad-empty": {}, "bad-nothing": {0}, "bad-large": {0, 0xff, 0, 0, 0}, "bad-kind": {0, 0, 0, 0, 3, 0x82, 0x17, 0x80},
		"bad-no-answer": {1}, "bad-number": {0, 0, 0, 0, 4, 0x82, 4, 0x81, 0},
	}
	frame := func(f gatewire.Frame) []byte { return append([]byte{0}, must(gatewire.Append(nil, f))...) }
	for name, f := range map[string]gatewire.Frame{
		"good-hello":  &gatewire.Hello{Versions: [2]uint64{1, 2}, Resource: "ftp", Configuration: 7, Revocations: 3},
		"good-update": &gatewire.Update{Configuration: []byte{1}, Authorities: [][]byte{{2}}, Revocations: [][]byte{{3}, {4, 5}}},
		"good-in":     &gatewire.SignIn{Number: 1, Permit: []byte{6}, Statement: []byte{7}}, "good-out": &gatewire.SignOut{Number: 2},
		"good-said": &gatewire.Answer{Number: 3, Signed: []byte{8}}, "good-connect": &gatewire.Connect{Number: 4},
		"good-connect-to": &gatewire.ConnectTo{Number: 4, Target: "sql"}, "good-targets": &gatewire.Targets{Names: []string{"files", "sql"}},
	} {
		seeds[name] = frame(f)
	}
	for name, a := range map[string]gate.Answer{
		"good-open": gate.OpenAnswer{Session: 101, Until: millis, Hop: 3}, "good-busy": gate.BusyAnswer{Session: 101, Until: millis, Stuck: true},
		"good-refuse": gate.RefuseAnswer{Code: gate.Shut, NotBefore: millis},
		"good-closed": gate.ClosedAnswer{Session: 101, Reason: gate.ByWindows, Confirmed: true},
	} {
		b := gatewire.AnswerBody{Resource: "ftp", Member: ident.Member{1}, Title: ident.Hash{2}, Number: 1, Time: millis, Answer: a, Extensions: later}
		seeds[name] = append([]byte{1}, payloadOf(envelope.GateAnswer, must(b.Sign(group, ada)).Raw())...)
	}
	return seeds
}
