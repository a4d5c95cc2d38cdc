package signature

import (
	"encoding/binary"
	"sync"

	"filippo.io/edwards25519"
)

// The sums of multiples of points that the equations need, for public inputs
// only: the time it takes depends on them.
//
// A multiple is added up from the signed digits of its scalar (width-w
// non-adjacent form: odd digits, at least w-1 zeros between two) and a table of
// odd multiples of its point. All terms share the doublings. A scalar cut into
// pieces of 64 digits, with a table for the point and for 2^64, 2^128 and 2^192
// times the point, needs 64 doublings instead of 256: such tables are kept for
// the base point and for keys in use.

const (
	digits    = 256     // of any scalar; the last two are always 0
	halfSize  = 128 + 1 // of the digits of a 128-bit scalar
	pieces    = 4       // of a scalar whose point has a spread table
	pieceSize = digits / pieces
)

// Widths of the digits. A wider table costs more to build and to keep and
// saves additions: 8 points suit a table for one use, 64 the base point's.
const (
	widthPoint = 5
	widthBase  = 8
)

// term is one multiple: the lowest digit first, and the odd multiples they
// select.
type term struct {
	digits []int8
	odd    []edwards25519.Point
}

// spread holds the odd multiples of p, 2^64 p, 2^128 p and 2^192 p.
type spread [pieces][]edwards25519.Point

// baseSpread is the base point's, 40 kB.
var baseSpread = sync.OnceValue(func() *spread {
	return newSpread(edwards25519.NewGeneratorPoint(), widthBase)
})

func newSpread(p *edwards25519.Point, width uint) *spread {
	var s spread
	q := new(edwards25519.Point).Set(p)
	for i := range s {
		s[i] = oddMultiples(q, width)
		for range pieceSize {
			q.Double(q)
		}
	}
	return &s
}

// oddMultiples are p, 3p, 5p, … as far as digits of this width reach.
func oddMultiples(p *edwards25519.Point, width uint) []edwards25519.Point {
	odd := make([]edwards25519.Point, 1<<(width-2))
	twice := new(edwards25519.Point).Double(p)
	odd[0].Set(p)
	for i := range odd[1:] {
		odd[i+1].Add(&odd[i], twice)
	}
	return odd
}

// appendTo adds the terms of a scalar's digits times the spread point.
func (s *spread) appendTo(terms []term, d *[digits]int8) []term {
	for i := range s {
		terms = append(terms, term{digits: d[i*pieceSize : (i+1)*pieceSize], odd: s[i]})
	}
	return terms
}

// nonAdjacent computes the digits of a scalar: odd, or 0, and between plus and
// minus 2^(width-1).
func nonAdjacent(s *edwards25519.Scalar, width uint) (d [digits]int8) {
	var words [5]uint64 // one more than a scalar has, to read windows across its end
	for i, b := 0, s.Bytes(); i < 4; i++ {
		words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	size := uint64(1) << width
	carry := uint64(0)
	for at := uint(0); at < digits; {
		word, bit := at/64, at%64
		window := words[word]>>bit | words[word+1]<<1<<(63-bit)
		window = window&(size-1) + carry
		if window%2 == 0 {
			at++
			continue
		}
		carry = 0
		if window > size/2 {
			carry = 1
		}
		d[at] = int8(int64(window) - int64(carry*size))
		at += width
	}
	return d
}

// sum sets p to the sum of all terms.
func sum(p *edwards25519.Point, terms []term) {
	p.Set(edwards25519.NewIdentityPoint())
	longest := 0
	for i := range terms {
		longest = max(longest, len(terms[i].digits))
	}
	for at := longest - 1; at >= 0; at-- {
		p.Double(p)
		for i := range terms {
			t := &terms[i]
			if at >= len(t.digits) {
				continue
			}
			if d := t.digits[at]; d > 0 {
				p.Add(p, &t.odd[d/2])
			} else if d < 0 {
				p.Subtract(p, &t.odd[-d/2])
			}
		}
	}
}
