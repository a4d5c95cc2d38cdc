package keeper

import (
	"cmp"

	"github.com/wandertoken/wander/protocol/policy"
)

// Observed implements policy.Observant: what the policy knows, and what this member knows as the slot's keeper.
func (k *Keeper) Observed(others int) (o policy.Observation) {
	if v, ok := k.holder.inner.(policy.Observant); ok {
		o = v.Observed(others)
	}
	s := &k.search
	if l := &s.last; s.isElsewhere() {
		seen := policy.Observation{Holder: l.holder, By: cmp.Or(l.from, l.holder), Token: l.token, Hop: l.hop, At: l.at, Since: l.since}
		if l.ends > k.Now {
			seen.Ends, seen.Runs = l.ends, l.runs
		}
		if s.isAway() {
			seen.Away = s.absence.until
		}
		o = o.Later(seen)
	}
	switch s.stage {
	case following, everybody:
		o.Search = policy.Asking
	case lost:
		o.Search, o.Due = policy.Lost, s.due
	}
	return o
}
