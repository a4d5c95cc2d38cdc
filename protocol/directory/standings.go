package directory

import (
	"iter"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// Standings goes through the members with a certificate here, dead ones included,
// whose ids are from or above, in their order, with what Status says of each at
// the time now. To begin anywhere costs no more than to begin with the first, so
// that a large directory can be looked at in pieces. It must not be changed while
// one is.
func (d *Directory) Standings(from ident.Member, now time.Time) iter.Seq2[ident.Member, error] {
	return func(yield func(ident.Member, error) bool) {
		for f := range d.order.from(from) {
			if !yield(f.id, f.status(now)) {
				return
			}
		}
	}
}
