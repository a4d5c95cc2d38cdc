package fuzz

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/fuzz/corpus"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

func is(err, reason error) bool { return errors.Is(err, reason) }

// FuzzMessage: the decoder of every message between members.
//
//fuzz:of protocol/wire protocol/update crypto/canonical
func FuzzMessage(f *testing.F) { targets["FuzzMessage"].Fuzz(f) }

func checkMessage(t require.TestingT, body []byte) bool {
	m, err := wire.Decode(body)
	if err != nil {
		isOneOf(t, err, wire.ErrMalformed, wire.ErrLimit, wire.ErrMessageType)
		return false
	}
	peeked, err := wire.PeekType(body)
	require.NoError(t, err)
	require.Equal(t, peeked, m.Type())
	again, err := wire.Encode(m)
	require.NoError(t, err)
	require.Equal(t, body, again)
	require.LessOrEqual(t, len(body), wire.MaxFrame)
	return true
}

// messages has one of each type, with everything that it can hold, and then
// each with as little as it can.
func messages() (full, least []wire.Message) {
	memory := ident.Incarnation{3}
	settled := &wire.Settled{Incarnation: memory, Below: 4}
	genesis, first, void := tokenObjects()
	id := ident.Token(genesis.Hash())
	members := []ident.Member{adaID, benID}
	certificates := [][]byte{certificateOf(ada, "ada").Raw(), certificateOf(ben, "ben").Raw()}
	revoked := [][]byte{revocation().Raw()}
	return []wire.Message{
			&wire.Hello{
				Versions: [2]uint64{1, 2}, Incarnation: memory, Features: 1, MaxFrame: wire.MaxFrame, Configuration: 7,
				Revocations: 2, Floor: 9, Settled: settled, Endpoint: endpoint().Raw(), Time: millis,
			},
			&wire.Offer{
				Token: id, Hop: 1, Genesis: genesis.Raw(), Signers: members,
				Certificates: certificates, Settled: settled,
			},
			&wire.Need{Token: id, Hop: 1, Members: members},
			&wire.Accept{Token: id, Hop: 1, Incarnation: memory, Accept: 8, Lifetime: 60000},
			&wire.Refuse{Token: id, Hop: 1, Reason: wire.RefuseClock, RetryAfter: 250},
			&wire.Cancel{Token: id, Hop: 1, Incarnation: memory, Accept: 8},
			&wire.Transfer{
				Transfer: first.Raw(), Genesis: genesis.Raw(), Previous: first.Raw(), Void: void.Raw(),
				Certificates: certificates, Updates: revoked,
			},
			&wire.Receipt{Receipt: void.Raw(), Updates: revoked},
			&wire.Void{Void: void.Raw()},
			&wire.Unknown{Unknown: void.Raw()},
			&wire.Policy{Resource: "ftp", Slot: 1, Policy: "ring", Configuration: 7, Body: []byte("request")},
			&wire.Want{Topic: wire.WantMembers, Through: adaID, Version: 300},
			&wire.Members{Entries: []wire.Entry{{
				Certificate: certificates[0], Endpoint: endpoint().Raw(), Leave: void.Raw(), Failures: revoked,
			}}, Through: adaID, More: true},
			&wire.Configuration{Configuration: configuration().Raw(), Authorities: revoked},
			&wire.Revocations{Revocations: revoked, More: true},
			&wire.Gossip{Configuration: 7, Revocations: 300, Members: 191, Fingerprint: adaID, Answer: true},
			&wire.Summary{Parts: []wire.Part{{Through: adaID, Members: 2, Fingerprint: benID}, {Through: ident.LastMember()}}},
			&wire.Probe{Subject: benID, Sequence: 300},
			&wire.News{Updates: revoked},
		}, []wire.Message{
			&wire.Hello{Versions: [2]uint64{1, 1}},
			&wire.Offer{Hop: 1, Genesis: []byte{0}, Signers: members[:1]},
			&wire.Need{Hop: 1, Members: members[:1]},
			&wire.Accept{Hop: 1},
			&wire.Refuse{Hop: 1, Reason: 1},
			&wire.Cancel{Hop: 1},
			&wire.Transfer{Transfer: []byte{0}, Genesis: []byte{0}},
			&wire.Receipt{Receipt: []byte{0}},
			&wire.Void{Void: []byte{0}},
			&wire.Unknown{Unknown: []byte{0}},
			&wire.Policy{Resource: "r", Policy: "p"},
			&wire.Want{Topic: 1},
			&wire.Members{},
			&wire.Configuration{Configuration: []byte{0}},
			&wire.Revocations{},
			&wire.Gossip{},
			&wire.Summary{},
			&wire.Probe{},
			&wire.News{Updates: [][]byte{{0}}},
		}
}

