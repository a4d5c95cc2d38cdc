package keeper

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// excuse is how a member has explained, without a proof, that a token was lost with it (P-81).
type excuse struct {
	member  ident.Member
	custody               // that it explains
	began   clock.Instant // when it began anew, if that explains it and all losses before; zero: it does not
	to      ident.Member  // to whom it has sent the token, as long as that one says nothing
	minted  bool          // it says that somebody has made another token (P-77, 3)
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
	if len(*s) == maxDoubts {
		*s = slices.Delete(*s, 0, 1)
	}
	*s = append(*s, e)
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

// speaks forgets the excuses of those who have sent a token to a member that says something: it can be asked.
func (s *excuses) speaks(m ident.Member) {
	if len(*s) > 0 {
		*s = slices.DeleteFunc(*s, func(e excuse) bool { return e.to == m })
	}
}

// excuses notes that a member explains the loss of a token without a proof: it has begun anew since, or it has
// passed the token to a member that is dead, or it has dropped the token for one that does not circulate. The
// first time that may be true. From the second time on this member passes it nothing for a while.
func (k *Keeper) excuses(m ident.Member, i *inquest) {
	if m == k.self || i.hop == 0 {
		return
	}
	e := excuse{member: m, custody: i.custody}
	switch {
	case m != i.member && m != i.to:
	case m != i.member: // a restart explains all losses before it
		e.began = max(k.peers.greeted[m], i.toKnows)
	case i.says == never:
		e.began = max(k.peers.greeted[m], i.whole.since)
	case i.says == sent && i.denied == 0:
		e.to = i.to
	}
	if k.notesExcuse(e) > maxExcuses {
		k.bars(m, i.custodyOf(m), pauseTimes, policy.Excused)
	}
	if m == i.member {
		k.blamesOwn(i)
	}
}

// excusedSince is since when excuses count.
func (k *Keeper) excusedSince() clock.Instant { return k.now.Add(-strikeTimes * k.overdue()) }

// excusesAgain reports whether a member that has explained one loss is asked about another one. It gets no further token
// before it has given account of that. But a token counts only if its giver says something of it: anybody can make one up.
func (k *Keeper) excusesAgain(i *inquest) bool {
	return !i.there && (i.own || i.fromSays) && !i.from.IsZero() && k.inquests.excused.some(i.member, k.excusedSince())
}

// notesExcuse returns how many of its kind the member has had within strikeTimes.
func (k *Keeper) notesExcuse(e excuse) int {
	e.at = k.now
	return k.inquests.excused.note(e, k.excusedSince(), k.half)
}

// doubtsInstead notes that a member says that it has dropped a token for another one, and nobody confirms
// that. It may be true, as where somebody makes tokens, or after a cut. So the member is not struck. But if
// no cut explains it, and no restart of the one that is to confirm it, this member passes it nothing for a while.
func (k *Keeper) doubtsInstead(i *inquest) {
	since := i.opened.Add(-k.overdue())
	if !i.to.IsZero() && i.to != k.self && i.to != i.member && !k.isSteady(i.to, since) {
		return
	}
	if m := i.member; i.hop > 0 && k.isSteady(m, since) && !k.isMinted(i) { // its own clock may be wrong
		k.bars(m, i.custody, excuseTimes, policy.Unconfirmed)
		k.blamesOwn(i)
	}
}

// isMinted reports whether a member may have dropped a token for one that somebody had just made: a
// member that makes tokens confirms nothing. It is excused so a few times only.
func (k *Keeper) isMinted(i *inquest) bool {
	if i.other.hop != newbornHop || i.to.IsZero() || i.to == i.member {
		return false
	}
	return k.notesExcuse(excuse{member: i.member, minted: true, custody: i.custody}) <= maxMinted
}

// bars passes nothing to a member for so many times as long as an overdue token is missed, or for as long as
// at the last strike, if there was one.
func (k *Keeper) bars(m ident.Member, c custody, times time.Duration, cause policy.Cause) {
	if k.barred.note(m, k.now, max(times*k.overdue(), k.struck.last(m, k.now))) {
		k.complain(m, c, policy.Barred, cause)
	}
	k.shuns(m, 0)
}

// blamesOwn tells all others what has become of a pass of this member's own.
func (k *Keeper) blamesOwn(i *inquest) {
	if i.own {
		k.blames(i.custody, i.member, i.from)
	}
}
