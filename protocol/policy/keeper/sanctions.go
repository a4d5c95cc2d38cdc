package keeper

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// sanctions are what this member does about the members that had a token which was lost: it strikes, bars
// or excuses them.
type sanctions struct {
	*common
	docket  *docket
	search  *search
	waiter  *waiter
	makers  *backoffs // that this member takes no newborn token of
	excused excuses   // of losses, without a proof
	doubts  doubts
}

// avoids reports whether a member owes this one an answer.
func (s *sanctions) avoids(i *inquest) bool {
	if i.there && !i.lost { // it may be busy, and others may want to pass it another token
		return i.late != 0
	}
	return s.isExcusedAgain(i) || i.waited != clock.Never || i.denied != 0 && i.own || !i.answered && (i.owes || s.Now >= i.began.Add(s.retry) || i.leavesOwn())
}

// strike takes a member for silent for a while, and lets the others find out. One that keeps a token
// that it has made itself is not struck: where its clock is wrong, no member takes that token.
func (s *sanctions) strike(m ident.Member, i *inquest, cause policy.Cause) {
	b := *i // what follows may close it
	if b.hop == 0 {
		s.giveUp(m, b.custody, cause)
		return
	}
	if s.struck.note(m, s.Now, strikeTimes*s.overdue()) {
		s.shunFor(m, &s.struck)
		s.complain(m, &s.struck, b.custodyOf(m), policy.Struck, cause)
		s.blame(m, b.custody, b.from)
		s.goOnWithout(m, b.custody)
	}
}

// giveUp takes a member for silent that keeps a token, for as long as one that is silent at first, or as it is barred, and lets the
// others find out. It is not struck: it may be asleep most of the time, or no member takes the token.
func (s *sanctions) giveUp(m ident.Member, c custody, cause policy.Cause) {
	if c.hop == 0 && s.makers.pardons(m, s.Now) { // it is this member that does not take it
		return
	}
	mute := muteTime
	if c.hop > 0 {
		mute = max(mute, s.barred.left(m, s.Now))
	}
	if s.struck.note(m, s.Now, mute) {
		s.shun(m, s.struck.left(m, s.Now))
		s.complain(m, &s.struck, c, policy.GivenUp, cause)
		if c.hop > 0 {
			s.blame(m, c, ident.Member{})
		}
		s.goOnWithout(m, c)
	}
}

func (s *sanctions) goOnWithout(m ident.Member, c custody) {
	s.search.without(m, c)
	s.waiter.memberSilent(m)
}

// bar passes nothing to a member for so many times as long as an overdue token is missed, or for as long as
// at the last strike, if there was one.
func (s *sanctions) bar(m ident.Member, c custody, times time.Duration, cause policy.Cause) {
	if s.barred.note(m, s.Now, max(times*s.overdue(), s.struck.last(m, s.Now))) {
		s.complain(m, &s.barred, c, policy.Barred, cause)
	}
	s.shun(m, 0)
}

// takesUp goes on with what this member did about another one before this policy began (P-84). One that it barred
// gets a token where nobody else is left, whatever the cause was.
func (s *sanctions) takesUp(e *policy.Event) {
	switch m := e.From; e.Measure {
	case policy.Struck:
		if s.struck.takeUp(m, s.Now, e.At, e.Span); s.isStruck(m) {
			s.shunFor(m, &s.struck)
		}
	case policy.GivenUp:
		if s.struck.takeUp(m, s.Now, e.At, e.Span); s.isStruck(m) {
			s.shun(m, 0)
		}
	case policy.Barred:
		if s.barred.takeUp(m, s.Now, e.At, e.Span); s.barred.from(m, s.Now) {
			s.shun(m, 0)
		}
	}
}

// shun has the driver pass nothing to a member for a while, and no less than this one backs off
// from it.
func (s *sanctions) shun(m ident.Member, d time.Duration) {
	d = max(d, s.struck.left(m, s.Now), s.barred.left(m, s.Now))
	refuses := s.refusers.left(m, s.Now)
	untaken := refuses > 0 && d <= 0 && !s.docket.some(m, s.avoids)
	d = max(d, refuses)
	s.Do(policy.Action{Kind: policy.Shun, To: m, At: s.Now.Add(d), Firm: s.docket.owesSelf(m), Untaken: untaken})
}

