package keeper

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// inquests are what this member finds out about members that had a token which was lost
// (rules in docs/exclusion.md). No member is believed: each one asks for itself.
type inquests struct {
	sanctions
	holder  *holder
	open    docket
	kept    kept
	waiters knownWaiters
	ended   []kept      // custodies that are over, as the holders have said themselves
	blamed  roll        // the members that have blamed others in the last L, and when
	arrived ident.Token // that came here last
}

// kept is a token that stays with one holder, as far as the slot's keeper knows, while others
// wait.
type kept struct {
	custody
	holder ident.Member
	from   ident.Member  // the member that had it before, if that is known
	seen   clock.Instant // since when
	told   clock.Instant // when the holder was told that others wait; clock.Never: it was not
	anew   int           // how often its time has begun anew, as it has connected since
}

// init makes inquests. Their list must not move afterwards.
func (s *inquests) init(c *common, h *holder, k *search, w *waiter) {
	s.holder = h
	s.waiters = newKnownWaiters(c)
	s.sanctions = sanctions{common: c, docket: &s.open, search: k, waiter: w}
}

// isOff reports whether members give no account: of tokens of which several may circulate.
func (s *inquests) isOff() bool { return s.holder.verify == nil }

// isAvoided reports whether this member passes no token to another one: it is struck, or about
// to be, unless it gives account of a token that it had.
func (s *inquests) isAvoided(m ident.Member) bool {
	return s.isStruck(m) || s.barred.from(m, s.Now) || s.refusers.from(m, s.Now) || s.open.some(m, s.avoids)
}

// holds notes, as the slot's keeper, that a holder has a token while others wait. The holder
// is told so, at the latest after L. It is to give account when it has not passed the token on for long after, while
// a known waiter has waited without a break.
func (s *inquests) holds(from ident.Member, m *message) {
	t, w := &s.kept, &s.waiters
	w.ends(from)
	if !s.search.wants.some() && !w.haveWaited() {
		w.clear()
	}
	switch {
	case s.isOff() || from == s.self:
	case w.first.member.IsZero(): // it may keep it
		s.keepsNone()
	case t.holder != from: // of whatever token: it may say that it has another one each time
		before := *t
		*t = kept{custody: m.custody, holder: from, seen: s.Now, told: clock.Never}
		if before.token == m.token && before.hop+1 == m.hop {
			t.from = before.holder
		}
		w.anew(from)
	case s.Now < t.seen.Add(s.silence):
	case !s.countsOn(m):
		t.told, t.custody, t.anew = s.Now, m.custody, 0
		i := about(m.custody, from, t.from, s.Now)
		i.there = true
		s.opens(i)
	case s.Now < t.told.Add(s.timeout(s.mayKeep(from))), !w.haveWaited():
	case t.anew < restarts && !s.isSteady(from, t.told): // it had failed, and looks now whether it may go on
		t.told, t.anew = max(t.told, s.greeted[from]), t.anew+1
	case s.open.owes(from, t.custody) && s.isSteady(from, t.told):
		of := t.custody
		s.keepsNone()
		s.strike(from, &inquest{custody: of}, policy.Unaccounted) // it gives no account
	case t.hop == 0 && s.mayHaveWrongClock(from) && s.Now < t.told.Add(s.timeout(wrongClock*s.overdue())):
	default: // it answers now and then, or connects
		s.giveUp(from, t.custody, policy.Kept)
		s.keepsNone()
	}
}

// countsOn tells the holder of the known waiters, and reports whether its time goes on.
func (s *inquests) countsOn(m *message) bool {
	counted := s.waiters.isCounted() && s.kept.told != clock.Never
	s.waiters.tells(m.custody)
	return counted
}

// keepsNone notes that no holder keeps a token, as far as is known.
func (s *inquests) keepsNone() {
	s.kept = kept{}
	s.waiters.anew(ident.Member{})
}

// mayKeep is how long the holder may keep a token after it was told that others wait. One that this member bars, and that gives
// account, may do so for as long as an honest one takes that does not restart; but not with a token that it has made.
func (s *inquests) mayKeep(m ident.Member) time.Duration {
	if s.kept.hop > 0 && s.barred.from(m, s.Now) && !s.open.owes(m, s.kept.custody) {
		return s.overdue() + 2*s.silence
	}
	return restarts * s.overdue()
}

// gained notes that a token is here: no holder keeps it.
func (s *inquests) gained() { s.keepsNone() }

// lost finds out, as the keeper that makes a token, what became of the one that is lost, and
// lets the others do so. A member that lives has had it last.
func (s *inquests) lost(of custody, m, from ident.Member) {
	if s.isOff() || m.IsZero() || m == s.self {
		return
	}
	s.blame(m, of, from)
	s.opens(about(of, m, from, s.Now))
}

