package directory

import (
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
)

// Voters appends the n members that rank highest for a slot (of, see SlotID),
// the highest first, and returns in all how many voters there are. A voter is
// every member with a certificate here that is neither revoked nor has left,
// this one included. Neither silence nor a clock nor the word of others takes a
// member off the list, so members on two sides of a partition name the same
// voters. With a sample (SetSample) there are none, because each member has
// another sample.
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