// untaken passes nothing to a member for a while that took no token which was for it: its turn would come again at once,
// and the token stay here meanwhile. It is passed tokens where nobody else is left, and forgiven as soon as it takes one.
func (s *sanctions) untaken(m ident.Member) {
	if s.refusers.note(m, s.Now, s.overdue()) {
		s.shun(m, 0)
	}
}

// shunAsked shuns a member that is asked for an account, or says that it has the token. It is asked again at the latest
// an overdue after its answer (onTimer). The shun must not end while that is in transit: the policy may pass the
// next token to this member, whose turn is due.
func (s *sanctions) shunAsked(m ident.Member) { s.shun(m, 2*s.overdue()) }

// shunFor does so for as long as this member backs off from it.
func (s *sanctions) shunFor(m ident.Member, b *backoffs) {
	s.Do(policy.Action{Kind: policy.Shun, To: m, At: s.Now.Add(b.left(m, s.Now)), Struck: true})
}

// blame tells all members that m had a token last that was lost, and from which member. None of them
// believes it.
func (s *sanctions) blame(m ident.Member, of custody, from ident.Member) {
	s.order = s.everyone(s.order[:0])
	s.order.remove(m)
	s.order.remove(s.self)
	s.question(s.order, &message{kind: blame, custody: of, member: m, second: from})
}

// blameOwn tells all others what has become of a pass of this member's own.
func (s *sanctions) blameOwn(i *inquest) {
	if i.own {
		s.blame(i.member, i.custody, i.from)
	}
}

// excuse notes that a member explains the loss of a token without a proof: it has begun anew since, or it has
// passed the token to a failed member, or it has dropped the token for one that does not circulate. The
// first time that may be true. From the second time on this member passes it nothing for a while.
func (s *sanctions) excuse(m ident.Member, i *inquest) {
	if m == s.self || i.hop == 0 {
		return
	}
	e := excuse{member: m, custody: i.custody}
	switch {
	case m != i.member && m != i.to:
	case m != i.member: // a restart explains all losses before it
		e.began = max(s.greeted[m], i.toKnows)
	case i.says == never:
		e.began = max(s.greeted[m], i.whole.since)
	case i.says == sent && i.denied == 0:
		e.to = i.to
	}
	if s.excusesTooOften(e) {
		s.bar(m, i.custodyOf(m), pauseTimes, policy.Excused)
	}
	if m == i.member {
		s.blameOwn(i)
	}
}

// excusesTooOften notes an excuse, and reports whether the member has had too many for its reason within strikeTimes.
func (s *sanctions) excusesTooOften(e excuse) bool {
	e.at = s.Now
	return s.excused.note(e, s.excusedSince(), s.half)
}

// excusedSince is since when excuses count.
func (s *sanctions) excusedSince() clock.Instant { return s.Now.Add(-strikeTimes * s.overdue()) }

// isExcusedAgain reports whether a member that has explained one loss is asked about another one. It gets no further token
// before it has given account of that. But a token counts only if its giver says something of it: anybody can make one up.
func (s *sanctions) isExcusedAgain(i *inquest) bool {
	return !i.there && (i.own || i.fromSays) && !i.from.IsZero() && s.excused.some(i.member, s.excusedSince())
}

// doubtInstead notes that a member says that it has dropped a token for another one, and no member confirms
// that. It may be true, as where another member makes tokens, or after a cut. So the member is not struck. But if
// no cut explains it, and no restart of the one that is to confirm it, this member passes it nothing for a while. Nothing
// explains a pass that this member knows was never made.
func (s *sanctions) doubtInstead(i *inquest) {
	since := i.opened.Add(-s.overdue())
	if !i.madeUp && !i.to.IsZero() && i.to != s.self && i.to != i.member && !s.isSteady(i.to, since) {
		return
	}
	if m := i.member; i.hop > 0 && s.isSteady(m, since) && !s.mayHaveDropped(i) { // its own clock may be wrong
		times := time.Duration(excuseTimes)
		if i.late != 0 { // it has kept the token for too long before
			times = strikeTimes
		}
		s.bar(m, i.custody, times, policy.Unconfirmed)
		s.blameOwn(i)
	}
}

