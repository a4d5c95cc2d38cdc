package keeper

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

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
			if i.toDenies = !i.toSays && m.kind == never && m.custody == (custody{i.token, i.toHop}); i.toDenies {
				i.toKnows = k.now.Add(-span(m.span))
			}
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
			i.answered, i.says, i.waited = true, never, clock.Never
			i.whole, i.knows = memory{k.now.Add(-span(m.span)), m.from}, m.next
		}
	case instead:
		if m.token == i.token && m.hop >= i.hop {
			i.answered, i.says, i.waited = true, instead, clock.Never
			if i.to != m.member || i.other != m.other {
				i.to, i.other, i.toSays, i.toDenies = m.member, m.other, false, false
				i.named, i.next = k.now, k.now
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
				i.named, i.next = k.now, k.now
			}
		}
	}
}

// stillHas notes that a member still has the token. One that has begun anew has as long for it as
// at first. One that says so late was perhaps asleep: it has 2 L more, in which it answers all
// the time.
func (k *Keeper) stillHas(i *inquest) {
	may := k.overdue()
	if i.hop == 0 && k.mayHaveWrongClock(i.member) {
		may *= wrongClock
	}
	switch late := k.now >= i.waited.Add(k.timeout(may)); {
	case i.waited == clock.Never, !k.misses(i), !k.isSteady(i.member, i.waited) && k.now < i.began.Add(restarts*k.overdue()):
		i.waited, i.late = k.now, 0
	case late && (i.late == 0 || k.now >= i.heard.Add(k.half)):
		i.late = k.now
	}
	i.heard = k.now
}

// misses reports whether the token is missed that a member keeps. A holder that is told that this member
// waits asks it, and keeps the token if it does not.
func (k *Keeper) misses(i *inquest) bool {
	w := k.whoWaits()
	return k.waiter.demand || k.has() || i.there && !w.IsZero() && w != i.member
}

// mayHaveWrongClock reports whether a member may keep a token that it has made because nobody takes it: its
// clock may be wrong, and the token refused and made anew until that is right. Of one that this member passes
// nothing to in any case that is not borne.
func (k *Keeper) mayHaveWrongClock(m ident.Member) bool { return !k.barred.from(m, k.now) }

// isLate reports whether a member keeps a token for too long.
func (k *Keeper) isLate(i *inquest) bool {
	return i.says == still && i.heard == k.now && i.late != 0 && k.now >= i.late.Add(k.timeout(2*k.silence))
}

// isMoving reports whether the answer to the transfer that a member tells of is not due yet.
func (k *Keeper) isMoving(m *message) bool { return m.span > 0 && span(m.span) < k.silence }

// movesStill reports whether a token may be on its way since a member said so first. One that says so
// each time lies.
func (k *Keeper) movesStill(since *clock.Instant) bool {
	if *since == 0 {
		*since = k.now
	}
	return k.now < since.Add(k.timeout(2*k.silence))
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
				i.receipt, i.taken, i.passed, i.proved = true, r, k.now.Add(-span(m.span)), k.now
			} else {
				i.from = ident.Member{} // it was passed to another one: they were named wrongly
			}
		}
	case sent:
		if m.token == i.token && m.hop+1 == i.hop && !(k.isMoving(m) && k.movesStill(&i.fromMoves)) {
			i.fromSays, i.unbroken = true, m.span > 0
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

// givesAccount answers what became of a custody of this member's.
func (k *Keeper) givesAccount(from ident.Member, m *message) {
	h := &k.holder
	e, p := h.find(&m.token), h.pass(m.token, m.hop)
	switch f := &k.newborn; {
	case f.frozen && f.event.Token.ID == m.token:
		// It is being looked at, and nothing can be said of it yet.
	case p != nil && len(p.receipt) > 0:
		k.send(from, &message{kind: proof, span: millis(k.now.Sub(p.since)), receipt: p.receipt})
	case p != nil && p.dropped:
		k.send(from, &message{kind: instead, custody: p.custody, other: p.other, member: p.to})
	case e != nil && e.hop == m.hop && e.parted && k.isBack(e.keeper, e.since):
		// A cut or a restart explains it, which others have not seen. The answer may come yet.
	case e != nil && e.hop == m.hop && e.parted:
		answer := message{kind: sent, custody: e.custody, member: e.keeper}
		if due := k.now >= e.since.Add(k.silence); !due || k.isSteady(e.keeper, e.since) {
			answer.span = max(1, millis(k.now.Sub(e.since)))
			e.told = e.told || due
		}
		k.send(from, &answer)
	case e != nil && e.hop == m.hop && (e.event != nil || e.hidden):
		// It waits for the word of others since a restart, and says nothing yet.
	case e != nil && e.hop == m.hop:
		k.send(from, &message{kind: still, custody: e.custody})
		if k.isStruck(from) {
			return
		}
		if e.state == running && e.waiter.IsZero() {
			e.waiter = from
		}
		k.wakes(from)
	case p != nil && !p.to.IsZero():
		k.send(from, &message{kind: sent, custody: p.custody, member: p.to})
	case p != nil:
		k.send(from, &message{kind: instead, custody: p.custody}) // it was given up, nobody knows to whom
	default:
		k.send(from, &message{kind: never, custody: m.custody, span: millis(k.now.Sub(h.whole.since)), from: h.whole.serial, next: max(1, k.serial())})
	}
}
