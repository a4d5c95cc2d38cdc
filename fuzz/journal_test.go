package fuzz

import (
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/spec/form"
)

// FuzzRecord: the decoder of journal records.
//
//fuzz:of protocol/journal node/store crypto/canonical
func FuzzRecord(f *testing.F) { targets["FuzzRecord"].Fuzz(f) }

func checkRecord(t require.TestingT, body []byte) bool {
	at, r, err := journal.Decode(body)
	if err != nil {
		isOneOf(t, err, journal.ErrRecord, journal.ErrRecordKind)
		return false
	}
	again, err := journal.Encode(at, r)
	require.NoError(t, err)
	require.Equal(t, body, again)
	return true
}

func recordSeeds() map[string][]byte {
	return drawn(map[string][]byte{
		"bad-empty":   {},
		"bad-kind":    {0x83, 0x17, 0x00, 0x80},
		"bad-kind-0":  {0x83, 0x00, 0x00, 0x80},
		"bad-no-list": {0x83, 0x02, 0x00, 0x00},
	}, form.Records())
}

// FuzzSegment: the reader of a journal's segment. What it has read before it
// stops is what a writer has written.
//
//fuzz:of protocol/journal node/store crypto/canonical
func FuzzSegment(f *testing.F) { targets["FuzzSegment"].Fuzz(f) }

func checkSegment(t require.TestingT, data []byte) bool {
	r, err := journal.NewReader("segment", data)
	if err != nil {
		isOneOf(t, err, journal.ErrDamaged)
		return false
	}
	again := r.Header().Append(nil)
	for {
		f, err := r.Next()
		if err != nil {
			_, sticky := r.Next()
			require.Equal(t, err, sticky)
			isOneOf(t, err, io.EOF, journal.ErrTorn, journal.ErrDamaged)
			require.Equal(t, int64(len(again)), r.Offset())
			require.Equal(t, string(data[:len(again)]), string(again))
			if is(err, io.EOF) {
				require.Len(t, data, len(again))
			}
			return is(err, io.EOF)
		}
		require.Equal(t, int64(len(again)), f.Offset)
		again = f.Append(again)
	}
}

func segmentSeeds() map[string][]byte {
	header := journal.SegmentHeader{Number: 3, FirstSeq: 40, Created: millis, Group: group, Member: adaID}.Append(nil)
	frame := func(to []byte, seq uint64, kind journal.FrameType, body []byte) []byte {
		return journal.Frame{Type: kind, OpensBatch: seq%2 == 0, Seq: seq, Body: body}.Append(to)
	}
	begun := frame(slices.Clone(header), 40, journal.FrameCheckpointBegin, nil)
	empty := frame(slices.Clone(begun), 41, journal.FrameCheckpointEnd, nil)
	records, seq, full := form.Records(), uint64(41), slices.Clone(begun)
	for _, r := range records[:3] {
		full = frame(full, seq, journal.FrameRecord, r.Sample(form.Full()))
		seq++
	}
	full = frame(full, seq, journal.FrameCheckpointEnd, nil)
	for _, r := range records[3:] {
		seq++
		full = frame(full, seq, journal.FrameRecord, r.Sample(form.Full()))
	}
	damaged := slices.Clone(full)
	damaged[len(full)/2] ^= 1
	unmarked := slices.Clone(full)
	unmarked[len(full)-1] ^= 1
	return map[string][]byte{
		"bad-end-mark":      unmarked,
		"good-full":         full,
		"good-empty":        empty,
		"bad-nothing":       {},
		"bad-header":        header[:len(header)-1],
		"bad-no-checkpoint": header,
		"bad-half":          begun,
		"bad-torn":          full[:len(full)-3],
		"bad-zero-filled":   append(slices.Clone(full), make([]byte, 512)...),
		"bad-damaged":       damaged,
		"bad-sequence":      frame(slices.Clone(empty), 43, journal.FrameRecord, []byte{1}),
	}
}
