package fuzz

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/fuzz/corpus"
	"github.com/wandertoken/wander/protocol/wire"
	"github.com/wandertoken/wander/spec/form"
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

// drawn adds good seeds of the shapes of the CDDL: each object with everything that it can
// hold, and with as little as it can. The first is spoilt, too.
func drawn(seeds map[string][]byte, objects []form.Object) map[string][]byte {
	for _, o := range objects {
		_, kind, _ := strings.Cut(o.Name, " ")
		name := "good-" + kind
		seeds[name], seeds[name+"-least"] = o.Sample(form.Full()), o.Sample(form.Least())
		corpus.Spoil(seeds, name)
	}
	return seeds
}

func messageSeeds() map[string][]byte {
	return drawn(map[string][]byte{
		"bad-empty":         {},
		"bad-type":          {0x82, 0x17, 0x80},
		"bad-no-fields":     {0x82, 0x0d, 0x80},
		"bad-large-array":   {0x82, 0x0f, 0x82, 0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf4},
		"bad-not-shortest":  {0x82, 0x0f, 0x82, 0x98, 0x00, 0xf4},
		"bad-indefinite":    {0x82, 0x0f, 0x82, 0x9f, 0xff, 0xf4},
		"bad-null-for-list": {0x82, 0x0f, 0x82, 0xf6, 0xf4},
	}, form.Messages())
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
	var all []byte
	for _, o := range form.Messages() {
		all = wire.AppendFrame(all, o.Sample(form.Least()))
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
