// Package ident holds the identifiers that every layer shares: fixed-size
// values that compare with ==, serve as map keys and print as lower-case hex.
//
// It is the ground floor of protocol/: it imports nothing of the project.
package ident

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
)

// Sizes of the identifiers, in bytes.
const (
	HashSize        = sha256.Size // H(x), token ids and group ids
	MemberSize      = 16          // member ids: SHA-256 truncated
	incarnationSize = 16          // 128 random bits
	grantSize       = 16          // 128 random bits
	MACSize         = 16          // HMAC-SHA256 truncated
)

// MaxHop is the highest hop number. A token that is passed on each millisecond
// reaches it after 8,900 years, and the sum of two of them does not overflow.
const MaxHop = 1 << 48

// ErrMalformed is returned when text is not the hex form of an identifier.
var ErrMalformed = errors.New("malformed identifier")

// Hash is H(x) of a signed object: the SHA-256 of its COSE Sig_structure, of
// what was signed and not how (handoff rules §1).
type Hash [HashSize]byte

// Token is a token's identifier: the Hash of its genesis.
type Token [HashSize]byte

// Group identifies a group: the SHA-256 of its first CA key. Rotating the CA
// does not change it.
type Group [HashSize]byte

// Member identifies one key in one group.
type Member [MemberSize]byte

// Incarnation is the identity of a member's custody memory (handoff rules §1):
// 128 random bits, never reused.
type Incarnation [incarnationSize]byte

// MAC is what a receiver recognises its own ACCEPT by (handoff rules §4). To
// anybody else it is 16 bytes without a meaning.
type MAC [MACSize]byte

// Reservation is what an ACCEPT gives to the offerer, and what the TRANSFER that
// relies on that ACCEPT names again.
type Reservation struct {
	Incarnation Incarnation // of the receiver
	Number      uint64      // the accept number, from 1
	MAC         MAC         // over offerer, token, hop and number
}

// Grant identifies one permission given to a local program.
type Grant [grantSize]byte

// GroupOf is the identifier of the group whose first CA has this public key.
func GroupOf(caPublicKey []byte) Group {
	h := sha256.New()
	h.Write([]byte("wander group\x00"))
	h.Write(caPublicKey)
	return Group(h.Sum(nil))
}

// MemberOf is the identifier of the member with this public key in group g.
func MemberOf(g Group, publicKey []byte) Member {
	h := sha256.New()
	h.Write([]byte("wander member\x00"))
	h.Write(g[:])
	h.Write(publicKey)
	return Member(h.Sum(nil)[:MemberSize])
}

func (h Hash) String() string        { return hex.EncodeToString(h[:]) }
func (t Token) String() string       { return hex.EncodeToString(t[:]) }
func (g Group) String() string       { return hex.EncodeToString(g[:]) }
func (m Member) String() string      { return hex.EncodeToString(m[:]) }
func (i Incarnation) String() string { return hex.EncodeToString(i[:]) }
func (g Grant) String() string       { return hex.EncodeToString(g[:]) }

// Short is the first 8 hex digits, for people; never for comparison.
func (h Hash) Short() string { return hex.EncodeToString(h[:4]) }

// Short is the first 8 hex digits, for people; never for comparison.
func (t Token) Short() string { return hex.EncodeToString(t[:4]) }

// Short is the first 8 hex digits, for people; never for comparison.
func (m Member) Short() string { return hex.EncodeToString(m[:4]) }

// IsZero reports whether the identifier is all zeros, which names nothing.
func (h Hash) IsZero() bool { return h == Hash{} }

// IsZero reports whether the identifier is all zeros, which names nobody.
func (m Member) IsZero() bool { return m == Member{} }

// Compare orders members by their bytes: the order of a ring and the
// tie-break between two simultaneous dials.
func (m Member) Compare(o Member) int {
	a, b := binary.BigEndian.Uint64(m[:]), binary.BigEndian.Uint64(o[:])
	if a == b {
		a, b = binary.BigEndian.Uint64(m[8:]), binary.BigEndian.Uint64(o[8:])
	}
	return cmp.Compare(a, b)
}

// LastMember is the greatest member id, where a range of all ids ends.
func LastMember() Member {
	var m Member
	for i := range m {
		m[i] = 0xff
	}
	return m
}

// Next is the id that follows m, or the zero id behind the last one.
func (m Member) Next() Member {
	for i := len(m) - 1; i >= 0; i-- {
		if m[i]++; m[i] != 0 {
			break
		}
	}
	return m
}

// Compare orders hashes by their bytes.
func (h Hash) Compare(o Hash) int { return bytes.Compare(h[:], o[:]) }

// Compare orders tokens by their bytes.
func (t Token) Compare(o Token) int { return bytes.Compare(t[:], o[:]) }

// MarshalText makes the identifier readable in JSON, TOML and log lines.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// MarshalText makes the identifier readable in JSON, TOML and log lines.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalText makes the identifier readable in JSON, TOML and log lines.
func (g Group) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// MarshalText makes the identifier readable in JSON, TOML and log lines.
func (m Member) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// MarshalText makes the identifier readable in JSON, TOML and log lines.
func (i Incarnation) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// MarshalText makes the identifier readable in JSON, TOML and log lines.
func (g Grant) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads the hex form.
func (g *Grant) UnmarshalText(b []byte) error { return fromHex(g[:], b) }

// UnmarshalText reads the hex form.
func (h *Hash) UnmarshalText(b []byte) error { return fromHex(h[:], b) }

// UnmarshalText reads the hex form.
func (t *Token) UnmarshalText(b []byte) error { return fromHex(t[:], b) }

// UnmarshalText reads the hex form.
func (g *Group) UnmarshalText(b []byte) error { return fromHex(g[:], b) }

// UnmarshalText reads the hex form.
func (m *Member) UnmarshalText(b []byte) error { return fromHex(m[:], b) }

// UnmarshalText reads the hex form.
func (i *Incarnation) UnmarshalText(b []byte) error { return fromHex(i[:], b) }

func fromHex(dst, text []byte) error {
	if hex.DecodedLen(len(text)) != len(dst) || len(text)%2 != 0 {
		return fmt.Errorf("%w: want %d hex digits, got %d", ErrMalformed, hex.EncodedLen(len(dst)), len(text))
	}
	if _, err := hex.Decode(dst, text); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}