// mayHaveDropped reports whether a member may have dropped a token for one that another had just made: a
// member that makes tokens confirms nothing. Or it had made that one itself, as one of two founders. Or it has dropped the token long
// ago, and the one that passed it the other token has forgotten that. It is excused a few times for each.
func (s *sanctions) mayHaveDropped(i *inquest) bool {
	e := excuse{member: i.member, custody: i.custody}
	switch {
	case i.madeUp:
		return false
	case i.own && i.hop == newbornHop: // it may have had to drop a newborn token (P-69)
		e.why = minted
	case i.to.IsZero(), i.to == i.member && i.other.hop > 0:
		return false
	case i.to == i.member, i.other.hop == newbornHop:
		e.why = minted
	case i.toForgot:
		e.why = forgotten
	default:
		return false
	}
	return !s.excusesTooOften(e)
}

// doubt notes that one member says that it sent what the other one says it never had. A member
// that is in doubt with two others is struck. So is one that is so twice with one
// receiver, as it was to send it nothing more.
func (s *sanctions) doubt(from, to ident.Member, i *inquest) {
	switch s.self {
	case from:
		s.doubtOwn(i)
		return
	case to:
		return
	}
	b, since := *i, i.opened.Add(-s.overdue())
	if b.receipt && b.passed != 0 {
		since = min(since, b.passed)
	}
	unbroken := b.unbroken
	if from == b.member {
		unbroken = b.left != clock.Never
	}
	switch {
	case !unbroken && !s.isSteady(from, since): // a cut or a restart explains it
		s.excuse(from, i)
		return
	case !b.denierKnew(since) || !s.isSteady(to, since):
		s.excuse(to, i)
		return
	}
	s.doubts.endUntil(s.Now.Add(-strikeTimes * s.overdue() / 2))
	again, twice := s.doubts.note(doubtful{from, to, b.token, b.receipt, unbroken, s.Now}, func(o *doubtful) bool { return s.isSteady(from, o.at) })
	if again && !twice { // it had a reason to pass that receiver another token
		s.excuse(from, i)
	}
	for _, m := range []ident.Member{from, to} {
		if m == from && twice || s.doubts.partners(m, s.isStruck) > 1 {
			s.strike(m, &b, policy.Doubted)
		}
	}
}

// doubtOwn notes that a member denies a pass of this one's, which passes it nothing from then on. Others may
// count a doubt although this one excuses it, and strike a member that passes that receiver a second token.
func (s *sanctions) doubtOwn(i *inquest) {
	b := *i
	m, steady := b.member, s.isSteady(b.member, b.since)
	switch {
	case !steady || !b.denierKnew(b.since): // a cut or a restart explains it
		if steady || b.unbroken {
			s.bar(m, b.custody, strikeTimes/2, policy.Denied)
		}
		s.excuse(m, i)
	case s.barred.note(m, s.Now, strikeTimes*s.overdue()):
		s.shunFor(m, &s.barred)
		s.complain(m, &s.barred, b.custody, policy.Barred, policy.Denied)
		s.blame(m, b.custody, b.from)
	}
}

// doubtful is that one member says that it passed a token to another one, which denies it, and
// there is no receipt, or one that does not prove it.
type doubtful struct {
	from, to ident.Member
	token    ident.Token
	receipt  bool
	unbroken bool // from said that to has been connected with it since the pass
	at       clock.Instant
}

// doubts are those of all members, at most maxDoubts, the last one last.
type doubts []doubtful

// endUntil forgets the doubts up to an instant.
func (l *doubts) endUntil(t clock.Instant) {
	*l = slices.DeleteFunc(*l, func(d doubtful) bool { return d.at <= t })
}

// note notes a doubt, and reports whether its sender was in doubt with that receiver before, over another
// token, and whether it said both times that no cut explains it. Receipts count for neither. An earlier doubt
// counts if it is still valid.
func (l *doubts) note(d doubtful, isValid func(*doubtful) bool) (again, twice bool) {
	for n := range *l {
		o := &(*l)[n]
		if !o.receipt && !d.receipt && o.from == d.from && o.to == d.to && o.token != d.token && isValid(o) {
			again, twice = true, twice || o.unbroken && d.unbroken
		}
	}
	*l = pushed(*l, d, maxDoubts)
	return again, twice
}

// partners is with how many others a member is in doubt, without those that are left out.
func (l doubts) partners(m ident.Member, leftOut func(ident.Member) bool) int {
	var list members
	for _, d := range l {
		other := d.to
		if other == m {
			other = d.from
		} else if d.from != m {
			continue
		}
		if !leftOut(other) {
			list.add(other)
		}
	}
	return len(list)
}
