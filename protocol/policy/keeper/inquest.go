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
	// struck for the first time: what it costs the group to find out is little beside that.
	strikeTimes = 64

	// restarts is how many times as long as usual a token may stay with a holder that gives no
	// account: it may have restarted, wait for the end of a program from before, and then for the
	// word of all others, and run a program of its own.
	restarts = 3

	// wrongClock is the same for a holder that has made the token itself: while its clock is wrong,
	// nobody takes it.
	wrongClock = 8

	// maxDoubts bounds the doubts that a member remembers.
	maxDoubts = 64

	// excuseTimes is the same for one that has dropped a token for another one, as it says.
	excuseTimes = 16

	// recallTime is how long after a restart the policies of a member begin at the latest: it
	// waits until it knows whether its journal is whole (H-72), and may run late.
	recallTime = 10 * time.Second

	// maxExcuses is how often within strikeTimes a member may have dropped a token for one that
	// somebody had just made: before all others back off from that one.
	maxExcuses = 8

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
	struck  backoffs
	barred  backoffs // members that this one passes nothing to, but believes: see doubts
	doubts  []doubtful
	excused []lastBlame                    // members that have dropped a token for one just made, as they say
	ended   []kept                         // custodies that are over, as the holders have said themselves
	kept    kept                           // a token whose holder was told that somebody waits
	blamed  []lastBlame                    // who has blamed others, and when
	greeted map[ident.Member]clock.Instant // when a member's process was last seen to begin, or to greet
	arrived ident.Token                    // that came here last
}

// inquest is what became of one custody. Two are asked: the member that had it, and the one
// that says that it passed it to that member.
type inquest struct {
	custody
	member    ident.Member // who had it
	from      ident.Member // who passed it on to that one; zero: unknown
	began     clock.Instant
	next      clock.Instant
	waited    clock.Instant // since when that member has it, and was told that somebody waits; clock.Never: it has not said so
	late      clock.Instant // since when it says so although it has had it for too long; zero: not yet
	heard     clock.Instant // when it said so last
	answered  bool          // it has said something that counts
	asleep    bool          // it has said nothing, and is asked again when it does
	owes      bool          // it was asleep once, and has given no account since
	says      kind          // which: still, never, sent, proof or instead; 0: nothing yet
	young     time.Duration // of never: since when it has been at work
	left      clock.Instant // of sent: when it began to; clock.Never: it does not say
	to        ident.Member  // of sent: to whom; of instead: who had the other token before
	toHop     uint64        // of sent: the custody that it has there
	moves     clock.Instant // of sent: since when it says that the answer is not due; zero: it does not
	fromMoves clock.Instant // the same of the sender
	other     custody       // of instead: the token that came in its place
	toDenies  bool          // that one says that it never had it
	toSays    bool          // that one has said something else
	receipt   bool          // there is a receipt of it for that custody
	proved    clock.Instant // since when this member has known it
	ofNow     bool          // which it gave with the memory that it has now
	fromSays  bool          // the sender has answered
	there     bool          // it has the token, as far as is known: none has been made in its place
	own       bool          // this member is the sender
	since     clock.Instant // and has passed it on then
}

// kept is a token that stays with one holder, as far as the slot's keeper knows, while somebody
// waits.
type kept struct {
	custody
	holder ident.Member
	seen   clock.Instant // since when
	told   clock.Instant // when the holder was told that somebody waits; clock.Never: it was not
	anew   int           // how often its time has begun anew, as it has connected since
}

// doubtful is that one member says that it passed a token to another one, which denies it, and
// there is no receipt.
type doubtful struct {
	from, to ident.Member
	token    ident.Token
	at       clock.Instant
}

type lastBlame struct {
	by ident.Member
	at clock.Instant
}

// overdue is how long a holder may keep a token that was told that somebody waits: it may wait
// for its own next program, that may run, and two questions be lost.
func (s spans) overdue() time.Duration { return s.own + s.hold + 2*s.silence }

// isStruck reports whether this member takes another one for dead that lives, as it does not pass
// tokens on.
func (k *Keeper) isStruck(m ident.Member) bool { return k.inquests.struck.from(m, k.now) }

// isAvoided reports whether this member passes no token to another one: it is struck, or about
// to be, unless it gives account of a token that it had.
func (k *Keeper) isAvoided(m ident.Member) bool {
	return k.isStruck(m) || k.inquests.barred.from(m, k.now) || slices.ContainsFunc(k.inquests.open, func(i inquest) bool { return i.member == m && k.avoids(&i) })
}

