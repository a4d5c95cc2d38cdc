package canonical

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// deepest is the nesting that no Limits can exceed. The check recurses, so
// this bounds its stack whatever a caller permits; signed objects nest 5 deep.
const deepest = 32

// Limits bounds what Check accepts. A zero field permits nothing.
type Limits struct {
	MaxBytes int // length of the whole input
	MaxDepth int // arrays and maps around the innermost item; at most 32 counts
	MaxItems int // data items, nested ones and map keys included
}

// Major types of RFC 8949 §3.1.
const (
	majorUint = iota
	majorNegative
	majorBytes
	majorText
	majorArray
	majorMap
	majorTag
	majorSimple
)

// Check reports whether data is exactly one deterministically encoded item
// without tags and floating point, within l. It allocates only to describe an
// error; all errors of this package except ErrNotCanonical and ErrExtension
// can come back, wrapped with the offset.
func Check(data []byte, l Limits) error {
	if len(data) > l.MaxBytes {
		return fmt.Errorf("%w: %d, at most %d", ErrTooLarge, len(data), l.MaxBytes)
	}
	s := scanner{data: data, items: l.MaxItems}
	err := s.item(min(l.MaxDepth, deepest))
	if err == nil && s.off != len(data) {
		err = ErrTrailing
	}
	if err != nil {
		return fmt.Errorf("%w at byte %d", err, s.off)
	}
	return nil
}

// scanner walks over one input.
type scanner struct {
	data  []byte
	off   int // next unread byte
	items int // how many items may still come
}

// item reads one item; depth is how many levels of nesting are left.
func (s *scanner) item(depth int) error {
	if s.items--; s.items < 0 {
		return ErrTooMany
	}
	major, arg, err := s.head()
	if err != nil {
		return err
	}
	switch major {
	case majorBytes:
		_, err = s.take(arg)
	case majorText:
		err = s.text(arg)
	case majorArray:
		err = s.array(arg, depth-1)
	case majorMap:
		err = s.pairs(arg, depth-1)
	case majorTag:
		err = ErrTag
	}
	return err
}

// head reads an initial byte and its argument (RFC 8949 §3).
func (s *scanner) head() (major byte, arg uint64, err error) {
	if s.off >= len(s.data) {
		return 0, 0, ErrTruncated
	}
	first := s.data[s.off]
	major, info := first>>5, first&0x1f
	if major == majorSimple {
		return major, 0, s.simple(info)
	}
	switch {
	case info < 24:
		s.off++
		return major, uint64(info), nil
	case info < 28:
		arg, err = s.argument(1 << (info - 24))
		return major, arg, err
	case info == 31 && major >= majorBytes && major <= majorMap:
		return 0, 0, ErrIndefinite
	}
	return 0, 0, ErrType
}

// argument reads the size bytes behind an initial byte and refuses a value
// that would have fitted in fewer (RFC 8949 §4.2.1).
func (s *scanner) argument(size int) (uint64, error) {
	if len(s.data)-s.off <= size {
		return 0, ErrTruncated
	}
	b := s.data[s.off+1 : s.off+1+size]
	var v, least uint64
	switch size {
	case 1:
		v, least = uint64(b[0]), 24
	case 2:
		v, least = uint64(binary.BigEndian.Uint16(b)), 1<<8
	case 4:
		v, least = uint64(binary.BigEndian.Uint32(b)), 1<<16
	case 8:
		v, least = binary.BigEndian.Uint64(b), 1<<32
	}
	if v < least {
		return 0, ErrNotShortest
	}
	s.off += 1 + size
	return v, nil
}

// simple accepts false, true and null (RFC 8949 §3.3).
func (s *scanner) simple(info byte) error {
	switch info {
	case 20, 21, 22:
		s.off++
		return nil
	case 31:
		return ErrIndefinite // a break outside anything it could end
	}
	return ErrType
}

// take steps over n bytes of content.
func (s *scanner) take(n uint64) ([]byte, error) {
	if n > uint64(len(s.data)-s.off) {
		return nil, ErrTruncated
	}
	b := s.data[s.off : s.off+int(n)]
	s.off += int(n)
	return b, nil
}

func (s *scanner) text(n uint64) error {
	b, err := s.take(n)
	if err == nil && !utf8.Valid(b) {
		return ErrUTF8
	}
	return err
}

// container refuses a count that cannot be before anybody believes it.
func (s *scanner) container(n uint64, depth int) error {
	switch {
	case depth < 0:
		return ErrTooDeep
	case n > uint64(len(s.data)-s.off):
		return ErrTruncated // every item has at least one byte
	}
	return nil
}

func (s *scanner) array(n uint64, depth int) error {
	if err := s.container(n, depth); err != nil {
		return err
	}
	for range n {
		if err := s.item(depth); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) pairs(n uint64, depth int) error {
	if err := s.container(n, depth); err != nil {
		return err
	}
	var last []byte
	for range n {
		start := s.off
		if err := s.item(depth); err != nil {
			return err
		}
		key := s.data[start:s.off]
		if last != nil && bytes.Compare(last, key) >= 0 {
			s.off = start
			return ErrUnsorted
		}
		last = key
		if err := s.item(depth); err != nil {
			return err
		}
	}
	return nil
}
