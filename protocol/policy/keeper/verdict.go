package keeper

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// concludes reports whether an inquest is over, and counts what follows from it.
func (k *Keeper) concludes(i *inquest) bool {
	if i.own && !i.from.IsZero() {
		k.ownWord(i)
	}
	switch {
	case i.says == proof, i.says == instead && i.toSays && i.other.token != i.token:
	case k.isLate(i):
		k.strikes(i.member, i)
	case i.says == never && i.there && k.isSteady(i.member, i.began.Add(-k.silence)) && !k.hasForgotten(i):
		k.strikes(i.member, i) // it has said that it has the token
	case i.says == never && i.receipt && k.now < i.proved.Add(k.retry): // it may have said so before it gave that
		i.says = 0
		return false
	case i.says == never && i.receipt && i.ofNow && !k.hasForgotten(i):
		k.strikes(i.member, i)
	case i.says == never && i.receipt:
	case i.says == never && i.fromSays && !i.from.IsZero():
		if k.mayCome(i) {
			i.says, i.fromSays = 0, false
			return false
		}
		k.doubts(i.from, i.member, i)
	case i.says == never && (i.fromSays || i.from.IsZero()):
	case i.says == sent && i.to == k.self:
		return k.sentHere(i)
	case i.says == sent && i.toDenies:
		if k.mayCome(i) {
			i.says, i.toDenies = 0, false
			return false
		}
		k.doubts(i.member, i.to, i)
	case i.says == instead && (i.to.IsZero() || i.to == i.member || i.other.hop == 0 || i.other.token == i.token || i.toDenies):
		k.excuses(i)
	case i.says == sent && i.toSays:
	default:
		return false
	}
	return true
}

// mayCome reports whether a transfer may still come that one member says that it has sent, and the other
// one that it has not had. Both are to say so again.
func (k *Keeper) mayCome(i *inquest) bool {
	if i.denied == 0 {
		i.denied = k.now
	}
	return k.now < i.denied.Add(k.bears(denialTimes*k.silence))
}

// hasForgotten reports whether a member may not know any more what became of a token, although
// its custody memory is the same: it says that its process has begun since, or that the
// configuration is another one, and nothing that this member has seen contradicts it.
func (k *Keeper) hasForgotten(i *inquest) bool {
	at, greeted := k.inquests.greeted[i.member]
	switch {
	case k.hadSince(i):
		return false
	case k.now < k.start.Add(i.young+k.overdue()+recallTime): // this one has begun since, too
		return true
	}
	return !greeted || k.now < at.Add(i.young+k.overdue()+recallTime)
}

// hadSince reports whether this member had the token itself, before the other one had it, and
// after that one has begun: it had it with the memory that it has now.
func (k *Keeper) hadSince(i *inquest) bool {
	began := k.now.Add(-i.young)
	return slices.ContainsFunc(k.holder.passed, func(p passed) bool {
		return p.token == i.token && p.hop < i.hop && len(p.receipt) > 0 && p.since > began
	})
}

// strikes takes a member for dead for a while, and lets the others find out. One that keeps a token
// that it has made itself is not struck: where its clock is wrong, nobody takes that token.
func (k *Keeper) strikes(m ident.Member, i *inquest) {
	b := *i
	if b.hop == 0 {
		k.givesUp(m, b.custody)
		return
	}
	if k.inquests.struck.note(m, k.now, strikeTimes*k.overdue()) {
		k.shunsStruck(m, &k.inquests.struck)
		k.blames(b.custody, m, b.from)
		k.isReplaced(m, b.custody)
	}
}

// answersStruck answers the questions of a member that is struck: it is not to take a token for
// lost that others have.
func (k *Keeper) answersStruck(from ident.Member, m *message) {
	switch m.kind {
	case want:
		_, all := k.turns()
		k.tell(from, &message{kind: noted, span: millis(max(all, k.half))})
	case ask:
		k.questioned(from, m)
	case account:
		k.givesAccount(from, m)
	}
}