// avoids reports whether a member owes this one an answer.
func (k *Keeper) avoids(i *inquest) bool {
	if i.there { // it may be busy, and others may want to pass it another token
		return i.late != 0
	}
	return i.waited != clock.Never || !i.answered && (i.owes || k.now >= i.began.Add(k.retry) || i.leavesOwn())
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
	case k.verify == nil || waits.IsZero() || from == k.self:
	case k.hasEnded(from, m.custody):
		k.strikes(from, &inquest{custody: m.custody})
	case t.holder != from: // of whatever token: it may say that it has another one each time
		*t = kept{custody: m.custody, holder: from, seen: k.now, told: clock.Never}
	case t.told == clock.Never && k.now >= t.seen.Add(k.silence):
		t.told, t.custody = k.now, m.custody
		k.tell(from, &message{kind: ask, custody: m.custody, member: waits})
		k.opens(inquest{custody: m.custody, member: from, began: k.now, waited: clock.Never, there: true})
	case t.told == clock.Never || k.now < t.told.Add(k.bears(restarts*k.overdue())):
	case t.anew < restarts && !k.isSteady(from, t.told): // it was dead, and looks now whether it may go on
		t.told, t.anew = max(t.told, k.inquests.greeted[from]), t.anew+1
	case k.owes(from, t.custody) && k.isSteady(from, t.told):
		k.strikes(from, &inquest{custody: t.custody}) // it gives no account
	case t.hop == 0 && k.now < t.told.Add(k.bears(wrongClock*k.overdue())):
	default: // it answers now and then, or connects
		k.givesUp(from, t.custody)
		*t = kept{}
	}
}

