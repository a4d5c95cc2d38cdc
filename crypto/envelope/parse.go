package envelope

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/wandertoken/wander/crypto/signature"
)

// Parse reads the one permitted form of an envelope of domain d. raw is
// copied. The bytes are checked up to the signature's length, not the
// signature itself, and not what is in the payload.
func Parse(d Domain, raw []byte) (Unverified, error) {
	if !d.Kind.valid() {
		return Unverified{}, fmt.Errorf("%w: %s", ErrKind, d.Kind)
	}
	if err := parseHeader(raw); err != nil {
		return Unverified{}, err
	}
	start, end, err := parsePayload(raw, d.Kind.maxPayload())
	if err != nil {
		return Unverified{}, err
	}
	if err := parseTail(raw[end:]); err != nil {
		return Unverified{}, err
	}
	raw = bytes.Clone(raw)
	tbs := sigStructure(d, raw[:end])
	return Unverified{tbs: tbs, content: content{
		domain: d, raw: raw, payload: raw[start:end:end], hash: sha256.Sum256(tbs),
	}}, nil
}

// parseHeader accepts the fixed bytes up to the payload.
func parseHeader(raw []byte) error {
	switch {
	case !bytes.HasPrefix(raw, []byte(opening[:tagLen])):
		if len(raw) < tagLen && bytes.HasPrefix([]byte(opening), raw) {
			return ErrTruncated
		}
		return ErrTag
	case len(raw) < len(opening) && bytes.HasPrefix([]byte(opening), raw):
		return ErrTruncated
	case !bytes.HasPrefix(raw, []byte(opening)):
		return ErrHeader
	case len(raw) < bodyAt:
		return ErrTruncated
	case raw[unprotected] != 0xa0:
		return ErrHeader
	}
	return nil
}

// parsePayload finds the payload: a byte string of at most so many bytes, whose
// head has one, two or three bytes, or five where so many are permitted.
func parsePayload(raw []byte, most int) (start, end int, err error) {
	rest := raw[bodyAt:]
	if len(rest) < maxHead {
		return 0, 0, ErrTruncated
	}
	size, head := 0, 0
	switch first := rest[0]; {
	case first >= 0x40 && first < 0x58:
		size, head = int(first&0x1f), 1
	case first == 0x58 && rest[1] >= 24:
		size, head = int(rest[1]), 2
	case first == 0x59 && rest[1] > 0:
		size, head = int(binary.BigEndian.Uint16(rest[1:])), 3
	case first == 0x5a && most >= 1<<16 && binary.BigEndian.Uint32(rest[1:]) >= 1<<16:
		size, head = int(min(binary.BigEndian.Uint32(rest[1:]), math.MaxInt32)), maxHead
	default:
		return 0, 0, ErrPayload
	}
	switch {
	case size > most:
		return 0, 0, fmt.Errorf("%w: %d, at most %d", ErrTooLarge, size, most)
	case size > len(rest)-head:
		return 0, 0, ErrTruncated
	}
	return bodyAt + head, bodyAt + head + size, nil
}

// parseTail accepts a signature and nothing behind it.
func parseTail(tail []byte) error {
	switch {
	case len(tail) >= 2 && (tail[0] != 0x58 || tail[1] != signature.SignatureSize):
		return ErrSignatureSize
	case len(tail) < tailSize:
		return ErrTruncated
	case len(tail) > tailSize:
		return ErrTrailing
	}
	return nil
}
