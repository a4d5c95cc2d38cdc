package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// SegmentVersion is the version of the journal's format: of the framing and of
	// the records. A change of either raises it. In version 1, the records started
	// and ended had fewer fields; version 2 had no record opened, version 3 none complained, in
	// version 4 a record held had no transfer before its own, and version 5 had no record told.
	SegmentVersion = 8

	// SegmentHeaderSize is the size of the header that begins a segment, in
	// bytes. It has this size and its checksum this place in every version, so
	// that another version is told from damage.
	SegmentHeaderSize = 88

	magic         = "\x89WNDRJ\r\n" // the high bit and the line end betray a copy made as text
	segmentSuffix = ".journal"
	segmentDigits = 16
)

// SegmentHeader begins each segment file: magic 8 bytes, version 4, number 8,
// first sequence number 8, time of creation 8, group 32, member 16, CRC-32C of
// these 4. Integers are big-endian.
type SegmentHeader struct {
	// Number counts the segments of a journal from 1.
	Number uint64
	// FirstSeq is the sequence number of the segment's first frame.
	FirstSeq uint64
	// Created is the wall clock when the segment was begun, in milliseconds
	// since 1970 UTC: also when the segment before it ended. Informational; it
	// decides only how long segments are kept.
	Created uint64
	// Group and Member say whose journal it is.
	Group  ident.Group
	Member ident.Member
}

// Append appends the encoded header to dst.
func (h SegmentHeader) Append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	dst = binary.BigEndian.AppendUint32(dst, SegmentVersion)
	dst = binary.BigEndian.AppendUint64(dst, h.Number)
	dst = binary.BigEndian.AppendUint64(dst, h.FirstSeq)
	dst = binary.BigEndian.AppendUint64(dst, h.Created)
	dst = append(dst, h.Group[:]...)
	dst = append(dst, h.Member[:]...)
	return binary.BigEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// ParseSegmentHeader reads the header at the beginning of data, the contents
// of the file called name; more than SegmentHeaderSize bytes are not looked
// at. It returns a *DamageError when there is none.
func ParseSegmentHeader(name string, data []byte) (SegmentHeader, error) {
	var h SegmentHeader
	if reason := h.parse(data); reason != nil {
		return SegmentHeader{}, &DamageError{File: name, Reason: reason}
	}
	return h, nil
}

func (h *SegmentHeader) parse(data []byte) (reason error) {
	if len(data) < SegmentHeaderSize || string(data[:len(magic)]) != magic {
		return ErrMagic
	}
	const body = SegmentHeaderSize - 4
	if binary.BigEndian.Uint32(data[body:]) != crc32.Checksum(data[:body], castagnoli) {
		return ErrSegmentHeader
	}
	if v := binary.BigEndian.Uint32(data[8:]); v != SegmentVersion {
		return &VersionError{v}
	}
	h.Number = binary.BigEndian.Uint64(data[12:])
	h.FirstSeq = binary.BigEndian.Uint64(data[20:])
	h.Created = binary.BigEndian.Uint64(data[28:])
	copy(h.Group[:], data[36:])
	copy(h.Member[:], data[68:])
	return nil
}

// SegmentName is the file name of the segment with this number. Names of one
// length sort as their numbers do.
func SegmentName(number uint64) string {
	return fmt.Sprintf("%0*d%s", segmentDigits, number, segmentSuffix)
}

// ParseSegmentName is the inverse of SegmentName; ok is false for names that
// SegmentName does not give.
func ParseSegmentName(name string) (number uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || number == 0 || SegmentName(number) != name {
		return 0, false
	}
	return number, true
}
