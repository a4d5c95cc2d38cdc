package cluster

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// However much of the last line is there, the others are read, and it is known
// where they end.
func TestReadLines_CutShort_Refused(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, AppendLine(&b, Line{V: 1, Seed: 1}))
	first := b.Len()
	require.NoError(t, AppendLine(&b, Line{V: 1, Seed: 2}))
	for size := first; size < b.Len(); size++ {
		lines, whole, err := ReadLines(bytes.NewReader(b.Bytes()[:size]))
		require.NoError(t, err, size)
		require.Len(t, lines, 1, size)
		require.EqualValues(t, first, whole, size)
	}
	lines, whole, err := ReadLines(&b)
	require.NoError(t, err)
	assert.Len(t, lines, 2)
	assert.EqualValues(t, b.Len()+int(whole), whole, "all of it")
}

// A file of something else is not appended to, and nothing is cut off it.
func TestReadLines_SomethingElse_Refused(t *testing.T) {
	for _, text := range []string{
		"notes", "notes\n", "\n", "{}\n", `{"v":2,"seed":1}` + "\n", `{"v":2,"se`, "root:x:0:0\n" + lineBegin,
		lineBegin + lineBegin + "1}\n",
	} {
		_, _, err := ReadLines(bytes.NewReader([]byte(text)))
		assert.ErrorIs(t, err, ErrLine, text)
	}
}
