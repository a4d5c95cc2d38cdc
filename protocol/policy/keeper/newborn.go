package keeper

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// maxBirths is how many newborn tokens a member remembers that it has let its policy have. More
// than one in H + L are rare.
const maxBirths = 8

// newbornKeepers is how many keepers are asked about a newborn token: one may be dead, or lie.
const newbornKeepers = 2

// newborn is the check of a token that its generator has passed to this member: whether another
// token lives (P-69). At first it is frozen: neither the policy nor the rest of the keeper has
// it. The zero value is none.
type newborn struct {
	event     policy.Event  // its arrival; Kind is 0 where none is checked
	frozen    bool          // the policy does not have it
	began     clock.Instant // to be so
	inquiries []inquiry     // the members that are asked about the other token
	asks      int           // how many were asked
	slowest   time.Duration // answer of those that have answered
	unheard   bool          // a member that was to be asked is silent
	evades    bool          // the way of the other token ends at the generator, which does not say where it went
	other     custody       // of another token, as a member says
	holder    ident.Member  // that member; zero: nobody has said so
	since     clock.Instant

	births []birth // the policy got, the last one last
}

// inquiry is a question to one member about another token than the newborn one.
type inquiry struct {
	member ident.Member
	custody
	since clock.Instant // when it was asked first
	heard clock.Instant // when it answered last; longAgo: never
	next  clock.Instant // when it is asked again, or given up
	stuck bool          // it has been passing that token on for long: the receiver may be dead
}

// birth is a newborn token that the policy got, as all that were asked know of no other one.
type birth struct {
	token     ident.Token
	born      uint64
	generator ident.Member
	at        clock.Instant
}

func (n *newborn) isChecked() bool { return n.event.Kind != 0 }

// isAsked reports whether a member's answer is awaited.
func (n *newborn) isAsked(m ident.Member) bool {
	return slices.ContainsFunc(n.inquiries, func(q inquiry) bool { return q.member == m })
}

func (n *newborn) settle(m ident.Member) {
	n.inquiries = slices.DeleteFunc(n.inquiries, func(q inquiry) bool { return q.member == m })
}

// end ends the check, and returns the arrival, and whether the token was frozen.
func (n *newborn) end() (e policy.Event, frozen bool) {
	e, frozen = n.event, n.frozen
	*n = newborn{births: n.births, inquiries: n.inquiries[:0]}
	return e, frozen
}

// heldOf is a token of an event, to compare it with others.
func heldOf(t *policy.Token) *held {
	return &held{custody: custody{t.ID, t.Hop}, born: t.Born}
}

// later reports whether a token is later than another one: of two the later one stays.
func later(t, than *policy.Token) bool {
	return heldOf(t).later(&message{custody: custody{token: than.ID}, born: than.Born})
}

// Admits implements policy.Admitter. A member that backs off from another one takes none that
// this one has just made, and not two of them at once.
func (k *Keeper) Admits(now clock.Instant, generator ident.Member) bool {
	n := &k.newborn
	return !k.exclusive || !k.backoffs.from(generator, now) && !k.struck.from(generator, now) && (!n.isChecked() || n.event.Token.Generator != generator)
}

// isNewborn reports whether a token comes from the member that made it, as its first hop.
func isNewborn(e *policy.Event) bool {
	return e.Token.Hop == 1 && !e.From.IsZero() && e.From == e.Token.Generator
}

// arrives has a token come, unless it is a newborn one that is frozen or dropped.
func (k *Keeper) arrives(e *policy.Event) {
	if !k.exclusive {
		k.takes(e)
		return
	}
	if !isNewborn(e) {
		k.meetsNewborn(e)
		k.takes(e)
		return
	}
	if k.backoffs.from(e.From, k.now) { // it was accepted before
		k.drops(&e.Token)
		return
	}
	switch n := &k.newborn; {
	case e.Belated: // all keepers are asked
		k.takes(e)
	case n.frozen:
		k.secondNewborn(e)
	case k.usesOne():
		k.backsOff(e.From, e.Token.ID)
		k.takes(e)
	default:
		n.end()
		k.freezes(e)
	}
}