// doubts notes that one member says that it sent what the other one says it never had. A member
// that is in doubt with two others is struck, and one that is so twice with one
// receiver, as it was to send it nothing more.
func (k *Keeper) doubts(from, to ident.Member, i *inquest) {
	s, b := &k.inquests, *i
	s.doubts = slices.DeleteFunc(s.doubts, func(d doubtful) bool { return k.now >= d.at.Add(strikeTimes*k.overdue()/2) })
	if from == k.self {
		if !k.isSteady(to, b.since) {
			return // a cut or a restart explains it
		}
		if s.barred.note(to, k.now, strikeTimes*k.overdue()) {
			k.shunsStruck(to, &s.barred)
			k.blames(b.custody, b.member, b.from)
		}
		return
	}
	if since := b.began.Add(-k.overdue()); to == k.self || !k.isSteady(from, since) || !k.isSteady(to, since) {
		return
	}
	again := false
	for _, d := range s.doubts {
		again = again || d.from == from && d.to == to && d.token != b.token && k.isSteady(from, d.at)
	}
	if len(s.doubts) == maxDoubts {
		s.doubts = slices.Delete(s.doubts, 0, 1)
	}
	s.doubts = append(s.doubts, doubtful{from, to, b.token, k.now})
	for _, m := range []ident.Member{from, to} {
		if m == from && again || k.partners(m) > 1 {
			k.strikes(m, &b)
		}
	}
}

// sentHere: a member says for long that it passes a token to this one, to which none has come. If
// no cut explains that, it lies; unless an earlier life of this one may have got it.
func (k *Keeper) sentHere(i *inquest) bool {
	switch {
	case k.holder.find(&i.token) != nil || k.holder.pass(i.token, i.hop+1) != nil:
	case k.now < i.began.Add(k.bears(2*k.silence)):
		return false
	case k.forgetful && (i.left == clock.Never || i.left < k.start):
	case k.isSteady(i.member, i.began.Add(-k.overdue())):
		k.strikes(i.member, i)
	}
	return true
}

// excuses notes that a member says that it has dropped a token for another one, and nobody confirms
// that. It may be true, as where somebody makes tokens, or after a cut. So it is not struck, but where
// no cut explains it, and no restart of the one that is to confirm it, this one passes nothing to it
// for a while: for as long as at the last strike, if there was one.
func (k *Keeper) excuses(i *inquest) {
	since := i.began.Add(-k.overdue())
	if !i.to.IsZero() && i.to != k.self && i.to != i.member && !k.isSteady(i.to, since) {
		return
	}
	if m := i.member; i.hop > 0 && k.isSteady(m, since) && !k.isExcused(i) { // its own clock may be wrong
		first := max(excuseTimes*k.overdue(), k.inquests.struck.last(m, k.now)) // of one that was struck before
		k.inquests.barred.note(m, k.now, first)
		k.shuns(m, 0)
	}
}

// isExcused reports whether a member may have dropped a token for one that somebody had just made: a
// member that makes tokens confirms nothing. It is excused so a few times only.
func (k *Keeper) isExcused(i *inquest) bool {
	s := &k.inquests
	s.excused = slices.DeleteFunc(s.excused, func(e lastBlame) bool { return k.now >= e.at.Add(strikeTimes*k.overdue()) })
	if i.other.hop != newbornHop || i.to.IsZero() || i.to == i.member {
		return false
	}
	n := 0
	for _, e := range s.excused {
		if e.by == i.member {
			n++
		}
	}
	if n == maxExcuses || len(s.excused) == maxDoubts {
		return false
	}
	s.excused = append(s.excused, lastBlame{i.member, k.now})
	return true
}

// partners is with how many others a member is in doubt, without those that are struck.
func (k *Keeper) partners(m ident.Member) int {
	var list []ident.Member
	for _, d := range k.inquests.doubts {
		other := d.to
		if other == m {
			other = d.from
		} else if d.from != m {
			continue
		}
		if !slices.Contains(list, other) && !k.isStruck(other) {
			list = append(list, other)
		}
	}
	return len(list)
}

// isSteady reports whether a member is connected since before an instant, as far as this member
// has seen: neither a cut nor a restart explains what it says.
func (k *Keeper) isSteady(m ident.Member, since clock.Instant) bool {
	greeted, known := k.inquests.greeted[m]
	return known && greeted <= since
}

// isBack reports whether the receiver of a token has connected since it left, and not long ago.
func (k *Keeper) isBack(h *held) bool {
	greeted, known := k.inquests.greeted[h.keeper]
	return known && greeted > h.since && k.now < greeted.Add(k.overdue())
}

// greets notes that a member has greeted: its process may be another one.
func (k *Keeper) greets(m ident.Member) {
	s := &k.inquests
	if s.greeted == nil || len(s.greeted) >= maxGreetings {
		s.greeted = make(map[ident.Member]clock.Instant)
	}
	s.greeted[m] = k.now
}
