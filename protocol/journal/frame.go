package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

const (
	// MaxRecord bounds the body of a journal's frame, in bytes. The largest record is that of
	// a group configuration, 257 KiB; with the bound a damaged length cannot ask for
	// memory.
	MaxRecord = 320 << 10

	// FrameOverhead is what framing adds to a body, in bytes.
	FrameOverhead = frameHeaderSize + frameTrailerSize

	frameHeaderSize  = 16 // type 1, body length 3, sequence number 8, CRC-32C of these 12
	frameTrailerSize = 5  // CRC-32C of header and body, end mark

	// endMark is the last byte of every frame. Having several bits set it
	// cannot become zero by one flipped bit, so a frame that ends in zeros was
	// not written to its end, and one that does not was.
	endMark = 0x5a

	batchBit = 0x80 // in the type byte: the frame opens a batch
)

// castagnoli is CRC-32C (RFC 3720 §12.1): it finds every single flipped bit
// and every burst of at most 32 bits, and processors compute it.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// FrameType says what a frame is for.
type FrameType uint8

// The frames of a segment. A segment begins with one checkpoint: a begin
// frame, the records carried forward from the segment before it, an end frame.
// Record frames follow.
const (
	FrameRecord          FrameType = 1
	FrameCheckpointBegin FrameType = 2
	FrameCheckpointEnd   FrameType = 3
)

func (t FrameType) String() string {
	switch t {
	case FrameRecord:
		return "record"
	case FrameCheckpointBegin:
		return "checkpoint begin"
	case FrameCheckpointEnd:
		return "checkpoint end"
	}
	return fmt.Sprintf("frame type %d", uint8(t))
}

// Frame is one framed body of a segment.
type Frame struct {
	Type FrameType
	// OpensBatch marks the first frame of those that were written and synced
	// together. A durable member writes a batch only after the one before it
	// has been synced, so everything before the last batch was acknowledged.
	OpensBatch bool
	// Seq numbers the frames of a journal, strictly consecutive over all its
	// segments, from 1.
	Seq uint64
	// Body is the record, 1 to MaxRecord bytes; empty in checkpoint frames.
	Body []byte

	// Offset is where the frame begins in its segment, in bytes. Set by
	// Reader, not encoded.
	Offset int64
	// FromCheckpoint says that the frame is part of the segment's checkpoint: a copy
	// of a record that an earlier segment holds. Set by Reader, not encoded.
	FromCheckpoint bool
}

// Append appends the encoded frame to dst. It panics on a body whose size does
// not fit its type, which only a bug of the writer can cause.
func (f Frame) Append(dst []byte) []byte {
	if !f.sizeFits(len(f.Body)) {
		panic(fmt.Sprintf("journal: %v frame with a body of %d bytes", f.Type, len(f.Body)))
	}
	start := len(dst)
	first := byte(f.Type)
	if f.OpensBatch {
		first |= batchBit
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(first)<<24|uint32(len(f.Body)))
	dst = binary.BigEndian.AppendUint64(dst, f.Seq)
	dst = binary.BigEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
	dst = append(dst, f.Body...)
	dst = binary.BigEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
	return append(dst, endMark)
}

// sizeFits tells whether a frame of this type has bodies of n bytes.
func (f Frame) sizeFits(n int) bool {
	if f.Type == FrameRecord {
		return n >= 1 && n <= MaxRecord
	}
	return n == 0
}

// parseFrameHeader reads the first frameHeaderSize bytes of data. It returns
// the frame without its body, the size of the body, and the sentinel that says
// why it is none.
func parseFrameHeader(data []byte) (f Frame, size int, reason error) {
	sum := binary.BigEndian.Uint32(data[12:16])
	if sum != crc32.Checksum(data[:12], castagnoli) {
		return f, 0, ErrFrameHeader
	}
	word := binary.BigEndian.Uint32(data[:4])
	f.Type = FrameType(data[0] &^ batchBit)
	f.OpensBatch = data[0]&batchBit != 0
	f.Seq = binary.BigEndian.Uint64(data[4:12])
	size = int(word & 0xffffff)
	switch {
	case f.Type < FrameRecord || f.Type > FrameCheckpointEnd:
		return f, 0, ErrFrameType
	case !f.sizeFits(size):
		return f, 0, ErrFrameSize
	}
	return f, size, nil
}
