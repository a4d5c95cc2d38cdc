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
	why     reason
	at      clock.Instant
}

// reason is what a member says. It is excused a number of times for each.
type reason uint8

const (
	unproved  reason = iota // a loss that nothing proves (P-81)
	minted                  // it has dropped the token for one that another member had just made, or itself (P-77, 3)
	forgotten               // it has dropped it for one whose giver has forgotten its pass (P-77, 4)
)

// most is how often within strikeTimes a member is excused for a reason.
func (r reason) most() int {
	return [...]int{unproved: maxExcuses, minted: maxMinted, forgotten: maxForgotten}[r]
}

// same reports whether two excuses count as one. Messages take some time, so that two answers name one beginning a little
// differently.
func (e excuse) same(o excuse, within time.Duration) bool {
	began := e.began != 0 && o.began != 0 && max(e.began.Sub(o.began), o.began.Sub(e.began)) <= within
	return e.isLike(o) && (e.custody == o.custody || began)
}

// isLike reports whether two excuses are of one member and for one reason.
func (e excuse) isLike(o excuse) bool { return e.member == o.member && e.why == o.why }

// excuses are those of at most maxExcused members, the last one last. Of each member and reason there is one more at most than it is
// excused for: what others say has none of it forgotten. The zero value is empty.
type excuses []excuse

// note notes an excuse, forgets those from before an instant, and reports whether the member has had more for that reason than it
// is excused for. The same one counts once.
func (s *excuses) note(e excuse, since clock.Instant, within time.Duration) (tooMany bool) {
	*s = slices.DeleteFunc(*s, func(o excuse) bool { return o.at < since || o.same(e, within) })
	like := 0
	for _, o := range *s {
		if o.isLike(e) {
			like++
		}
	}
	if like > e.why.most() {
		oldest := slices.IndexFunc(*s, e.isLike)
		*s = slices.Delete(*s, oldest, oldest+1)
	}
	s.makesRoom(e.member)
	*s = append(*s, e)
	return like >= e.why.most()
}

// makesRoom forgets the member whose last excuse is the oldest one, where there are too many beside another one.
func (s *excuses) makesRoom(m ident.Member) {
	var list members // the one with the latest excuse first
	for _, e := range slices.Backward(*s) {
		if e.member != m {
			list.add(e.member)
		}
	}
	if len(list) >= maxExcused {
		*s = slices.DeleteFunc(*s, func(e excuse) bool { return e.member == list[len(list)-1] })
	}
}

// has reports whether a member has been excused for a custody.
func (s excuses) has(m ident.Member, c custody) bool {
	return slices.ContainsFunc(s, func(e excuse) bool { return e.member == m && e.custody == c })
}

// some reports whether a member has explained a loss since an instant. It is not excused a second time.
func (s excuses) some(m ident.Member, since clock.Instant) bool {
	return slices.ContainsFunc(s, func(e excuse) bool { return e.member == m && e.why == unproved && e.at >= since })
}

// speaks forgets the excuses of members that have sent a token to one that says something: it can be asked.
func (s *excuses) speaks(m ident.Member) {
	if len(*s) > 0 {
		*s = slices.DeleteFunc(*s, func(e excuse) bool { return e.to == m })
	}
}
