package record_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/soak/record"
)

func sample() record.Record {
	return record.Record{
		Kind: record.Start, Resource: "tape", Member: "m3", PID: 4711, Token: "1a2b", Hop: 17, Fence: 17,
		At: 812345678901, Born: 812345601234, Deadline: 815345601234,
	}
}

func TestRecord_Encoded_SameAfterDecoding(t *testing.T) {
	longest := record.Record{
		Kind: record.Start, Resource: strings.Repeat("r", 64), Member: strings.Repeat("m", 16), PID: math.MaxInt32,
		Token: strings.Repeat("f", 64), Hop: math.MaxUint64, Fence: math.MaxUint64, At: clock.Never, Born: clock.Never, Deadline: clock.Never,
	}
	for name, r := range map[string]record.Record{"usual": sample(), "longest": longest} {
		t.Run(name, func(t *testing.T) {
			line, err := r.Line()
			require.NoError(t, err)
			assert.Len(t, line, record.Size)
			got, err := record.Parse(string(line))
			require.NoError(t, err)
			assert.Equal(t, r, got)
		})
	}
}

// The kernel ends the write of a process that is killed at the end of a page.
func TestRead_WriterKilledInALine_OthersRead(t *testing.T) {
	line, err := sample().Line()
	require.NoError(t, err)
	for torn := range record.Size {
		list, err := record.Read(bytes.NewReader(slices.Concat(line, line[:torn], line, line)))
		require.NoError(t, err, torn)
		assert.Equal(t, []record.Record{sample(), sample(), sample()}, list, torn)
	}
}

func TestRecord_FieldMissing_NotEncoded(t *testing.T) {
	r := sample()
	r.Token = ""
	_, err := r.Line()
	assert.ErrorIs(t, err, record.ErrFormat)
}

func TestRead_LastLineIncomplete_LeftOut(t *testing.T) {
	line, err := sample().Line()
	require.NoError(t, err)
	list, err := record.Read(bytes.NewReader(append(line, line[:100]...)))
	require.NoError(t, err)
	assert.Equal(t, []record.Record{sample()}, list)
}

func TestRead_LineInvalid_Refused(t *testing.T) {
	for _, text := range []string{"\n", "start tape\n", "began tape m3 1 aa 1 1 1 1 1\n", "start tape m3 x aa 1 1 1 1 1\n"} {
		_, err := record.Read(strings.NewReader(text))
		assert.ErrorIs(t, err, record.ErrFormat, text)
	}
}
