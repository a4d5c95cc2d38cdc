package directory

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// maxParts bounds the parts into which Split divides a range.
const maxParts = wire.MaxParts

// Fingerprint is the number of all members that Page would give, and the XOR of
// their fingerprints. Two directories that know the same of them have the same.
// It is no authentication: whoever can have members certified can make two
// different sets look alike, and then only keeps them different for a while. A
// directory that knows a sample only has 0 and zeros.
func (d *Directory) Fingerprint() (count uint64, xor Fingerprint) {
	if d.sample != nil {
		return 0, Fingerprint{}
	}
	return d.order.whole.members, d.order.whole.fingerprint
}

// Range is Fingerprint of the members with ids from the one to the other, both
// included. At a million members it looks at some thousand sums.
func (p *Pages) Range(from, through ident.Member) (count uint64, xor Fingerprint) {
	var total sum
	p.known.order.scan(from, through,
		func(s sum) bool { total.add(s); return true },
		func(f *facts) { total.add(sum{1, f.fingerprint}) })
	return total.members, total.fingerprint
}

// Split divides the range of ids from the one to the other, both included, into
// at most so many parts, and maxParts, of nearly equal count. They follow each
// other: each part ends at its Through, the last one at the end of the range.
// There is at least one, and no more than members. It costs little more than
// Range. A range that ends before it begins has no parts.
func (p *Pages) Split(from, through ident.Member, parts int) []wire.Part {
	if from.Compare(through) > 0 {
		return nil
	}
	total, _ := p.Range(from, through)
	n := uint64(max(min(parts, maxParts, int(total)), 1))
	list := make([]wire.Part, 0, n)
	var open sum // the part that is not finished
	done := uint64(0)
	end := func() uint64 { return total * uint64(len(list)+1) / n } // of the open part
	p.known.order.scan(from, through,
		func(s sum) bool {
			if done+open.members+s.members >= end() {
				return false
			}
			open.add(s)
			return true
		},
		func(f *facts) {
			open.add(sum{1, f.fingerprint})
			if done+open.members == end() && uint64(len(list)) < n-1 {
				list = append(list, wire.Part{Through: f.id, Members: open.members, Fingerprint: open.fingerprint})
				done, open = done+open.members, sum{}
			}
		})
	return append(list, wire.Part{Through: through, Members: open.members, Fingerprint: open.fingerprint})
}
