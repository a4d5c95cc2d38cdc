package journal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// Reader reads the frames of one segment. It checks all that can be checked
// within one segment: checksums, types, sizes, consecutive sequence numbers,
// and that the segment begins with one whole checkpoint.
//
// A Reader is not safe for concurrent use.
type Reader struct {
	name   string
	data   []byte
	at     int64
	header SegmentHeader
	seq    uint64 // of the next frame
	stage  stage
	err    error
}

// stage is how far the checkpoint at the beginning of a segment has been read.
type stage uint8

const (
	beforeCheckpoint stage = iota
	inCheckpoint
	afterCheckpoint
)

// NewReader reads the segment whose whole contents are data and whose errors
// name it name. It returns a *DamageError when the segment header is not
// right. A segment becomes visible only when its header and checkpoint are
// durable, so neither is ever torn.
func NewReader(name string, data []byte) (*Reader, error) {
	h, err := ParseSegmentHeader(name, data)
	if err != nil {
		return nil, err
	}
	return &Reader{name: name, data: data, at: SegmentHeaderSize, header: h, seq: h.FirstSeq}, nil
}

// Header is the segment's header.
func (r *Reader) Header() SegmentHeader { return r.header }

// Offset is where the frames read so far end, in bytes.
func (r *Reader) Offset() int64 { return r.at }

// NextSeq is the sequence number that the next frame has or would have.
func (r *Reader) NextSeq() uint64 { return r.seq }

// Next returns the next frame; its body is part of the data given to
// NewReader. At the end it returns io.EOF when the segment ends with a whole
// frame, a *TornError when it ends in a write that was cut short, and a
// *DamageError for everything else. Errors are final: Next keeps returning
// them.
func (r *Reader) Next() (Frame, error) {
	if r.err != nil {
		return Frame{}, r.err
	}
	f, size, err := r.parse()
	if err != nil {
		r.err = err
		return Frame{}, err
	}
	r.at += size
	r.seq++
	return f, nil
}

// parse reads the frame at r.at and returns it with its size on disk.
func (r *Reader) parse() (Frame, int64, error) {
	rest := r.data[r.at:]
	if len(rest) == 0 {
		return r.end(io.EOF)
	}
	if len(rest) < frameHeaderSize {
		return r.torn()
	}
	f, n, reason := parseFrameHeader(rest)
	if reason != nil {
		// A header that was cut short has nothing but zeros behind it; behind
		// a whole one stands at least an end mark.
		if reason == ErrFrameHeader && zeros(rest[frameHeaderSize:]) {
			return r.torn()
		}
		return r.damage(reason)
	}
	if f.Seq != r.seq {
		return r.damage(ErrSequence)
	}
	size := FrameOverhead + n
	if len(rest) < size {
		return r.torn()
	}
	if reason := checkBody(rest[:size]); reason != nil {
		if zeros(rest[size-1:]) {
			return r.torn()
		}
		return r.damage(reason)
	}
	f.Offset = r.at
	f.Body = rest[frameHeaderSize : frameHeaderSize+n : frameHeaderSize+n]
	if !r.advance(&f) {
		return r.damage(ErrCheckpoint)
	}
	return f, int64(size), nil
}

// checkBody checks the trailer of a whole frame.
func checkBody(frame []byte) (reason error) {
	covered := frame[:len(frame)-frameTrailerSize]
	trailer := frame[len(covered):]
	if binary.BigEndian.Uint32(trailer) != crc32.Checksum(covered, castagnoli) || trailer[4] != endMark {
		return ErrFrameBody
	}
	return nil
}

// advance moves the stage over f and reports whether f may stand here.
func (r *Reader) advance(f *Frame) bool {
	f.FromCheckpoint = r.stage != afterCheckpoint
	switch {
	case r.stage == beforeCheckpoint && f.Type == FrameCheckpointBegin:
		r.stage = inCheckpoint
	case r.stage == inCheckpoint && f.Type == FrameCheckpointEnd:
		r.stage = afterCheckpoint
	case r.stage == beforeCheckpoint || f.Type != FrameRecord:
		return false
	}
	return true
}

func (r *Reader) damage(reason error) (Frame, int64, error) {
	return Frame{}, 0, &DamageError{File: r.name, Offset: r.at, Reason: reason}
}

func (r *Reader) torn() (Frame, int64, error) {
	return r.end(&TornError{File: r.name, Offset: r.at, Size: int64(len(r.data)) - r.at})
}

// end gives err as the end of the segment, which cannot come before the end of
// its checkpoint.
func (r *Reader) end(err error) (Frame, int64, error) {
	if r.stage != afterCheckpoint {
		return r.damage(ErrCheckpoint)
	}
	return Frame{}, 0, err
}

// zeros reports whether b holds nothing but zeros; it does when empty.
func zeros(b []byte) bool {
	return len(bytes.TrimLeft(b, "\x00")) == 0
}