// isBlamed finds out itself what another member says. A member is heard once in L: one that blames
// without a reason costs each member two questions in that time.
func (s *inquests) isBlamed(by ident.Member, m *message) {
	s.blamed.endUntil(s.Now.Add(-s.silence))
	if m.hop <= newbornHop || len(s.blamed) >= maxInquests || s.blamed.has(by) {
		return
	}
	s.blamed.put(by, s.Now, maxInquests)
	place := int(s.self[0])<<8 | int(s.self[1])
	wait := time.Duration(place%max(1, s.roster.Size()/maxInquests)) * spreadInquests
	if n := s.open.find(m.member, m.custody); n >= 0 {
		s.isLost(&s.open[n])
	}
	s.opens(about(m.custody, m.member, m.second, s.Now.Add(wait)))
}

// isLost notes that a token is lost which a member has said that it has. From then on it is passed no other one as long as
// it says so, or nothing: it is asked already, and would be passed each token that comes after the lost one otherwise.
func (s *inquests) isLost(i *inquest) {
	if i.lost = true; s.avoids(i) {
		s.shunAsked(i.member)
	}
}

// arrives finds out what became of the last custody that this member has passed on itself, when
// another token comes: the keeper may lie, and name others.
func (s *inquests) arrives(t ident.Token) {
	before := s.arrived
	s.arrived = t
	for n := range s.open {
		if i := &s.open[n]; i.there && !i.lost && i.token != t {
			s.isLost(i)
		}
	}
	if before == t || before == (ident.Token{}) {
		return
	}
	if h := s.holder.held.find(&before); h != nil && h.parted {
		due := max(s.Now, h.since.Add(s.silence+s.retry)) // the answer
		s.opens(about(h.next(), h.keeper, s.self, due))
		return
	}
	if p := s.holder.lastPass(func(p *passed) bool { return p.token == before && !p.dropped }); p != nil {
		s.opens(about(p.next(), p.to, s.self, s.Now))
	}
}

// opens begins to find out what became of a custody.
func (s *inquests) opens(i inquest) {
	if s.isOff() || i.member.IsZero() || i.member == s.self || s.isStruck(i.member) || s.excused.has(i.member, i.custody) || s.open.find(i.member, i.custody) >= 0 {
		return
	}
	i.opened, i.next = i.began, i.began
	if i.from == s.self {
		i.ownWord(s.holder)
	}
	s.open = pushed(s.open, i, maxInquests)
	if i.leavesOwn() || s.isExcusedAgain(&i) {
		s.shun(i.member, i.began.Sub(s.Now)+s.overdue())
	}
}

// deadline is when a member is asked next.
func (s *inquests) deadline() clock.Instant { return min(s.open.deadline(), s.waiters.deadline()) }

// onTimer asks the members that are to give account, and the known waiters.
func (s *inquests) onTimer() {
	s.waiters.onTimer()
	for n := 0; n < len(s.open); {
		i := &s.open[n]
		if i.next > s.Now {
			n++
			continue
		}
		if s.gaveUp(i) {
			s.closes(n)
			continue
		}
		if !i.answered && s.isTimedOut(i) { // until it says something
			i.asleep, i.owes, i.next = true, true, s.Now.Add(strikeTimes*s.overdue())
			s.shun(i.member, strikeTimes*s.overdue())
			n++
			continue
		}
		i.next = s.Now.Add(s.retry)
		if i.waited != clock.Never {
			i.next = max(i.next, i.waited.Add(s.overdue())) // the timeout may be shorter by then
		}
		if s.avoids(i) {
			s.shunAsked(i.member)
		}
		s.asksAccount(i)
		n++
	}
}

// isTimedOut reports whether a member has had as long to answer as others have.
func (s *inquests) isTimedOut(i *inquest) bool { return s.Now >= i.began.Add(s.timeout(s.silence)) }

// gaveUp reports whether nothing more is to be known of an inquest, and counts what follows from that.
func (s *inquests) gaveUp(i *inquest) bool {
	over := s.isTimedOut(i)
	switch {
	case over && i.answered && i.waited == clock.Never && s.Now >= max(i.began.Add(s.timeout(s.overdue()+s.hold)), i.denied.Add(s.timeout((denialTimes+1)*s.silence))):
		if i.says == instead {
			s.doubtInstead(i)
		}
		return true
	case i.says == sent && !i.toSays && !i.toDenies && i.denied == 0 && s.Now >= i.named.Add(s.timeout(2*s.silence)): // no failed member denies it
		s.excuse(i.member, i)
		return true
	}
	return over && !i.answered && i.asleep
}

