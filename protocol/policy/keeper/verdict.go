package keeper

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// concludes reports whether an inquest is over, and counts what follows from it.
func (k *Keeper) concludes(i *inquest) bool {
	if i.own && !i.from.IsZero() {
		k.ownWord(i)
	}
	switch {
	case i.says == proof:
	case i.says == instead && i.toSays && i.other.token != i.token:
		if i.other.token != k.inquests.arrived {
			k.excuses(i.member, i)
		}
	case k.isLate(i):
		k.strikes(i.member, i, policy.Kept)
	case i.says == never && i.there && i.opened.Sub(i.whole.since) >= k.overdue(): // a message may be late
		k.strikes(i.member, i, policy.Denied) // it has said that it has the token
	case i.says == never && i.receipt && k.now < i.proved.Add(k.retry): // it may have said so before it gave that
		i.says = 0
		return false
	case i.says == never && i.receipt && k.knew(i):
		k.strikes(i.member, i, policy.Receipted)
	case i.says == never && (i.there || i.receipt && !i.taken.Current): // it has begun anew since
		k.excuses(i.member, i)
	case i.says == never && i.receipt && k.now < k.start.Add(restarts*k.overdue()):
		// The configuration may be new, and all policies have begun anew with it.
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
		k.doubtsInstead(i)
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
	return k.now < i.denied.Add(k.timeout(denialTimes*k.silence))
}

// knew reports whether a member denies a custody of which it knew when it said so: its receipt is of the process that it
// has now, and of one of the custodies that it says it knows.
func (k *Keeper) knew(i *inquest) bool {
	t := &i.taken
	return t.SameProcess && t.Serial >= i.whole.serial && (t.Serial < i.knows || t.Serial == policy.Unnamed)
}

// strikes takes a member for dead for a while, and lets the others find out. One that keeps a token
// that it has made itself is not struck: where its clock is wrong, nobody takes that token.
func (k *Keeper) strikes(m ident.Member, i *inquest, cause policy.Cause) {
	b := *i
	if b.hop == 0 {
		k.givesUp(m, b.custody, cause)
		return
	}
	if k.struck.note(m, k.now, strikeTimes*k.overdue()) {
		k.shunsStruck(m, &k.struck)
		k.complain(m, b.custodyOf(m), policy.Struck, cause)
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
		k.send(from, &message{kind: noted, span: millis(max(all, k.half))})
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
	switch k.self {
	case from:
		k.doubtsOwn(i)
		return
	case to:
		return
	}
	b, since := *i, i.opened.Add(-k.overdue())
	if b.receipt && b.passed != 0 {
		since = min(since, b.passed)
	}
	unbroken := b.unbroken
	if from == b.member {
		unbroken = b.left != clock.Never
	}
	switch {
	case !unbroken && !k.isSteady(from, since): // a cut or a restart explains it
		k.excuses(from, i)
		return
	case !b.denierKnew(since) || !k.isSteady(to, since):
		k.excuses(to, i)
		return
	}
	d := doubtful{from, to, b.token, b.receipt, unbroken, k.now}
	again, twice := k.doubtsAgain(&d)
	if again && !twice { // it had a reason to pass that receiver another token
		k.excuses(from, i)
	}
	for _, m := range []ident.Member{from, to} {
		if m == from && twice || k.partners(m) > 1 {
			k.strikes(m, &b, policy.Doubted)
		}
	}
}

// doubtsAgain notes a doubt, and reports whether its sender was in doubt with that receiver before, over another
// token, and whether it said both times that no cut explains it. Receipts count for neither.
func (k *Keeper) doubtsAgain(d *doubtful) (again, twice bool) {
	s := &k.inquests
	s.doubts = slices.DeleteFunc(s.doubts, func(o doubtful) bool { return k.now >= o.at.Add(strikeTimes*k.overdue()/2) })
	for _, o := range s.doubts {
		if !o.receipt && !d.receipt && o.from == d.from && o.to == d.to && o.token != d.token && k.isSteady(d.from, o.at) {
			again, twice = true, twice || o.unbroken && d.unbroken
		}
	}
	if len(s.doubts) == maxDoubts {
		s.doubts = slices.Delete(s.doubts, 0, 1)
	}
	s.doubts = append(s.doubts, *d)
	return again, twice
}

// doubtsOwn notes that a member denies a pass of this one's, which passes it nothing from then on. Others may
// count a doubt although this one excuses it, and strike who passes that receiver a second token.
func (k *Keeper) doubtsOwn(i *inquest) {
	b := *i
	m, steady := b.member, k.isSteady(b.member, b.since)
	switch {
	case !steady || !b.denierKnew(b.since): // a cut or a restart explains it
		if steady || b.unbroken {
			k.bars(m, b.custody, strikeTimes/2, policy.Denied)
		}
		k.excuses(m, i)
	case k.barred.note(m, k.now, strikeTimes*k.overdue()):
		k.shunsStruck(m, &k.barred)
		k.complain(m, b.custody, policy.Barred, policy.Denied)
		k.blames(b.custody, m, b.from)
	}
}

// denierKnew reports whether the member that denies the pass knows of all custodies of its since an instant, as it
// says. One that has begun anew under new parameters does not, and may be connected all the time.
func (i *inquest) denierKnew(since clock.Instant) bool {
	if i.says == sent {
		return i.toKnows <= since
	}
	return i.whole.since <= since
}

// sentHere: a member says for long that it passes a token to this one, and that no cut explains why none has come. This
// one bars it, unless an earlier life of this one may have got the token. The transfer may have been lost each time, so
// that it is not struck.
func (k *Keeper) sentHere(i *inquest) bool {
	switch {
	case k.holder.find(&i.token) != nil || k.holder.pass(i.token, i.hop+1) != nil:
	case k.now < i.began.Add(k.timeout(denialTimes*k.silence)):
		return false
	case i.left == clock.Never || i.left < k.start:
	case k.isSteady(i.member, i.opened.Add(-k.overdue())):
		b := *i
		k.bars(b.member, b.custody, strikeTimes/2, policy.NeverCame)
		k.blames(b.custody, b.member, b.from)
	}
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

// greets notes that a member has greeted: its process may be another one.
func (k *Keeper) greets(m ident.Member) {
	s := &k.inquests
	k.peers.greets(m)
	for n := range s.open {
		switch i := &s.open[n]; m {
		case i.from: // it may have forgotten what it said, and pass that receiver another token
			i.unbroken = false
		case i.member: // its receipt may be of the process before: the giver is to show it again (P-75)
			i.left = clock.Never
			if i.receipt && !i.own {
				i.receipt, i.fromSays, i.next = false, false, k.now
			}
		}
	}
}
