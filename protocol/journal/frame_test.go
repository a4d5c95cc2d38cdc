package journal_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// sample is a segment with its checkpoint and record frames, and where each
// frame begins and the last one ends.
type sample struct {
	data   []byte
	frames []journal.Frame
	starts []int64 // one more than frames
	whole  int64   // where the checkpoint ends
}

func newSample(carried, appended [][]byte) sample {
	h := journal.SegmentHeader{Number: 7, FirstSeq: 1000, Created: 1_700_000_000_000}
	s := sample{data: h.Append(nil)}
	seq := h.FirstSeq
	add := func(t journal.FrameType, body []byte, opens, copied bool) {
		f := journal.Frame{Type: t, OpensBatch: opens, Seq: seq, Body: body, Offset: int64(len(s.data)), FromCheckpoint: copied}
		s.starts = append(s.starts, f.Offset)
		s.frames = append(s.frames, f)
		s.data = f.Append(s.data)
		seq++
	}
	add(journal.FrameCheckpointBegin, []byte{}, true, true)
	for _, b := range carried {
		add(journal.FrameRecord, b, false, true)
	}
	add(journal.FrameCheckpointEnd, []byte{}, false, true)
	s.whole = int64(len(s.data))
	for i, b := range appended {
		add(journal.FrameRecord, b, i%2 == 0, false)
	}
	s.starts = append(s.starts, int64(len(s.data)))
	return s
}

// before is how many frames end at or before offset, and where the last of
// them ends.
func (s sample) before(offset int64) (n int, end int64) {
	for n < len(s.frames) && s.starts[n+1] <= offset {
		n++
	}
	return n, s.starts[n]
}

func read(data []byte) (frames []journal.Frame, err error) {
	r, err := journal.NewReader("a file", data)
	if err != nil {
		return nil, err
	}
	frames = []journal.Frame{}
	for {
		f, err := r.Next()
		if err != nil {
			return frames, err
		}
		frames = append(frames, f)
	}
}

func drawBodies(t *rapid.T, label string) [][]byte {
	body := rapid.OneOf(
		rapid.SliceOfN(rapid.Byte(), 1, 40),
		rapid.Map(rapid.IntRange(1, 40), func(n int) []byte { return make([]byte, n) }),
	)
	return rapid.SliceOfN(body, 0, 5).Draw(t, label)
}

func drawSample(t *rapid.T) sample {
	return newSample(drawBodies(t, "carried"), drawBodies(t, "appended"))
}

func TestReader_Appended_ReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t)
		frames, err := read(s.data)
		require.Equal(t, io.EOF, err)
		require.Equal(t, s.frames, frames)
	})
}

func TestLargestRecord(t *testing.T) {
	s := newSample(nil, [][]byte{bytes.Repeat([]byte{1}, journal.MaxRecord)})
	frames, err := read(s.data)
	require.Equal(t, io.EOF, err)
	assert.Equal(t, s.frames, frames)
	for _, n := range []int{0, journal.MaxRecord + 1} {
		f := journal.Frame{Type: journal.FrameRecord, Body: make([]byte, n)}
		assert.Panics(t, func() { f.Append(nil) }, "%d bytes", n)
	}
}

// A crash leaves the segment short or zero-filled from any byte behind the
// checkpoint on: the whole frames are read, the rest is torn.
func TestTornTail(t *testing.T) {
	s := newSample([][]byte{{1}}, [][]byte{[]byte("first"), make([]byte, 7), []byte("third")})
	for cut := s.whole; cut <= int64(len(s.data)); cut++ {
		for _, zeros := range []int{0, 1, 15, 16, 17, 4096} {
			t.Run(fmt.Sprintf("cut at %d, %d zeros", cut, zeros), func(t *testing.T) {
				data := append(bytes.Clone(s.data[:cut]), make([]byte, zeros)...)
				n, end := s.before(cut)
				frames, err := read(data)
				assert.Equal(t, s.frames[:n], frames[:n])
				if end == int64(len(data)) {
					assert.Equal(t, io.EOF, err)
					return
				}
				if len(frames) > n { // what followed the cut was zeros anyway
					return
				}
				assert.ErrorIs(t, err, journal.ErrTorn)
				assert.NotErrorIs(t, err, journal.ErrDamaged)
				var torn *journal.TornError
				require.ErrorAs(t, err, &torn)
				assert.Equal(t, journal.TornError{File: "a file", Offset: end, Size: int64(len(data)) - end}, *torn)
			})
		}
	}
}