func messageSeeds() map[string][]byte {
	full, least := messages()
	seeds := map[string][]byte{
		"bad-empty":         {},
		"bad-type":          {0x82, 0x17, 0x80},
		"bad-no-fields":     {0x82, 0x0d, 0x80},
		"bad-large-array":   {0x82, 0x0f, 0x82, 0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf4},
		"bad-not-shortest":  {0x82, 0x0f, 0x82, 0x98, 0x00, 0xf4},
		"bad-indefinite":    {0x82, 0x0f, 0x82, 0x9f, 0xff, 0xf4},
		"bad-null-for-list": {0x82, 0x0f, 0x82, 0xf6, 0xf4},
	}
	if _, err := wire.PeekType([]byte{0x82, byte(len(full) + 1), 0x80}); err == nil || len(full) != len(least) {
		panic(fmt.Sprintf("fuzz/message_test.go has %d and %d messages, and lacks some", len(full), len(least)))
	}
	for i, m := range full {
		name := "good-" + strings.ToLower(m.Type().String())
		seeds[name] = must(wire.Encode(m))
		seeds[name+"-least"] = must(wire.Encode(least[i]))
		corpus.Spoil(seeds, name)
	}
	return seeds
}

// FuzzFrame: the reader of frames, of which a stream may hold several.
//
//fuzz:of protocol/wire protocol/update crypto/canonical
func FuzzFrame(f *testing.F) { targets["FuzzFrame"].Fuzz(f) }

func checkFrame(t require.TestingT, stream []byte) bool {
	r := newCounter(stream)
	var again, buf []byte
	for {
		body, err := wire.ReadFrame(r, buf)
		if err != nil {
			isOneOf(t, err, wire.ErrFrameSize, errEOF, errCut)
			require.Equal(t, string(stream[:len(again)]), string(again))
			if is(err, errEOF) {
				require.Len(t, stream, len(again))
			}
			if is(err, wire.ErrFrameSize) {
				require.Equal(t, len(again)+wire.FrameHeader, r.read, "nothing is read behind a bad length")
			}
			return is(err, errEOF)
		}
		require.NotEmpty(t, body)
		require.LessOrEqual(t, len(body), wire.MaxFrame)
		again, buf = wire.AppendFrame(again, body), body
	}
}

func frameSeeds() map[string][]byte {
	_, least := messages()
	var all []byte
	for _, m := range least {
		all = wire.AppendFrame(all, must(wire.Encode(m)))
	}
	return map[string][]byte{
		"good-one":      wire.AppendFrame(nil, []byte{1}),
		"good-all":      all,
		"good-none":     {},
		"bad-cut":       all[:len(all)-1],
		"bad-header":    {0, 0},
		"bad-empty":     {0, 0, 0, 0},
		"bad-too-large": {0, 1, 0, 1, 1, 1},
		"bad-huge":      append(wire.AppendFrame(nil, []byte{1}), 0xff, 0xff, 0xff, 0xff, 1),
		"bad-" + strconv.Itoa(wire.MaxFrame) + "-missing": {0, 1, 0, 0},
	}
}
