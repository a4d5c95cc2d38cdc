package token

import "github.com/wandertoken/wander/crypto/canonical"

// TagSize is the size of the random tag of an opening, in bytes. Two openings with one
// number, after an old journal was put back, have different tags.
const TagSize = 8

// Position says where in its signer's journal an object was signed: the opening of the
// journal, and how many records of custody there were. By it a member whose journal has
// gone back recognises what it has signed and forgotten (handoff rules §10).
type Position struct {
	Opening uint64
	Tag     [TagSize]byte
	Serial  uint64
}

// extensionPosition is the key of a position among an object's extensions.
const extensionPosition = 3

// maxPosition is the size of the longest encoded position, in bytes.
const maxPosition = 1 + 9 + 1 + TagSize + 9

// IsZero reports whether p is no position. The first opening has a number above 0.
func (p Position) IsZero() bool { return p.Opening == 0 }

// After reports whether p is of a later opening than q, or later in the same.
func (p Position) After(q Position) bool {
	return p.Opening > q.Opening || p.Opening == q.Opening && p.Serial > q.Serial
}

// Extensions returns those of an object that names its position, and none for the zero
// value.
func (p Position) Extensions() canonical.Extensions {
	if p.IsZero() {
		return canonical.Extensions{}
	}
	var space [maxPosition]byte
	return canonical.Extensions{}.With(extensionPosition, p.append(space[:0]))
}

// The heads of what a position consists of, in CBOR.
const (
	arrayOf3  = 0x83
	tagString = 0x40 | TagSize
	longUint  = 0x1b // 8 bytes follow
)

// append appends what canonical.Marshal returns, which costs ten allocations in each
// object.
func (p Position) append(b []byte) []byte {
	b = canonical.AppendUint(append(b, arrayOf3), p.Opening)
	b = append(append(b, tagString), p.Tag[:]...)
	return canonical.AppendUint(b, p.Serial)
}

// decodeUint reads a number of any length behind from, and returns what follows it.
func decodeUint(from []byte) (n uint64, rest []byte, ok bool) {
	if len(from) == 0 || from[0] > longUint {
		return 0, nil, false
	}
	head := from[0]
	if head < 24 {
		return uint64(head), from[1:], true
	}
	size := 1 << (head - 24)
	if len(from) <= size {
		return 0, nil, false
	}
	for _, b := range from[1 : 1+size] {
		n = n<<8 | uint64(b)
	}
	return n, from[1+size:], true
}

// PositionOf is the position that an object's extensions name, or the zero value if they
// name none, or something that is none.
func PositionOf(e canonical.Extensions) (p Position) {
	raw := e.Get(extensionPosition)
	if len(raw) == 0 || raw[0] != arrayOf3 {
		return Position{}
	}
	opening, rest, ok := decodeUint(raw[1:])
	if !ok || len(rest) < 1+TagSize || rest[0] != tagString {
		return Position{}
	}
	serial, end, ok := decodeUint(rest[1+TagSize:])
	if !ok || len(end) > 0 {
		return Position{}
	}
	return Position{Opening: opening, Tag: [TagSize]byte(rest[1 : 1+TagSize]), Serial: serial}
}