// secondNewborn has the later one of two newborn tokens stay frozen. The check goes on as it
// is: a member that makes tokens all the time would else prolong it.
func (k *Keeper) secondNewborn(e *policy.Event) {
	n := &k.newborn
	if !later(&e.Token, &n.event.Token) {
		k.drops(&e.Token)
		return
	}
	k.drops(&n.event.Token)
	n.hold(e)
	n.settle(e.From) // nobody is a witness of its own token
	if n.holder == e.From {
		n.holder = ident.Member{}
	}
	k.endsCheck()
}

// hold takes a copy of an arrival, whose field is only lent.
func (n *newborn) hold(e *policy.Event) {
	n.event = *e
	n.event.Token.Field = keep(e.Token.Field)
}

func (k *Keeper) drops(t *policy.Token) {
	k.holder.dropped(heldOf(t), k.now)
	k.do(policy.Action{Kind: policy.Drop, Reason: policy.Superseded, Token: t.ID})
}

// usesOne reports whether the policy has a token here, or a program runs here.
func (k *Keeper) usesOne() bool {
	return slices.ContainsFunc(k.holder.held, func(h held) bool { return h.state < passing && h.event == nil })
}

// freezes begins to ask whether another token lives: the first keepers, and the member that has
// had the last one of which this member knows.
func (k *Keeper) freezes(e *policy.Event) {
	n := &k.newborn
	n.hold(e)
	n.frozen, n.began = true, k.now
	at, last := k.lastOther()
	list := slices.DeleteFunc(k.keepers(), func(m ident.Member) bool { return m == k.self || m == e.From })
	for _, m := range list[:min(len(list), newbornKeepers)] {
		k.inquiresOf(m, at)
	}
	k.inquiresOf(last, at)
	k.endsCheck()
}

// lastOther is the last custody that this member knows of a token other than the newborn one,
// and who had it.
func (k *Keeper) lastOther() (custody, ident.Member) {
	id := k.newborn.event.Token.ID
	if h := k.underWay(); h != nil && h.token != id && !h.keeper.IsZero() {
		return custody{h.token, h.hop + 1}, h.keeper
	}
	if l := &k.search.last; l.token != id && k.isElsewhere() && l.holder != k.newborn.event.From {
		return l.custody, l.holder
	}
	return k.passedOn(func(p passed) bool { return p.token != id })
}

// passedOn is the last of the passes of this member that are meant: to whom, and the custody
// there.
func (k *Keeper) passedOn(meant func(passed) bool) (custody, ident.Member) {
	for _, p := range slices.Backward(k.holder.passed) {
		if meant(p) {
			return custody{p.token, p.hop + 1}, p.to
		}
	}
	return custody{}, ident.Member{}
}

// inquiresOf asks a member about a custody that it may have.
func (k *Keeper) inquiresOf(m ident.Member, of custody) {
	n := &k.newborn
	switch {
	case m.IsZero(), m == k.self, n.isAsked(m):
	case k.isSilent(m):
		n.unheard = true
	case n.asks == maxChain: // it may be the way of a token that was lost after many hops
	default:
		n.asks++
		n.inquiries = append(n.inquiries, inquiry{member: m, custody: of, since: k.now, heard: longAgo, next: k.now.Add(k.retry)})
		k.send(m, &message{kind: ask, custody: of})
	}
}

// newbornHears takes in what a member says while a newborn token is frozen.
func (k *Keeper) newbornHears(from ident.Member, m *message) {
	n := &k.newborn
	if !n.isChecked() || from == k.self {
		return
	}
	for _, q := range n.inquiries {
		if q.member == from && q.heard == longAgo {
			n.slowest = max(n.slowest, k.now.Sub(q.since))
		}
	}
	switch t := &n.event.Token; {
	case m.kind == have || m.kind == rest || m.kind == returned && !heldOf(t).later(m):
		if m.token != t.ID {
			k.seesOther(from, m.custody)
		}
	case m.kind == went && n.isAsked(from):
		k.followsOther(from, m)
	case m.kind == none || m.kind == returned:
		n.evades = n.evades || n.isAsked(from) && from == n.event.From
		n.lets(from)
	}
	k.endsCheck()
}

// lets notes that a member has no other token.
func (n *newborn) lets(m ident.Member) {
	n.settle(m)
	if n.holder == m {
		n.holder = ident.Member{}
	}
}

