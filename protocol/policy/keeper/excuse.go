package keeper

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// excuse is how a member has explained, without a proof, that a token was lost with it (P-81).
type excuse struct {
	member  ident.Member
	custody               // that it explains
	began   clock.Instant // when it began anew, if that explains it and all losses before; zero: it does not
	to      ident.Member  // the member that it has sent the token to, as long as that one says nothing
	minted  bool          // it says that another member has made another token (P-77, 3)
	at      clock.Instant
}

// same reports whether two excuses count as one. Messages take some time, so that two answers name one beginning a little
// differently.
func (e excuse) same(o excuse, within time.Duration) bool {
	began := e.began != 0 && o.began != 0 && max(e.began.Sub(o.began), o.began.Sub(e.began)) <= within
	return e.member == o.member && e.minted == o.minted && (e.custody == o.custody || began)
}

// excuses are those of all members, at most maxDoubts, the last one last. The zero value is empty.
type excuses []excuse

// note notes an excuse, forgets those from before an instant, and returns how many of its kind the member has
// had. The same one counts once.
func (s *excuses) note(e excuse, since clock.Instant, within time.Duration) (n int) {
	*s = slices.DeleteFunc(*s, func(o excuse) bool { return o.at < since || o.same(e, within) })
	*s = pushed(*s, e, maxDoubts)
	for _, o := range *s {
		if o.member == e.member && o.minted == e.minted {
			n++
		}
	}
	return n
}

// has reports whether a member has been excused for a custody.
func (s excuses) has(m ident.Member, c custody) bool {
	return slices.ContainsFunc(s, func(e excuse) bool { return e.member == m && e.custody == c })
}

// some reports whether a member has explained a loss since an instant. It is not excused a second time.
func (s excuses) some(m ident.Member, since clock.Instant) bool {
	return slices.ContainsFunc(s, func(e excuse) bool { return e.member == m && !e.minted && e.at >= since })
}

// speaks forgets the excuses of members that have sent a token to one that says something: it can be asked.
func (s *excuses) speaks(m ident.Member) {
	if len(*s) > 0 {
		*s = slices.DeleteFunc(*s, func(e excuse) bool { return e.to == m })
	}
}
