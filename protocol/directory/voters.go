package directory

import (
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
)

// Voters appends the n members that rank highest for a slot (see SlotID), the highest
// first, and returns how many there are in all: every member with a certificate here that
// is neither revoked nor has left, this one among them. Neither silence nor a clock takes a
// member off the list, nor does what others say of it: those on two sides of a cut name the
// same ones. With a sample (SetSample) there are none, since each member has another one.
//
// The cost grows with the number of members.
func (d *Directory) Voters(of ident.Member, n int, to []ident.Member) (list []ident.Member, all int) {
	if d.Sampled() {
		return to, 0
	}
	ranks, best := NewWitnessRank(d.group.ID(), of), []ranked(nil)
	for i := range d.order.blocks {
		b := &d.order.blocks[i]
		for k, id := range b.ids {
			if f := b.list[k]; f.revocation() != nil || f.leave() != nil {
				continue
			}
			all++
			r := ranked{ranks.Of(id), id}
			if len(best) == n && (n == 0 || !r.above(best[n-1])) {
				continue
			}
			at, _ := slices.BinarySearchFunc(best, r, func(a, b ranked) int {
				if a.above(b) {
					return -1
				}
				return 1
			})
			best = slices.Insert(best, at, r)
			best = best[:min(n, len(best))]
		}
	}
	for _, r := range best {
		to = append(to, r.id)
	}
	return to, all
}