// seesOther: a member says that it has another token. One member may say that all the time,
// and lie. So the other token lives only if a second member has it later, or a third token.
func (k *Keeper) seesOther(from ident.Member, c custody) {
	n := &k.newborn
	i := slices.IndexFunc(n.inquiries, func(q inquiry) bool { return q.member == from })
	switch {
	case from == n.event.From: // it has two tokens: one is too many
		if i >= 0 {
			k.backsOff(from, n.event.Token.ID)
			if e, frozen := n.end(); frozen {
				k.drops(&e.Token)
			}
		}
		return
	case n.holder.IsZero():
		n.holder, n.other, n.since = from, c, k.now
	case n.holder != from && (n.other.token != c.token || c.hop > n.other.hop):
		k.contestedBy(from)
		return
	case n.holder != from:
		n.settle(from)
		return
	}
	if i < 0 {
		n.inquiries = append(n.inquiries, inquiry{member: from})
		i = len(n.inquiries) - 1
	}
	n.inquiries[i] = inquiry{member: from, custody: c, since: k.now, heard: k.now, next: k.now.Add(k.retry)}
}

// followsOther asks the member to which the other token went. One that is on its way is asked
// for again, soon as long as a pass that nothing hinders may take.
func (k *Keeper) followsOther(from ident.Member, m *message) {
	n := &k.newborn
	i := slices.IndexFunc(n.inquiries, func(q inquiry) bool { return q.member == from })
	q := &n.inquiries[i]
	moving := m.span > 0 && (m.member.IsZero() || span(m.span) < k.silence) && k.now < q.since.Add(k.timeout(k.silence))
	if moving {
		q.heard, q.next = k.now, k.now.Add(min(nextPause, k.retry))
		if q.stuck = span(m.span) >= k.shortly(); q.stuck {
			q.next = k.now.Add(k.retry)
		}
		return
	}
	next, to := custody{m.token, m.hop + 1}, m.member
	if n.settle(from); m.token == n.event.Token.ID {
		return
	}
	if to == k.self { // and has gone on from here, unless it is on its way here
		next, to = k.passedOn(func(p passed) bool { return p.token == m.token && p.hop > m.hop })
	}
	k.inquiresOf(to, next)
}

// newbornSilent: a member that was asked is dead.
func (k *Keeper) newbornSilent(m ident.Member) {
	if n := &k.newborn; n.isAsked(m) {
		n.unheard = true
		n.lets(m)
		k.endsCheck()
	}
}

// newbornDue asks again, and waits no longer for those that do not answer.
func (k *Keeper) newbornDue() {
	n := &k.newborn
	for _, q := range slices.Clone(n.inquiries) {
		switch {
		case q.next > k.now:
		case k.now >= max(q.since, q.heard).Add(k.timeout(k.silence)+k.retry): // a watch tells sooner
			n.unheard = true
			n.evades = n.evades || q.member == n.event.From
			n.lets(q.member)
		default: // who says that it waits has a token go on that rests
			i := slices.IndexFunc(n.inquiries, func(o inquiry) bool { return o.member == q.member })
			n.inquiries[i].next = k.now.Add(k.retry)
			k.send(q.member, &message{kind: ask, custody: q.custody, member: k.self})
		}
	}
	k.endsCheck()
}

func (k *Keeper) newbornDeadline() clock.Instant {
	n, next := &k.newborn, clock.Never
	for i := range n.inquiries {
		next = min(next, n.inquiries[i].next)
	}
	if late := k.lateAt(); n.frozen && late > k.now {
		next = min(next, late)
	}
	if !n.holder.IsZero() {
		next = min(next, k.otherMayUntil())
	}
	return next
}

// patienceWithOther is how long a member may have another token, and nobody else gets it: a
// program may run there first.
func (k *Keeper) patienceWithOther() time.Duration { return k.hold + k.silence }

// otherMayUntil is how long the newborn token is held back for the other one: a program may run under that, or it may
// be on its way. A holder that got it long ago, as the member says that passed it on, has no such program any more. It
// has been asked, and only has to pass the token on.
func (k *Keeper) otherMayUntil() clock.Instant {
	n := &k.newborn
	long := func(i inquest) bool {
		return i.member == n.holder && i.token == n.other.token && i.receipt && i.from != n.event.From && k.now >= i.passed.Add(k.patienceWithOther())
	}
	if slices.ContainsFunc(k.inquests.open, long) {
		return n.since.Add(k.silence)
	}
	return n.since.Add(k.patienceWithOther())
}

// shortly is how long a pass, or an answer, takes at most among members that are well.
func (k *Keeper) shortly() time.Duration { return k.retry / 4 }

