package wandering

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

var _ policy.Observant = (*walker)(nil)

// hears notes, for people only, that a member has the token, as another one or itself says.
func (f *fair) hears(holder, by ident.Member, t *sight, at clock.Instant) {
	if holder == f.search.self || t.id == (ident.Token{}) {
		return
	}
	f.heardOf = f.heardOf.Later(policy.Observation{Holder: holder, By: by, Token: t.id, Born: t.born, Hop: t.hop, At: at})
}

// Observed implements policy.Observant: which member was said last to have the token, and how
// many of those that wait had their turn longer ago than this one.
func (w *walker) Observed(others int) (o policy.Observation) {
	f := w.fair
	if f == nil {
		return o
	}
	o = f.heardOf
	o.Known = 1
	if others > w.timekeepers {
		o.Known = float64(w.timekeepers) / float64(others)
	}
	own := w.waited(f.had, w.weightOf(w.self))
	for i := range f.store.list[:f.store.n] {
		if t := &f.store.list[i]; t.wants && t.member != w.self && t.member != o.Holder && w.waited(t.served, w.weightOf(t.member)) > own {
			o.Ahead++
		}
	}
	return o
}
