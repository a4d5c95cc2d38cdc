package keeper

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// complains has the member write down that it begins to act against another one, for what became of a
// custody there (P-82). It is called where a back-off is new: back-offs from one member double, up to
// maxBackoff, so that a member that gives cause all the time is written down a logarithmic number of times
// before, and once a day in the end.
func (k *Keeper) complains(m ident.Member, c custody, measure policy.Measure, cause policy.Cause) {
	k.actions = append(k.actions, policy.Action{
		Kind: policy.Complain, To: m, Token: c.token, Hop: c.hop, Measure: measure, Cause: cause,
	})
}

// custodyOf is the custody of a member that an inquest is about: of the one that had the token, as of the one
// that says that it passed the token to that one, or is said to have it from there.
func (i *inquest) custodyOf(m ident.Member) custody {
	switch {
	case m == i.member:
	case i.says == never && m == i.from:
		return custody{i.token, i.hop - 1}
	case i.says == sent && m == i.to:
		return custody{i.token, i.toHop}
	}
	return i.custody
}