// lateAt is when all that are asked take longer to answer than those that have: they may be dead,
// and a group that has lost its token is not to wait for them. clock.Never: not before they say more.
func (k *Keeper) lateAt() (late clock.Instant) {
	n := &k.newborn
	wait := k.shortly()
	if n.slowest > 0 {
		wait = min(max(nextPause, 2*n.slowest), k.retry)
	}
	for _, q := range n.inquiries {
		if q.heard != longAgo && !q.stuck || !n.holder.IsZero() {
			return clock.Never
		}
		late = max(late, q.since.Add(k.timeout(wait)))
	}
	return min(late, n.began.Add(k.timeout(k.retry))) // however long the other token's way is
}

// endsCheck lets the policy have the newborn token if nobody is asked any more, if nobody has
// said anything of another one for a while, or if one member has kept that for too long.
func (k *Keeper) endsCheck() {
	n := &k.newborn
	switch {
	case !n.isChecked():
		return
	case !n.holder.IsZero() && k.now >= k.otherMayUntil():
		k.opens(inquest{custody: n.other, member: n.holder, began: k.now, waited: clock.Never})
	case len(n.inquiries) == 0:
	case n.frozen && k.now >= k.lateAt():
		n.frozen = false // the check goes on
		e := n.event
		k.takes(&e)
		return
	default:
		return
	}
	if n.evades {
		k.backsOff(n.event.From, n.event.Token.ID)
	}
	sure := !n.unheard
	e, frozen := n.end()
	if sure && !k.backoffs.from(e.From, k.now) {
		if len(n.births) == maxBirths {
			n.births = append(n.births[:0], n.births[1:]...)
		}
		n.births = append(n.births, birth{e.Token.ID, e.Token.Born, e.From, k.now})
	}
	if frozen {
		k.takes(&e)
	}
}

// freesNewborn lets the policy have a frozen token at once.
func (k *Keeper) freesNewborn() {
	if e, frozen := k.newborn.end(); frozen {
		k.takes(&e)
	}
}

// contestedBy sends a frozen token to a member that has the other one: where they meet the
// later one stays. One that the policy has had meanwhile goes its way.
func (k *Keeper) contestedBy(to ident.Member) {
	e, frozen := k.newborn.end()
	k.backsOff(e.From, e.Token.ID)
	if frozen {
		h := k.gained(&e.Token)
		h.event = &e
		k.leaves(h, to)
	}
}

// meetsNewborn: another token comes here. The policy has both then, if one is frozen: the later one
// stays. So the generator of one made a token while another one lived.
func (k *Keeper) meetsNewborn(e *policy.Event) {
	n := &k.newborn
	if e.Belated { // it may have been replaced
		return
	}
	n.births = slices.DeleteFunc(n.births, func(b birth) bool {
		lived := k.now < b.at.Add(k.patienceWithOther()) && b.token != e.Token.ID &&
			later(&policy.Token{ID: b.token, Born: b.born}, &e.Token)
		if lived {
			k.backsOff(b.generator, b.token)
		}
		return lived
	})
	if n.isChecked() && e.Token.ID != n.event.Token.ID && (n.frozen || later(&n.event.Token, &e.Token)) {
		k.backsOff(n.event.From, n.event.Token.ID)
		k.freesNewborn()
	}
}

// backsOff takes no newborn token of a member for a while, because of one.
func (k *Keeper) backsOff(m ident.Member, made ident.Token) {
	if k.backoffs.note(m, k.now, k.patienceWithOther()) {
		k.complain(m, custody{token: made}, policy.BackedOff, policy.Minted)
	}
}

// newbornSettled: the driver has removed a frozen token, or could not.
func (k *Keeper) newbornSettled(e *policy.Event) bool {
	n := &k.newborn
	if !n.frozen || n.event.Token.ID != e.Token.ID {
		return false
	}
	if e.Outcome != policy.Returned {
		n.end()
	}
	return true
}

// tellsNewborn says that a frozen token is here, and not in use: so nobody makes another one, and who
// has a later one says so.
func (k *Keeper) tellsNewborn(to ident.Member) {
	t := &k.newborn.event.Token
	m := message{kind: returned, custody: custody{t.ID, t.Hop}, born: t.Born}
	k.holder.serial++
	m.promise = promise{uint64(k.start), k.holder.serial}
	k.send(to, &m)
}