// asksAccount asks those that have not answered.
func (s *inquests) asksAccount(i *inquest) {
	s.send(i.member, &message{kind: account, custody: i.custody})
	if !i.own && !i.fromSays && !i.from.IsZero() {
		s.send(i.from, &message{kind: account, custody: i.fromCustody()})
	}
	if !i.to.IsZero() && !i.toSays && !i.toDenies {
		s.send(i.to, &message{kind: account, custody: i.toCustody()})
	}
}

// hears takes in what a member says of a custody that it is to give account of: also what
// it says unasked, as it says that to this member all the same.
func (s *inquests) hears(from ident.Member, m *message) {
	for n := range s.open {
		i := &s.open[n]
		avoided := s.avoids(i)
		switch {
		case from == i.member:
			i.account(m, &s.holder.history, &s.setting)
			if m.kind == still && m.custody == i.custody {
				s.stillHas(i)
			}
		case from == i.to:
			i.receiverSays(m, &s.holder.history, &s.setting)
		case from == i.from && !i.own:
			i.senderSays(m, &s.holder.history, &s.setting)
		default:
			continue
		}
		member, of := i.member, i.custody
		if s.concludes(i) {
			if n = s.open.find(member, of); n >= 0 {
				s.closes(n)
			}
			return
		}
		if !avoided && s.avoids(i) { // it may have accepted the token that is here
			s.shunAsked(i.member)
		}
	}
}

// stillHas notes that a member still has the token. One that has begun anew, or has waited since for the word of all others
// (P-55), has as long for it as at first. One that says so late was perhaps asleep: it has 2 L more, in which it answers all
// the time, or maxLateAnswers answers with pauses between them.
func (s *inquests) stillHas(i *inquest) {
	may := s.overdue()
	if i.hop == 0 && s.mayHaveWrongClock(i.member) {
		may *= wrongClock
	}
	switch late := s.Now >= i.waited.Add(s.timeout(may)); {
	case i.waited == clock.Never, !s.misses(i), (!s.isSteady(i.member, i.waited) || i.returned > i.waited) && s.Now < i.began.Add(restarts*s.overdue()):
		i.waited, i.late, i.said = s.Now, 0, 0
	case late && (i.late == 0 || s.Now >= i.heard.Add(s.half)):
		i.late = s.Now
	}
	if i.late != 0 && s.Now >= i.counted.Add(s.retry) {
		i.said, i.counted = i.said+1, s.Now
	}
	i.heard = s.Now
	if (i.lost || !i.there) && i.hop > 0 && i.late != 0 && s.Now >= i.waited.Add(s.timeout(restarts*may)) {
		s.bar(i.member, i.custody, excuseTimes, policy.Kept) // a keeper gives one up by then
	}
}

// returns notes that a member waits until it may use a token, as after a restart.
func (s *inquests) returns(from ident.Member, c custody) {
	for n := range s.open {
		if i := &s.open[n]; i.member == from && i.custody == c {
			i.returned = s.Now
		}
	}
}

// misses reports whether the token is missed that a member keeps. A holder that is told that this member
// waits asks it, and keeps the token if it does not.
func (s *inquests) misses(i *inquest) bool {
	if i.counts() {
		return s.kept.holder == i.member && s.kept.told <= i.waited && s.waiters.isCounted()
	}
	return s.missesItself()
}

// missesItself reports whether this member misses the token that a member keeps: it wants one, or has another one.
func (s *inquests) missesItself() bool { return s.Demand || s.holder.has() }

// isMissed reports whether the token has been missed all the time since its holder was told so, as far as is known.
func (s *inquests) isMissed(i *inquest) bool {
	if i.counts() {
		return s.waiters.haveWaited()
	}
	return s.missesItself()
}

// mayHaveWrongClock reports whether a member may keep a token that it has made because no member takes it: its
// clock may be wrong, and the token refused and made anew until that is right. One that this member passes
// nothing to in any case may not. Of one whose token this member itself refuses, it is to take that first.
func (s *inquests) mayHaveWrongClock(m ident.Member) bool {
	return !s.barred.from(m, s.Now) && !s.makers.mayPardon(m, s.Now)
}

// isLate reports whether a member keeps a token for too long.
func (s *inquests) isLate(i *inquest) bool {
	return i.says == still && i.heard == s.Now && i.late != 0 && s.isMissed(i) && (s.Now >= i.late.Add(s.timeout(2*s.silence)) || i.said >= maxLateAnswers)
}

