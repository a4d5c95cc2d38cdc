package wire_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/wire"
)

func TestFrames_Several_InOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bodies := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, 300), 0, 10).Draw(t, "bodies")
		var stream []byte
		for _, b := range bodies {
			stream = wire.AppendFrame(stream, b)
		}
		var r io.Reader = bytes.NewReader(stream)
		if rapid.Bool().Draw(t, "byte by byte") {
			r = iotest.OneByteReader(r)
		}
		buf := make([]byte, rapid.IntRange(0, 400).Draw(t, "buffer"))
		for _, want := range bodies {
			got, err := wire.ReadFrame(r, buf)
			require.NoError(t, err)
			require.Equal(t, want, got)
			buf = got
		}
		_, err := wire.ReadFrame(r, buf)
		require.Equal(t, io.EOF, err)
	})
}

func TestLargestFrame(t *testing.T) {
	body := object(wire.MaxFrame)
	got, err := wire.ReadFrame(bytes.NewReader(wire.AppendFrame(nil, body)), nil)
	require.NoError(t, err)
	assert.Equal(t, body, got)
}

func TestFrame_ImpossibleSize_Refused(t *testing.T) {
	for _, n := range []uint32{0, wire.MaxFrame + 1, 1 << 31, 1<<32 - 1} {
		stream := append(binary.BigEndian.AppendUint32(nil, n), 1, 2, 3)
		var err error
		spent := allocated(func() { _, err = wire.ReadFrame(bytes.NewReader(stream), nil) })
		require.ErrorIs(t, err, wire.ErrFrameSize, n)
		assert.Less(t, spent, uint64(8<<10), "allocated for a frame of %d", n)
	}
	for _, body := range [][]byte{nil, {}, object(wire.MaxFrame + 1)} {
		assert.Panics(t, func() { wire.AppendFrame(nil, body) }, len(body))
	}
}

func TestFrame_StreamEnds_Error(t *testing.T) {
	frame := wire.AppendFrame(nil, []byte("body"))
	for n := range frame {
		_, err := wire.ReadFrame(bytes.NewReader(frame[:n]), nil)
		if n == 0 {
			require.Equal(t, io.EOF, err)
			continue
		}
		require.Equal(t, io.ErrUnexpectedEOF, err, n)
	}
	for _, n := range []int{0, 2, wire.FrameHeader, len(frame) - 1} {
		r := io.MultiReader(bytes.NewReader(frame[:n]), iotest.ErrReader(io.ErrClosedPipe))
		_, err := wire.ReadFrame(r, nil)
		assert.Equal(t, io.ErrClosedPipe, err, "reading fails after %d bytes", n)
	}
}

func TestFrame_BufferLargeEnough_Used(t *testing.T) {
	frame := wire.AppendFrame(nil, []byte("body"))
	buf := make([]byte, 4)
	got, err := wire.ReadFrame(bytes.NewReader(frame), buf)
	require.NoError(t, err)
	assert.Same(t, &buf[0], &got[0])
}

// Bodies that claim much and hold little, and large ones that claim what no
// message has, are refused before anything is made for them.
func TestLimits_Exceeded_NothingAllocated(t *testing.T) {
	for name, body := range map[string]string{
		"array of 2^32 entries":       "\x82\x0d\x82\x9a\xff\xff\xff\xff\xf5",
		"array of 2^63 entries":       "\x82\x0d\x82\x9b\x7f\xff\xff\xff\xff\xff\xff\xff\xf5",
		"bytes of 2^32":               "\x82\x09\x81\x5a\xff\xff\xff\xff",
		"text of 2^63":                "\x82\x0b\x85\x7b\x7f\xff\xff\xff\xff\xff\xff\xff",
		"60000 empty entries":         "\x82\x0d\x82\x99\xea\x60" + strings.Repeat("\x82\x40\x40", 20000) + strings.Repeat("\x80", 40000),
		"50000 empty revocations":     "\x82\x0f\x82\x99\xc3\x50" + strings.Repeat("\x40", 50000) + "\xf4",
		"60000 levels":                "\x82\x0d" + strings.Repeat("\x81", 60000) + "\x00",
		"1 MB of configuration":       "\x82\x0e\x81\x5a\x00\x10\x00\x00" + strings.Repeat("c", 1<<20),
		"1 MB behind a small message": "\x82\x09\x81\x41\x00" + strings.Repeat("x", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			raw := []byte(body)
			var err error
			spent := allocated(func() { _, err = wire.Decode(raw) })
			require.ErrorIs(t, err, wire.ErrMalformed)
			assert.Less(t, spent, uint64(8<<10))
		})
	}
}
