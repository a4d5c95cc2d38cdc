package keeper

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

const (
	// maxInquests bounds what one member finds out at once about tokens that others have
	// lost.
	maxInquests = 8

	// strikeTimes is how many times as long as an overdue token is missed a member is
	// struck for the first time: what it costs the group to find out is little beside that, also where
	// several members of a large group keep tokens.
	strikeTimes = 128

	// restarts is how many times as long as usual a token may stay with a holder that gives no
	// account: it may have restarted, wait for the end of a program from before, and then for the
	// word of all others, and run a program of its own.
	restarts = 3

	// wrongClock is how many times as long as usual a token may stay with the member that has made
	// it: while its clock is wrong, nobody takes it.
	wrongClock = 8

	// denialTimes is for how many times L both members have to say what they say, before one that
	// denies a pass is in doubt: the transfer is sent again and again meanwhile, and a link may lose
	// several messages in a row.
	denialTimes = 3

	// maxDoubts bounds the doubts that a member remembers, and the excuses.
	maxDoubts = 64

	// excuseTimes is how many times as long as an overdue token is missed this member passes nothing
	// to one that has dropped a token for another one, as it says, and nobody confirms.
	excuseTimes = 16

	// maxExcuses is how often within strikeTimes a member may explain a loss without a proof: machines
	// restart. One that does so each time is no use to the group.
	maxExcuses = 1

	// pauseTimes is how many times as long as an overdue token is missed this member passes nothing to one that
	// explains a second loss so. It is short, so that a machine that has crashed twice has its next turn soon. It
	// doubles each time, so that one that restarts with each token costs little in the end.
	pauseTimes = 4

	// maxMinted is how often within strikeTimes a member may have dropped a token for one that
	// somebody had just made: before all others back off from that one.
	maxMinted = 8

	// maxGreetings bounds the members of which this one remembers when they have greeted.
	maxGreetings = 1024

	// newbornHop is the hop of a token that its receiver may drop (P-69). What others say of one
	// that was lost there, nobody asks about.
	newbornHop = 1

	// spreadInquests is how much later each further member of a large group asks about a lost
	// token, so that those asked are not dialled by all at once.
	spreadInquests = 20 * time.Millisecond
)

// inquests are what this member finds out about members that had a token which was lost
// (rules in docs/exclusion.md). Nobody is believed: each member asks for itself.
type inquests struct {
	open    []inquest
	doubts  []doubtful
	excused excuses     // of losses, without a proof
	ended   []kept      // custodies that are over, as the holders have said themselves
	kept    kept        // a token whose holder was told that somebody waits
	blamed  []lastBlame // who has blamed others, and when
	arrived ident.Token // that came here last
}

// inquest is what became of one custody. Two are asked: the member that had it, and the one
// that says that it passed it to that member.
type inquest struct {
	custody
	member    ident.Member  // who had it
	from      ident.Member  // who passed it on to that one; zero: unknown
	opened    clock.Instant // what explains the loss has happened since O before that
	began     clock.Instant // the same, or when the member has last said something after a silence
	next      clock.Instant
	waited    clock.Instant // since when that member has it, and was told that somebody waits; clock.Never: it has not said so
	late      clock.Instant // since when it says so although it has had it for too long; zero: not yet
	heard     clock.Instant // when it said so last
	answered  bool          // it has said something that counts
	asleep    bool          // it has said nothing, and is asked again when it does
	owes      bool          // it was asleep once, and has given no account since
	says      kind          // which: still, never, sent, proof or instead; 0: nothing yet
	whole     memory        // of never: from which of its custodies on it knows of all of them
	knows     uint64        // of never: the serial of its next custody then
	left      clock.Instant // of sent: when it began to; clock.Never: it does not say
	to        ident.Member  // of sent: to whom; of instead: who had the other token before
	named     clock.Instant // when it named that one
	toHop     uint64        // of sent: the custody that it has there
	moves     clock.Instant // of sent: since when it says that the answer is not due; zero: it does not
	fromMoves clock.Instant // the same of the sender
	other     custody       // of instead: the token that came in its place
	toDenies  bool          // that one says that it never had it
	toKnows   clock.Instant // and since when it knows of all its custodies
	toSays    bool          // that one has said something else
	receipt   bool          // there is a receipt of it for that custody
	proved    clock.Instant // since when this member has known it
	taken     policy.Receipt
	passed    clock.Instant // when the sender began to pass it on, as it says
	fromSays  bool          // the sender has answered
	unbroken  bool          // and says that the receiver is steady since (P-71, 4), or has said so to others
	there     bool          // it has the token, as far as is known: none has been made in its place
	denied    clock.Instant // since when both have said what cannot be true; zero: they have not
	own       bool          // this member is the sender
	since     clock.Instant // and has passed it on then
}