// concludes reports whether an inquest is over, and counts what follows from it.
func (s *inquests) concludes(i *inquest) bool {
	if i.own && !i.from.IsZero() {
		i.ownWord(s.holder)
	}
	switch {
	case i.says == proof:
	case i.says == instead && i.toSays && i.other.token != i.token && !i.madeUp:
		if i.other.token != s.arrived {
			s.excuse(i.member, i)
		}
	case s.isLate(i):
		if s.kept.holder == i.member {
			s.keepsNone()
		}
		s.strike(i.member, i, policy.Kept)
	case i.says == never:
		return s.concludesNever(i)
	case i.says == sent && i.to == s.self:
		return s.sentHere(i)
	case i.says == sent && i.toDenies:
		if s.mayCome(i) {
			i.says, i.toDenies = 0, false
			return false
		}
		s.doubt(i.member, i.to, i)
	case i.says == instead && (i.to.IsZero() || i.to == i.member || i.other.hop == 0 || i.other.token == i.token || i.madeUp || i.toDenies || i.toForgot):
		s.doubtInstead(i)
	case i.says == sent && i.toSays:
	default:
		return false
	}
	return true
}

// concludesNever does so where the member says that it never had the token.
func (s *inquests) concludesNever(i *inquest) bool {
	switch {
	case i.there && i.opened.Sub(i.whole.since) >= s.overdue(): // a message may be late
		s.strike(i.member, i, policy.Denied) // it has said that it has the token
	case i.receipt && s.Now < i.proved.Add(s.retry): // it may have said so before it gave that
		i.says = 0
		return false
	case i.receipt && i.knew():
		s.strike(i.member, i, policy.Receipted)
	case i.there || i.receipt && !i.taken.Current: // it has begun anew since
		s.excuse(i.member, i)
	case i.receipt && s.Now < s.start.Add(restarts*s.overdue()):
		// The configuration may be new, and all policies have begun anew with it.
	case i.fromSays && !i.from.IsZero():
		if s.mayCome(i) {
			i.says, i.fromSays = 0, false
			return false
		}
		s.doubt(i.from, i.member, i)
	case i.fromSays || i.from.IsZero():
	default:
		return false
	}
	return true
}

// mayCome reports whether a transfer may still come that one member says that it has sent, and the other
// one that it has not had. Both are to say so again.
func (s *inquests) mayCome(i *inquest) bool {
	if i.denied == 0 {
		i.denied = s.Now
	}
	return s.Now < i.denied.Add(s.timeout(denialTimes*s.silence))
}

// sentHere: a member says for long that it passes a token to this one, and that no cut explains why none has come. This
// one bars it, unless an earlier process of this one may have got the token. The transfer may have been lost each time, so
// that it is not struck.
func (s *inquests) sentHere(i *inquest) bool {
	switch {
	case s.holder.held.find(&i.token) != nil || s.holder.pass(i.token, i.hop+1) != nil:
	case s.Now < i.began.Add(s.timeout(denialTimes*s.silence)):
		return false
	case i.left == clock.Never || i.left < s.start:
	case s.isSteady(i.member, i.opened.Add(-s.overdue())):
		b := *i
		s.bar(b.member, b.custody, strikeTimes/2, policy.NeverCame)
		s.blame(b.member, b.custody, b.from)
	}
	return true
}

// closes ends an inquest.
func (s *inquests) closes(n int) {
	i := &s.open[n]
	m := i.member
	if i.there && (i.says == never || i.says == proof || i.says == instead) {
		s.ended = pushed(s.ended, kept{custody: i.custody, holder: m, seen: s.Now}, maxInquests)
	}
	if s.kept.custody == i.custody && (i.says != instead || i.toSays && i.other.token == s.arrived) {
		s.keepsNone() // or a member that says each time that it has dropped another token would never be given up
	}
	s.open = slices.Delete(s.open, n, n+1)
	if s.open.some(m, s.avoids) {
		s.shunAsked(m)
		return
	}
	s.shun(m, 0)
}

// hasEnded reports whether a member has said before that a custody of its own is over. It cannot come
// back: the next one has another hop. A member that says that it has the token by that custody lies, or said
// so before: messages may be late. The same holds of a custody after which this member has passed that token on.
func (s *inquests) hasEnded(m ident.Member, c custody) bool {
	if p := s.holder.pass(c.token, c.hop); p != nil && !p.dropped {
		return true
	}
	return slices.ContainsFunc(s.ended, func(e kept) bool {
		return e.holder == m && e.custody == c && s.isSteady(m, e.seen) && s.Now >= e.seen.Add(s.silence)
	})
}

// memberGreeted notes that a member has greeted.
func (s *inquests) memberGreeted(m ident.Member) {
	s.greets(m)
	for n := range s.open {
		s.open[n].greeted(m, s.Now)
	}
}
