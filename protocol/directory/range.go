package directory

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// maxParts bounds the parts into which Split divides a range.
const maxParts = wire.MaxParts

// Fingerprint returns the number of all members that Page would give, and the
// XOR of their fingerprints. Two directories that know the same of these
// members have the same fingerprint. It is no authentication: somebody who can
// have members certified can make two different sets look alike, and then only
// keeps the sets different for a while. For a directory that knows a sample
// only, both are zero.
func (d *Directory) Fingerprint() (count uint64, xor Fingerprint) {
	if d.sample != nil {
		return 0, Fingerprint{}
	}
	return d.order.whole.members, d.order.whole.fingerprint
}

// Range returns what Fingerprint returns, for the members with ids from the one
// to the other, both included. With a million members it adds up some thousand
// sums.
func (p *Pages) Range(from, through ident.Member) (count uint64, xor Fingerprint) {
	var total sum
	p.known.order.scan(from, through,
		func(s sum) bool { total.add(s); return true },
		func(f *facts) { total.add(sum{1, f.fingerprint}) })
	return total.members, total.fingerprint
}

// Split divides the range of ids from the one to the other, both included, into
// parts of nearly equal count: at most parts, at most maxParts, at most one for
// each member, and at least one. The parts follow each other: each ends at its
// Through, and the last one at the end of the range. A range that ends before
// it begins has no parts. Split costs little more than Range.
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