// kept is a token that stays with one holder, as far as the slot's keeper knows, while somebody
// waits.
type kept struct {
	custody
	holder ident.Member
	from   ident.Member  // who had it before, if that is known
	seen   clock.Instant // since when
	told   clock.Instant // when the holder was told that somebody waits; clock.Never: it was not
	anew   int           // how often its time has begun anew, as it has connected since
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

type lastBlame struct {
	by ident.Member
	at clock.Instant
}

// overdue is how long a holder may keep a token that was told that somebody waits: it may wait
// for its own next program, that may run, and two questions be lost.
func (s spans) overdue() time.Duration { return s.minInterval + s.hold + 2*s.silence }

// isAvoided reports whether this member passes no token to another one: it is struck, or about
// to be, unless it gives account of a token that it had.
func (k *Keeper) isAvoided(m ident.Member) bool {
	return k.isStruck(m) || k.barred.from(m, k.now) || slices.ContainsFunc(k.inquests.open, func(i inquest) bool { return i.member == m && k.avoids(&i) })
}

// avoids reports whether a member owes this one an answer.
func (k *Keeper) avoids(i *inquest) bool {
	if i.there { // it may be busy, and others may want to pass it another token
		return i.late != 0
	}
	return k.excusesAgain(i) || i.waited != clock.Never || i.denied != 0 && i.own || !i.answered && (i.owes || k.now >= i.began.Add(k.retry) || i.leavesOwn())
}

// leavesOwn reports whether this member has passed the token to the other one itself, and has no
// receipt of it: it passes it no other one before that one has given account.
func (i *inquest) leavesOwn() bool { return i.own && !i.from.IsZero() && !i.receipt }

// holds notes, as the slot's keeper, that a holder has a token while somebody waits. The holder
// is told so once, at the latest after L. It is to give account when it has not passed the token
// on for long after.
func (k *Keeper) holds(from ident.Member, m *message) {
	t := &k.inquests.kept
	switch waits := k.whoWaits(); {
	case k.verify == nil || from == k.self:
	case waits.IsZero(): // it may keep it
		*t = kept{}
	case t.holder != from: // of whatever token: it may say that it has another one each time
		before := *t
		*t = kept{custody: m.custody, holder: from, seen: k.now, told: clock.Never}
		if before.token == m.token && before.hop+1 == m.hop {
			t.from = before.holder
		}
	case t.told == clock.Never && k.now >= t.seen.Add(k.silence):
		t.told, t.custody = k.now, m.custody
		k.send(from, &message{kind: ask, custody: m.custody, member: waits})
		k.opens(inquest{custody: m.custody, member: from, from: t.from, began: k.now, waited: clock.Never, there: true})
	case t.told == clock.Never || k.now < t.told.Add(k.timeout(restarts*k.overdue())):
	case t.anew < restarts && !k.isSteady(from, t.told): // it was dead, and looks now whether it may go on
		t.told, t.anew = max(t.told, k.peers.greeted[from]), t.anew+1
	case k.owes(from, t.custody) && k.isSteady(from, t.told):
		k.strikes(from, &inquest{custody: t.custody}, policy.Unaccounted) // it gives no account
	case t.hop == 0 && k.mayHaveWrongClock(from) && k.now < t.told.Add(k.timeout(wrongClock*k.overdue())):
	default: // it answers now and then, or connects
		k.givesUp(from, t.custody, policy.Kept)
		*t = kept{}
	}
}

// givesUp takes a member for dead that keeps a token, for as long as one that is silent at first.
// Nobody is told: it may be asleep most of the time, or nobody takes the token.
func (k *Keeper) givesUp(m ident.Member, c custody, cause policy.Cause) {
	if s := &k.struck; s.note(m, k.now, muteTime) {
		k.shuns(m, s.left(m, k.now))
		k.complain(m, c, policy.GivenUp, cause)
		k.isReplaced(m, c)
	}
}

// isReplaced goes on without a member that keeps a token, under which no program can run any more.
func (k *Keeper) isReplaced(m ident.Member, c custody) {
	if l := &k.search.last; l.holder == m && l.token == c.token {
		l.promised, l.ends = true, longAgo
	}
	k.silent(m)
	k.keeperSilent(m)
}

// owes reports whether a member has given no account of a custody since it was asked.
func (k *Keeper) owes(m ident.Member, c custody) bool {
	return slices.ContainsFunc(k.inquests.open, func(i inquest) bool { return i.member == m && i.custody == c && !i.answered })
}

// opens begins to find out what became of a custody.
func (k *Keeper) opens(i inquest) *inquest {
	s := &k.inquests
	if k.verify == nil || i.member.IsZero() || i.member == k.self || k.isStruck(i.member) || k.inquests.excused.has(i.member, i.custody) {
		return nil
	}
	if at := slices.IndexFunc(s.open, func(o inquest) bool { return o.custody == i.custody && o.member == i.member }); at >= 0 {
		return nil
	}
	if len(s.open) == maxInquests {
		s.open = slices.Delete(s.open, 0, 1)
	}
	i.opened, i.next = i.began, i.began
	if i.from == k.self {
		k.ownWord(&i)
	}
	s.open = append(s.open, i)
	if i.leavesOwn() || k.excusesAgain(&i) {
		k.shuns(i.member, i.began.Sub(k.now)+k.overdue())
	}
	return &s.open[len(s.open)-1]
}

// ownWord takes in what this member itself knows of a pass by now.
func (k *Keeper) ownWord(i *inquest) {
	i.own, i.fromSays = true, false
	h, p := k.holder.find(&i.token), k.holder.pass(i.token, i.hop-1)
	switch {
	case h != nil && h.parted && h.hop+1 == i.hop && h.keeper == i.member:
		i.fromSays, i.since, i.unbroken = k.now >= h.since.Add(k.silence), h.since, h.told // the answer is due
	case p != nil && !p.dropped && p.to == i.member && p.hop+1 == i.hop:
		r, ok := k.took(p.receipt)
		i.fromSays, i.since, i.unbroken = true, p.since, p.told
		if ok && r.Hop == i.hop && !i.receipt {
			i.proved = k.now
		}
		i.receipt, i.taken, i.passed = ok && r.Hop == i.hop, r, p.since
	default:
		i.from = ident.Member{} // it was passed to another one, or is here again
	}
}

// took reads a receipt.
func (k *Keeper) took(raw []byte) (policy.Receipt, bool) {
	if k.verify == nil || len(raw) == 0 {
		return policy.Receipt{}, false
	}
	return k.verify(raw)
}

// inquestsDue asks those who are to give account.
func (k *Keeper) inquestsDue() {
	for n := 0; n < len(k.inquests.open); {
		i := &k.inquests.open[n]
		if i.next > k.now {
			n++
			continue
		}
		i.next = k.now.Add(k.retry)
		if i.waited != clock.Never {
			i.next = max(i.next, i.waited.Add(k.overdue())) // what it bears may be less by then
		}
		switch over := k.now >= i.began.Add(k.timeout(k.silence)); {
		case over && i.answered && i.waited == clock.Never && k.now >= max(i.began.Add(k.timeout(k.overdue()+k.hold)), i.denied.Add(k.timeout((denialTimes+1)*k.silence))):
			if i.says == instead {
				k.doubtsInstead(i)
			}
			k.closes(n) // nothing more is to be known
			continue
		case i.says == sent && !i.toSays && !i.toDenies && i.denied == 0 && k.now >= i.named.Add(k.timeout(2*k.silence)): // nobody denies it for the dead
			k.excuses(i.member, i)
			k.closes(n)
			continue
		case over && !i.answered && i.asleep:
			k.closes(n)
			continue
		case over && !i.answered: // until it says something
			i.asleep, i.owes, i.next = true, true, k.now.Add(strikeTimes*k.overdue())
			k.shuns(i.member, strikeTimes*k.overdue())
			n++
			continue
		case k.avoids(i):
			k.shuns(i.member, k.overdue())
		}
		k.asksAccount(i)
		n++
	}
}

// asksAccount asks those that have not answered.
func (k *Keeper) asksAccount(i *inquest) {
	k.send(i.member, &message{kind: account, custody: i.custody})
	if !i.own && !i.fromSays && !i.from.IsZero() {
		k.send(i.from, &message{kind: account, custody: custody{i.token, i.hop - 1}})
	}
	switch {
	case i.to.IsZero() || i.toSays || i.toDenies:
	case i.says == instead:
		k.send(i.to, &message{kind: account, custody: custody{i.other.token, i.other.hop - 1}})
	default:
		k.send(i.to, &message{kind: account, custody: custody{i.token, i.toHop}})
	}
}

// wakesInquest asks a member once more that has not given account, and says something now.
func (k *Keeper) wakesInquest(m ident.Member) {
	for n := range k.inquests.open {
		if i := &k.inquests.open[n]; i.member == m && i.asleep {
			i.asleep, i.began, i.next = false, k.now, k.now
		}
	}
}

// shuns has the member pass nothing to another one for a while, and no less than this one backs off
// from it.
func (k *Keeper) shuns(m ident.Member, d time.Duration) {
	d = max(d, k.struck.left(m, k.now), k.barred.left(m, k.now))
	k.do(policy.Action{Kind: policy.Shun, To: m, At: k.now.Add(d), Firm: k.owesSelf(m)})
}

// owesSelf reports whether a member has left a pass of this one without a receipt, and has not explained that: who
// passes it a second token would be in doubt with it twice, and be struck.
func (k *Keeper) owesSelf(m ident.Member) bool {
	return slices.ContainsFunc(k.inquests.open, func(i inquest) bool {
		return i.member == m && !i.asleep && i.leavesOwn() && (!i.answered || i.says == never || i.denied != 0 && i.says == 0)
	})
}

// shunsStruck does so for as long as this one backs off from it.
func (k *Keeper) shunsStruck(m ident.Member, b *backoffs) {
	k.do(policy.Action{Kind: policy.Shun, To: m, At: k.now.Add(b.left(m, k.now)), Struck: true})
}

// ends notes that a custody is over, as the member itself says that had it.
func (k *Keeper) ends(i *inquest) {
	s := &k.inquests
	if len(s.ended) == maxInquests {
		s.ended = slices.Delete(s.ended, 0, 1)
	}
	s.ended = append(s.ended, kept{custody: i.custody, holder: i.member, seen: k.now})
}

// hasEnded reports whether a member has said before that a custody of its own is over. It cannot come
// back: the next one has another hop. Who says that it has the token by that custody lies, or said
// so before: messages may be late. The same holds of a custody after which this member has passed that token on.
func (k *Keeper) hasEnded(m ident.Member, c custody) bool {
	if p := k.holder.pass(c.token, c.hop); p != nil && !p.dropped {
		return true
	}
	return slices.ContainsFunc(k.inquests.ended, func(e kept) bool {
		return e.holder == m && e.custody == c && k.isSteady(m, e.seen) && k.now >= e.seen.Add(k.silence)
	})
}

// closes ends an inquest.
func (k *Keeper) closes(n int) {
	m := k.inquests.open[n].member
	if i := &k.inquests.open[n]; i.there && (i.says == never || i.says == proof || i.says == instead) {
		k.ends(i)
	}
	if i := &k.inquests.open[n]; k.inquests.kept.custody == i.custody && (i.says != instead || i.toSays && i.other.token == k.inquests.arrived) {
		k.inquests.kept = kept{} // or who says each time that it has dropped another token would never be given up
	}
	k.inquests.open = slices.Delete(k.inquests.open, n, n+1)
	left := time.Duration(0) // of what others are to give account of; and it may owe this member nothing any more
	if slices.ContainsFunc(k.inquests.open, func(i inquest) bool { return i.member == m && k.avoids(&i) }) {
		left = k.overdue()
	}
	k.shuns(m, left)
}

// inquestsDeadline is when somebody is asked next.
func (k *Keeper) inquestsDeadline() clock.Instant {
	next := clock.Never
	for i := range k.inquests.open {
		next = min(next, k.inquests.open[i].next)
	}
	return next
}