// What is shorter than its checkpoint was never given its name.
func TestReader_TornCheckpoint_Damage(t *testing.T) {
	s := newSample([][]byte{[]byte("live")}, nil)
	for cut := range s.whole {
		_, err := read(s.data[:cut])
		require.ErrorIs(t, err, journal.ErrDamaged, "cut at %d", cut)
		_, err = read(append(bytes.Clone(s.data[:cut]), make([]byte, len(s.data))...))
		require.ErrorIs(t, err, journal.ErrDamaged, "zeros from %d", cut)
	}
}

// One flipped bit, wherever it is, is damage at the frame that holds it.
func TestFlippedBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t)
		// Long runs of zeros at the end are the hard case: draw from there too.
		bit := rapid.OneOf(
			rapid.IntRange(0, len(s.data)*8-1),
			rapid.IntRange(max(0, len(s.data)-30)*8, len(s.data)*8-1),
		).Draw(t, "bit")
		checkFlip(t, s, bit)
	})
}

func TestReader_AnyBitFlipped_Found(t *testing.T) {
	s := newSample([][]byte{{0}}, [][]byte{[]byte("body"), make([]byte, 6)})
	for bit := range len(s.data) * 8 {
		checkFlip(t, s, bit)
	}
}

type testingT interface {
	require.TestingT
	Helper()
}

func checkFlip(t testingT, s sample, bit int) {
	t.Helper()
	s.data[bit/8] ^= 0x80 >> (bit % 8)
	defer func() { s.data[bit/8] ^= 0x80 >> (bit % 8) }()
	frames, err := read(s.data)
	var damage *journal.DamageError
	require.ErrorAs(t, err, &damage, "bit %d", bit)
	assert.ErrorIs(t, err, journal.ErrDamaged)
	assert.NotErrorIs(t, err, journal.ErrTorn)
	assert.Equal(t, "a file", damage.File)
	if bit < journal.SegmentHeaderSize*8 {
		assert.Zero(t, damage.Offset)
		return
	}
	n, start := s.before(int64(bit / 8))
	assert.Equal(t, start, damage.Offset, "bit %d", bit)
	assert.Equal(t, s.frames[:n], frames)
}

// Whatever is accepted is exactly what a writer would have written.
func TestRecord_AcceptedBytes_EncodeIdentically(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t)
		data := bytes.Clone(s.data)
		for range rapid.IntRange(0, 3).Draw(t, "edits") {
			at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
			data[at] = rapid.Byte().Draw(t, "value")
		}
		data = data[:rapid.IntRange(0, len(data)).Draw(t, "length")]
		r, err := journal.NewReader("", data)
		if err != nil {
			return
		}
		again := r.Header().Append(nil)
		for f, err := r.Next(); err == nil; f, err = r.Next() {
			again = f.Append(again)
		}
		require.Equal(t, data[:r.Offset()], again)
	})
}

func TestDamageReasons(t *testing.T) {
	type frame = journal.Frame
	begin := frame{Type: journal.FrameCheckpointBegin, Seq: 1}
	end := frame{Type: journal.FrameCheckpointEnd, Seq: 2}
	record := func(seq uint64) frame { return frame{Type: journal.FrameRecord, Seq: seq, Body: []byte("x")} }
	tests := []struct {
		name   string
		frames []frame
		at     int
		reason error
	}{
		{"no checkpoint", []frame{record(1)}, 0, journal.ErrCheckpoint},
		{"no checkpoint begin", []frame{{Type: journal.FrameCheckpointEnd, Seq: 1}}, 0, journal.ErrCheckpoint},
		{"no checkpoint end", []frame{begin, record(2)}, 2, journal.ErrCheckpoint},
		{"checkpoint within checkpoint", []frame{begin, {Type: journal.FrameCheckpointBegin, Seq: 2}}, 1, journal.ErrCheckpoint},
		{"second checkpoint", []frame{begin, end, {Type: journal.FrameCheckpointBegin, Seq: 3}}, 2, journal.ErrCheckpoint},
		{"gap", []frame{begin, end, record(4)}, 2, journal.ErrSequence},
		{"repetition", []frame{begin, end, record(3), record(3)}, 3, journal.ErrSequence},
		{"not the first number", []frame{{Type: journal.FrameCheckpointBegin, Seq: 2}}, 0, journal.ErrSequence},
		{"empty", nil, 0, journal.ErrCheckpoint},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := journal.SegmentHeader{Number: 1, FirstSeq: 1}.Append(nil)
			offset := int64(len(data))
			for i, f := range tt.frames {
				data = f.Append(data)
				if i < tt.at {
					offset = int64(len(data))
				}
			}
			_, err := read(data)
			var damage *journal.DamageError
			require.ErrorAs(t, err, &damage)
			assert.ErrorIs(t, err, tt.reason)
			assert.Equal(t, offset, damage.Offset)
		})
	}
}

