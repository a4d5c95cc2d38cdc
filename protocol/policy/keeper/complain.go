package keeper

import (
	"github.com/wandertoken/wander/protocol/ident"
)

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
