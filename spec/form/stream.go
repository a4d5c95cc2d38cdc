package form

import (
	"bytes"
	"crypto/sha3"
	"encoding/binary"
)

// Stream is the bytes that an object is drawn from.
type Stream struct {
	shake *sha3.SHAKE // nil: every byte is fill
	fill  byte
}

// Least is a stream of zeros: numbers, lengths and counts are the lowest, and what may be
// absent is.
func Least() *Stream { return new(Stream) }

// Full is a stream of ones: nothing is absent.
func Full() *Stream { return &Stream{fill: 1} }

// NewStream is the stream of one seeded case of an object: SHAKE256 of the text
// "wander vectors 1", a zero byte, the object's name, a zero byte and the number
// of the case, 4 bytes big-endian. The README says how fields are drawn from it.
func NewStream(object string, number uint32) *Stream {
	s := &Stream{shake: sha3.NewSHAKE256()}
	seed := append([]byte("wander vectors 1\x00"+object), 0)
	_, _ = s.shake.Write(binary.BigEndian.AppendUint32(seed, number)) // never fails
	return s
}

// Bytes draws n bytes.
func (s *Stream) Bytes(n int) []byte {
	if s.shake == nil {
		return bytes.Repeat([]byte{s.fill}, n)
	}
	b := make([]byte, n)
	_, _ = s.shake.Read(b) // never fails
	return b
}

// below draws a number below n, which is at most 65536: two bytes, big-endian,
// modulo n.
func (s *Stream) below(n int) int { return int(binary.BigEndian.Uint16(s.Bytes(2))) % n }

// Number draws a number of any length: one byte modulo 9 says of how many bytes,
// and these follow, big-endian.
func (s *Stream) Number() (v uint64) {
	for _, b := range s.Bytes(int(s.Bytes(1)[0]) % 9) {
		v = v<<8 | uint64(b)
	}
	return v
}

// boolean draws one byte: its lowest bit.
func (s *Stream) boolean() bool { return s.Bytes(1)[0]&1 == 1 }

// nameLetters are what names are drawn from.
const nameLetters = "abcdefghijklmnopqrstuvwxyz0123456789"

// Name draws a name of 1 to most letters and digits: the length less 1 below
// most, then one byte for each character, modulo 36.
func (s *Stream) Name(most int) string {
	b := s.Bytes(1 + s.below(most))
	for i := range b {
		b[i] = nameLetters[int(b[i])%len(nameLetters)]
	}
	return string(b)
}