func TestReader_Error_Final(t *testing.T) {
	s := newSample(nil, [][]byte{{1}})
	r, err := journal.NewReader("", s.data[:len(s.data)-1])
	require.NoError(t, err)
	for range 2 {
		_, err = r.Next()
		require.NoError(t, err)
	}
	for range 3 {
		_, err = r.Next()
		require.ErrorIs(t, err, journal.ErrTorn)
	}
	assert.EqualValues(t, 1002, r.NextSeq())
	assert.Equal(t, s.whole, r.Offset())
}

// A tail that is torn in a segment with a successor is damage.
func TestTornError_AsDamage_Matches(t *testing.T) {
	damage := (&journal.TornError{File: "f", Offset: 99, Size: 3}).Damage()
	assert.ErrorIs(t, damage, journal.ErrDamaged)
	assert.ErrorIs(t, damage, journal.ErrTruncated)
	assert.Equal(t, "f", damage.File)
	assert.EqualValues(t, 99, damage.Offset)
	assert.Equal(t, "journal is damaged: f, offset 99: segment that has a successor ends in the middle of a frame", damage.Error())
}

// The format on disk, byte by byte.
func TestSegment_Bytes_OnDisk(t *testing.T) {
	h := journal.SegmentHeader{Number: 2, FirstSeq: 300, Created: 1_700_000_000_000,
		Group: ident.Group(bytes.Repeat([]byte{0xaa}, 32)), Member: ident.Member(bytes.Repeat([]byte{0xbb}, 16))}
	assert.Equal(t, "89574e44524a0d0a"+"00000008"+"0000000000000002"+"000000000000012c"+"0000018bcfe56800"+
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"+"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"+
		"7f6183ef", hex.EncodeToString(h.Append(nil)))
	f := journal.Frame{Type: journal.FrameRecord, OpensBatch: true, Seq: 301, Body: []byte("wander")}
	assert.Equal(t, "81"+"000006"+"000000000000012d"+"6c36e3dd"+"77616e646572"+"75fa8baa"+"5a",
		hex.EncodeToString(f.Append(nil)))
	got, err := journal.ParseSegmentHeader("", h.Append(nil))
	require.NoError(t, err)
	assert.Equal(t, h, got)
}

func TestSegmentHeader_Invalid_Refused(t *testing.T) {
	good := journal.SegmentHeader{Number: 1, FirstSeq: 1}.Append(nil)
	other := bytes.Clone(good)
	other[11]++
	older := bytes.Clone(good)
	older[11]--
	tests := map[string]struct {
		data   []byte
		reason error
	}{
		"empty":     {nil, journal.ErrMagic},
		"short":     {good[:len(good)-1], journal.ErrMagic},
		"not ours":  {make([]byte, 100), journal.ErrMagic},
		"corrupted": {other, journal.ErrSegmentHeader},
		"newer":     {resum(other), journal.ErrVersion},
		"older":     {resum(older), journal.ErrVersion},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := journal.NewReader("f", tt.data)
			assert.ErrorIs(t, err, tt.reason)
			assert.ErrorIs(t, err, journal.ErrDamaged)
		})
	}
}

// A journal of another version is refused, and nothing says that it is damaged.
func TestSegmentHeader_OtherVersion_Named(t *testing.T) {
	header := journal.SegmentHeader{Number: 1, FirstSeq: 1}.Append(nil)
	header[11] = 1
	_, err := journal.NewReader("f", resum(header))
	require.ErrorIs(t, err, journal.ErrVersion)
	assert.EqualError(t, err, "f: journal version is not supported: version 1, this program reads version 8")
}

// resum gives a changed segment header the checksum it needs.
func resum(header []byte) []byte {
	header = bytes.Clone(header)
	body := len(header) - 4
	sum := crc32.Checksum(header[:body], crc32.MakeTable(crc32.Castagnoli))
	return binary.BigEndian.AppendUint32(header[:body], sum)
}

func TestSegmentNames(t *testing.T) {
	assert.Equal(t, "0000000000000042.journal", journal.SegmentName(42))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Min(1).Draw(t, "number")
		got, ok := journal.ParseSegmentName(journal.SegmentName(n))
		require.True(t, ok)
		require.Equal(t, n, got)
	})
	for _, name := range []string{"", "lock", "42.journal", "0000000000000000.journal", "0000000000000042.journal.new",
		"+000000000000042.journal", "0000000000000042", "00000000000000042.journal"} {
		_, ok := journal.ParseSegmentName(name)
		assert.False(t, ok, "%q", name)
	}
}