// givesUp takes a member for dead that keeps a token, for as long as one that is silent at first.
// Nobody is told: it may be asleep most of the time, or nobody takes the token.
func (k *Keeper) givesUp(m ident.Member, c custody) {
	if s := &k.inquests.struck; s.note(m, k.now, muteTime) {
		k.shuns(m, s.left(m, k.now))
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
	if k.verify == nil || i.member.IsZero() || i.member == k.self || k.isStruck(i.member) {
		return nil
	}
	if at := slices.IndexFunc(s.open, func(o inquest) bool { return o.custody == i.custody && o.member == i.member }); at >= 0 {
		return nil
	}
	if len(s.open) == maxInquests {
		s.open = slices.Delete(s.open, 0, 1)
	}
	i.next = i.began
	if i.from == k.self {
		k.ownWord(&i)
	}
	if i.leavesOwn() {
		k.shuns(i.member, i.began.Sub(k.now)+k.overdue())
	}
	s.open = append(s.open, i)
	return &s.open[len(s.open)-1]
}

// ownWord takes in what this member itself knows of a pass by now.
func (k *Keeper) ownWord(i *inquest) {
	i.own, i.fromSays = true, false
	h, p := k.holder.find(&i.token), k.holder.pass(i.token, i.hop-1)
	switch {
	case h != nil && h.parted && h.hop+1 == i.hop && h.keeper == i.member:
		i.fromSays, i.since = k.now >= h.since.Add(k.silence), h.since // the answer is due
	case p != nil && !p.dropped && p.to == i.member && p.hop+1 == i.hop:
		r, ok := k.took(p.receipt)
		i.fromSays, i.since = true, p.since
		if ok && r.Hop == i.hop && !i.receipt {
			i.proved = k.now
		}
		i.receipt, i.ofNow = ok && r.Hop == i.hop, r.Current
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
		switch over := k.now >= i.began.Add(k.bears(k.silence)); {
		case over && i.answered && i.waited == clock.Never && k.now >= i.began.Add(k.bears(k.overdue()+k.hold)):
			if i.says == instead {
				k.excuses(i)
			}
			k.closes(n) // nothing more is to be known
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
	k.tell(i.member, &message{kind: account, custody: i.custody})
	if !i.own && !i.fromSays && !i.from.IsZero() {
		k.tell(i.from, &message{kind: account, custody: custody{i.token, i.hop - 1}})
	}
	switch {
	case i.to.IsZero() || i.toSays || i.toDenies:
	case i.says == instead:
		k.tell(i.to, &message{kind: account, custody: custody{i.other.token, i.other.hop - 1}})
	default:
		k.tell(i.to, &message{kind: account, custody: custody{i.token, i.toHop}})
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
	d = max(d, k.inquests.struck.left(m, k.now), k.inquests.barred.left(m, k.now))
	k.actions = append(k.actions, policy.Action{Kind: policy.Shun, To: m, At: k.now.Add(d)})
}

// shunsStruck does so for as long as this one backs off from it.
func (k *Keeper) shunsStruck(m ident.Member, b *backoffs) {
	k.actions = append(k.actions, policy.Action{Kind: policy.Shun, To: m, At: k.now.Add(b.left(m, k.now)), Struck: true})
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
// back: the next one has another hop.
func (k *Keeper) hasEnded(m ident.Member, c custody) bool {
	return slices.ContainsFunc(k.inquests.ended, func(e kept) bool {
		return e.holder == m && e.custody == c && k.isSteady(m, e.seen) && k.now >= e.seen.Add(k.silence)
	})
}

// closes ends an inquest.
func (k *Keeper) closes(n int) {
	m := k.inquests.open[n].member
	if i := &k.inquests.open[n]; i.there && i.answered {
		k.ends(i)
	}
	if k.inquests.kept.custody == k.inquests.open[n].custody {
		k.inquests.kept = kept{}
	}
	k.inquests.open = slices.Delete(k.inquests.open, n, n+1)
	if !k.isAvoided(m) {
		k.shuns(m, 0)
	}
}

// inquestsDeadline is when somebody is asked next.
func (k *Keeper) inquestsDeadline() clock.Instant {
	next := clock.Never
	for i := range k.inquests.open {
		next = min(next, k.inquests.open[i].next)
	}
	return next
}

// accounted takes in what a member says of a custody that it is to give account of: also what
// it says unasked, as that is said to this member all the same.
func (k *Keeper) accounted(from ident.Member, m *message) {
	for n := 0; n < len(k.inquests.open); n++ {
		i := &k.inquests.open[n]
		switch {
		case from == i.member:
			k.accountOf(i, m)
		case from == i.to && i.says == instead:
			k.confirms(i, m)
		case from == i.to:
			i.toSays = i.toSays || (m.kind == still || m.kind == sent) && m.token == i.token || m.kind == proof
			i.toDenies = !i.toSays && m.kind == never && m.custody == (custody{i.token, i.toHop})
		case from == i.from && !i.own:
			k.senderSays(i, m)
		default:
			continue
		}
		if over := *i; k.concludes(i) {
			if n = slices.IndexFunc(k.inquests.open, func(o inquest) bool { return o.custody == over.custody && o.member == over.member }); n >= 0 {
				k.closes(n)
			}
			return
		}
	}
}

// confirms takes in what the member says of which the other token came, as it is said.
func (k *Keeper) confirms(i *inquest, m *message) {
	asked := custody{i.other.token, i.other.hop - 1}
	switch m.kind {
	case proof:
		if r, ok := k.took(m.receipt); ok && r.Token == asked.token && r.Hop >= i.other.hop {
			i.toSays = r.Hop == i.other.hop && r.Signer == i.member
			i.toDenies = !i.toSays
		}
	case sent:
		if m.token == asked.token && m.hop >= asked.hop {
			i.toSays = m.hop == asked.hop && m.member == i.member
			i.toDenies = !i.toSays
		}
	case never:
		i.toDenies = m.custody == asked
	}
}

// accountOf takes in what the member says that had the custody.
func (k *Keeper) accountOf(i *inquest, m *message) {
	switch m.kind {
	case still:
		if m.custody == i.custody {
			i.answered, i.says = true, still
			k.stillHas(i)
		}
	case proof: // of this custody or a later one: the token went on
		if r, ok := k.took(m.receipt); ok && r.Token == i.token && r.Hop > i.hop && r.Signer != i.member {
			i.answered, i.says = true, proof
		}
	case never:
		if m.custody == i.custody {
			i.answered, i.says, i.waited, i.young = true, never, clock.Never, span(m.span)
		}
	case instead:
		if m.token == i.token && m.hop >= i.hop {
			i.answered, i.says, i.waited = true, instead, clock.Never
			if i.to != m.member || i.other != m.other {
				i.to, i.other, i.toSays, i.toDenies = m.member, m.other, false, false
				i.next = k.now
			}
		}
	case sent:
		switch {
		case m.token != i.token || m.hop < i.hop || m.member.IsZero() || m.member == i.member:
		case k.isMoving(m) && k.movesStill(&i.moves):
			i.answered, i.says = true, 0
		default:
			i.answered, i.says, i.waited, i.left = true, sent, clock.Never, clock.Never
			if m.span > 0 {
				i.left = k.now.Add(-span(m.span))
			}
			if i.to != m.member || i.toHop != m.hop+1 {
				i.to, i.toHop, i.toSays, i.toDenies = m.member, m.hop+1, false, false
				i.next = k.now
			}
		}
	}
}

// stillHas notes that a member still has the token. One that has begun anew has as long for it as
// at first. One that says so late was perhaps asleep: it has 2 L more, in which it answers all
// the time.
func (k *Keeper) stillHas(i *inquest) {
	may := k.overdue()
	if i.hop == 0 { // its clock may be wrong, and the token refused and made anew until it is right
		may *= wrongClock
	}
	switch late := k.now >= i.waited.Add(k.bears(may)); {
	case i.waited == clock.Never, !k.isSteady(i.member, i.waited) && k.now < i.began.Add(restarts*k.overdue()):
		i.waited, i.late = k.now, 0
	case late && (i.late == 0 || k.now >= i.heard.Add(k.half)):
		i.late = k.now
	}
	i.heard = k.now
}

// isLate reports whether a member keeps a token for too long.
func (k *Keeper) isLate(i *inquest) bool {
	return i.says == still && i.heard == k.now && i.late != 0 && k.now >= i.late.Add(k.bears(2*k.silence))
}

// isMoving reports whether the answer to the transfer that a member tells of is not due yet.
func (k *Keeper) isMoving(m *message) bool { return m.span > 0 && span(m.span) < k.silence }

// movesStill reports whether a token may be on its way since a member said so first. One that says so
// each time lies.
func (k *Keeper) movesStill(since *clock.Instant) bool {
	if *since == 0 {
		*since = k.now
	}
	return k.now < since.Add(k.bears(2*k.silence))
}

// senderSays takes in what the member says that passed the token to the other one. That one is
// asked once more then: it may have said before that it had the token that it never had it.
func (k *Keeper) senderSays(i *inquest, m *message) {
	if i.fromSays {
		return
	}
	defer func() {
		if i.fromSays && i.says == never {
			i.says, i.next = 0, k.now
		}
	}()
	switch m.kind {
	case proof:
		if r, ok := k.took(m.receipt); ok && r.Token == i.token && r.Hop == i.hop {
			i.fromSays = true
			if r.Signer == i.member {
				i.receipt, i.ofNow, i.proved = true, r.Current, k.now
			} else {
				i.from = ident.Member{} // it was passed to another one: they were named wrongly
			}
		}
	case sent:
		if m.token == i.token && m.hop+1 == i.hop && !(k.isMoving(m) && k.movesStill(&i.fromMoves)) {
			i.fromSays = true
			if m.member != i.member {
				i.from = ident.Member{}
			}
		}
	case never:
		if m.custody == (custody{i.token, i.hop - 1}) {
			i.fromSays, i.from = true, ident.Member{}
		}
	}
}

// concludes reports whether an inquest is over, and counts what follows from it.
func (k *Keeper) concludes(i *inquest) bool {
	if i.own && !i.from.IsZero() {
		k.ownWord(i)
	}
	denies := i.says == never
	switch {
	case i.says == proof, i.says == instead && i.toSays && i.other.token != i.token:
	case k.isLate(i):
		k.strikes(i.member, i)
	case denies && i.there && k.isSteady(i.member, i.began.Add(-k.silence)) && !k.hasForgotten(i):
		k.strikes(i.member, i) // it has said that it has the token
	case denies && i.receipt && k.now < i.proved.Add(k.retry): // it may have said so before it gave that
		i.says = 0
		return false
	case denies && i.receipt && i.ofNow && !k.hasForgotten(i):
		k.strikes(i.member, i)
	case denies && i.receipt:
	case i.says == never && i.fromSays && !i.from.IsZero():
		k.doubts(i.from, i.member, i)
	case i.says == never && (i.fromSays || i.from.IsZero()):
	case i.says == sent && i.to == k.self:
		return k.sentHere(i)
	case i.says == sent && i.toDenies:
		k.doubts(i.member, i.to, i)
	case i.says == instead && (i.to.IsZero() || i.to == i.member || i.other.hop == 0 || i.other.token == i.token || i.toDenies):
		k.excuses(i)
	case i.says == sent && i.toSays:
	default:
		return false
	}
	return true
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
// for a while.
func (k *Keeper) excuses(i *inquest) {
	since := i.began.Add(-k.overdue())
	if !i.to.IsZero() && i.to != k.self && i.to != i.member && !k.isSteady(i.to, since) {
		return
	}
	if m := i.member; i.hop > 0 && k.isSteady(m, since) && !k.isExcused(i) { // its own clock may be wrong
		k.inquests.barred.note(m, k.now, excuseTimes*k.overdue())
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

// accuses finds out, as the keeper that makes a token, what became of the one that is lost, and
// lets the others do so, if a member that lives has had it last.
func (k *Keeper) accuses() {
	s := &k.search
	i := inquest{custody: s.last.custody, member: s.last.holder, from: s.last.from, began: k.now, waited: clock.Never}
	switch t := &s.trail; {
	case t.token != i.token || t.hop < i.hop:
	case t.moving:
		i.custody, i.member, i.from = custody{t.token, t.hop + 1}, t.to, t.holder
	default:
		i.custody, i.member, i.from = t.custody, t.holder, t.from
	}
	if i.hop == 0 || !slices.Contains(s.answers, i.member) {
		return
	}
	k.blames(i.custody, i.member, i.from)
	k.opens(i)
}

// blames tells all members who had a token last that was lost, and from whom. None of them
// believes it.
func (k *Keeper) blames(c custody, m, from ident.Member) {
	if k.verify == nil || m.IsZero() || m == k.self {
		return
	}
	k.order = k.roster.Draw(maxMembers, k.order[:0])
	first := len(k.actions)
	for _, to := range k.order {
		if to != k.self && to != m {
			k.tell(to, &message{kind: blame, custody: c, member: m, second: from})
		}
	}
	for i := range k.actions[first:] {
		k.actions[first+i].Question = true
	}
}

// blamed finds out itself what another member says. A member is heard once in L: who blames
// without a reason costs each member two questions in that time.
func (k *Keeper) blamed(by ident.Member, m *message) {
	s := &k.inquests
	s.blamed = slices.DeleteFunc(s.blamed, func(b lastBlame) bool { return k.now >= b.at.Add(k.silence) })
	if m.hop <= newbornHop || len(s.blamed) >= maxInquests || slices.ContainsFunc(s.blamed, func(b lastBlame) bool { return b.by == by }) {
		return
	}
	s.blamed = append(s.blamed, lastBlame{by, k.now})
	place := int(k.self[0])<<8 | int(k.self[1])
	wait := time.Duration(place%max(1, k.roster.Size()/maxInquests)) * spreadInquests
	k.opens(inquest{custody: m.custody, member: m.member, from: m.second, began: k.now.Add(wait), waited: clock.Never})
}

// replaced finds out what became of the last custody that this member has passed on itself, when
// another token comes: the keeper may lie, and name others.
func (k *Keeper) replaced(t *policy.Token) {
	s := &k.inquests
	before := s.arrived
	s.arrived = t.ID
	if before == t.ID || before == (ident.Token{}) {
		return
	}
	if h := k.holder.find(&before); h != nil && h.parted {
		due := max(k.now, h.since.Add(k.silence+k.retry)) // the answer
		k.opens(inquest{custody: custody{h.token, h.hop + 1}, member: h.keeper, from: k.self, began: due, waited: clock.Never})
		return
	}
	for n := len(k.holder.passed) - 1; n >= 0; n-- {
		if p := &k.holder.passed[n]; p.token == before && !p.dropped {
			k.opens(inquest{custody: custody{p.token, p.hop + 1}, member: p.to, from: k.self, began: k.now, waited: clock.Never})
			return
		}
	}
}

// givesAccount answers what became of a custody of this member's.
func (k *Keeper) givesAccount(from ident.Member, m *message) {
	h := &k.holder
	e, p := h.find(&m.token), h.pass(m.token, m.hop)
	switch f := &k.newborn; {
	case f.frozen && f.event.Token.ID == m.token:
		// It is being looked at, and nothing can be said of it yet.
	case p != nil && len(p.receipt) > 0:
		k.tell(from, &message{kind: proof, receipt: p.receipt})
	case p != nil && p.dropped:
		k.tell(from, &message{kind: instead, custody: p.custody, other: p.other, member: p.to})
	case e != nil && e.hop == m.hop && e.parted && k.isBack(e):
		// A cut or a restart explains it, which others have not seen. The answer may come yet.
	case e != nil && e.hop == m.hop && e.parted:
		k.tell(from, &message{kind: sent, custody: e.custody, member: e.keeper, span: max(1, millis(k.now.Sub(e.since)))})
	case e != nil && e.hop == m.hop && (e.event != nil || e.hidden):
		// It waits for the word of others since a restart, and says nothing yet.
	case e != nil && e.hop == m.hop:
		k.tell(from, &message{kind: still, custody: e.custody})
		if k.isStruck(from) {
			return
		}
		if e.state == running && e.waiter.IsZero() {
			e.waiter = from
		}
		k.wakes(from)
	case p != nil && !p.to.IsZero():
		k.tell(from, &message{kind: sent, custody: p.custody, member: p.to})
	case p != nil:
		k.tell(from, &message{kind: instead, custody: p.custody}) // it was given up, nobody knows to whom
	default:
		k.tell(from, &message{kind: never, custody: m.custody, span: millis(k.now.Sub(k.start))})
	}
}
