package keeper

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// docket are the inquests in progress, at most maxInquests, the oldest one first.
type docket []inquest

// find is the index of the inquest about a custody of a member, or -1.
func (d docket) find(m ident.Member, c custody) int {
	return slices.IndexFunc(d, func(i inquest) bool { return i.member == m && i.custody == c })
}

// some reports whether an inquest about a member is of a kind.
func (d docket) some(m ident.Member, is func(*inquest) bool) bool {
	for n := range d {
		if d[n].member == m && is(&d[n]) {
			return true
		}
	}
	return false
}

// owes reports whether a member has given no account of a custody since it was asked.
func (d docket) owes(m ident.Member, c custody) bool {
	n := d.find(m, c)
	return n >= 0 && !d[n].answered
}

// owesSelf reports whether a member has left a pass of this one without a receipt, and has not explained that. A
// member that passes it a second token would be in doubt with it twice, and be struck.
func (d docket) owesSelf(m ident.Member) bool {
	return d.some(m, func(i *inquest) bool {
		return !i.asleep && i.leavesOwn() && (!i.answered || i.says == never || i.denied != 0 && i.says == 0)
	})
}

// wake asks a member once more that has not given account, and says something now. One that connects has as long to
// answer as at first, also if that is not over: it may just have begun, and have heard none of the questions.
func (d docket) wake(m ident.Member, now clock.Instant, connects bool) {
	for n := range d {
		if i := &d[n]; i.member == m && (i.asleep || connects && !i.answered && i.began <= now) {
			i.asleep, i.owes, i.began, i.next = false, true, now, now
		}
	}
}

// deadline is when a member is asked next.
func (d docket) deadline() clock.Instant {
	next := clock.Never
	for n := range d {
		next = min(next, d[n].next)
	}
	return next
}

// inquest is what became of one custody: what three members say of it. They are the member that had it, the
// sender that says that it passed it to that member, and the receiver that the member names.
type inquest struct {
	custody
	member ident.Member  // the member that had it
	opened clock.Instant // what explains the loss has happened since O before that
	began  clock.Instant // the same, or when the member has last said something after a silence
	next   clock.Instant // when to ask
	asleep bool          // the member has said nothing, and is asked again when it does
	owes   bool          // it was asleep once, and has given no account since
	there  bool          // it was opened as it has the token, as far as is known, and others wait
	lost   bool          // but the token was lost since: another one has come, or a member says so
	denied clock.Instant // since when two have said what cannot both be true; zero: they have not
	word
	sender
	receiver
}

// word is what the member says that had the custody.
type word struct {
	answered bool          // it has said something that counts
	says     kind          // still, never, sent, proof or instead; 0: nothing yet
	waited   clock.Instant // since when it has the token, and was told that others wait; clock.Never: it has not said so
	returned clock.Instant // when it said last that it waits until it may use it, as after a restart; zero: never
	heard    clock.Instant // when it said so last
	late     clock.Instant // since when it says so although it has had the token for too long; zero: not yet
	said     int           // how often it has said so since it was late first, a retry or more apart each
	counted  clock.Instant // when it was last counted
	moves    clock.Instant // since when it says that the answer to its transfer is not due; zero: it does not
	whole    memory        // of never: from which of its custodies on it knows of all of them
	knows    uint64        // of never: the serial of its next custody then
	left     clock.Instant // of sent: when it began to; clock.Never: it does not say
	other    custody       // of instead: the token that came in its place
	madeUp   bool          // but it did not come, as this member knows
}

// receiver is the member that the first one names: of sent the one that it sent the token to, of instead the
// one that had the other token before.
type receiver struct {
	to       ident.Member
	toHop    uint64        // of sent: the custody that it has there
	named    clock.Instant // when the member named it
	toSays   bool          // it confirms that
	toDenies bool          // it denies that
	toForgot bool          // of instead: it knows of a later pass of the other token, or has begun to remember since
	toKnows  clock.Instant // and since when it knows of all its custodies
}

// sender is the member that passed the custody to the first one, and what it says.
type sender struct {
	from      ident.Member  // zero: unknown
	own       bool          // it is this member
	since     clock.Instant // which has passed the token on then
	fromSays  bool          // it has answered
	fromMoves clock.Instant // since when it says that the answer to its transfer is not due; zero: it does not
	passed    clock.Instant // when it signed the transfer, as it says
	unbroken  bool          // it says, or has said to others, that the receiver is steady since (P-71, 4)
	receipt   bool          // it has a receipt for that custody
	taken     policy.Receipt
	proved    clock.Instant // since when this member has known that
}

// about is an inquest that is to be opened at an instant, about a member that had a custody from another one.
func about(c custody, m, from ident.Member, at clock.Instant) inquest {
	return inquest{custody: c, member: m, began: at, sender: sender{from: from}, word: word{waited: clock.Never}}
}

// custodyOf is the custody of a member that an inquest is about: of the one that had the token, of the one
// that says that it passed the token to that one, or of the one that is said to have it from there.
func (i *inquest) custodyOf(m ident.Member) custody {
	switch {
	case m == i.member:
	case i.says == never && m == i.from:
		return i.fromCustody()
	case i.says == sent && m == i.to:
		return custody{i.token, i.toHop}
	}
	return i.custody
}

// fromCustody is the custody of the sender.
func (i *inquest) fromCustody() custody { return custody{i.token, i.hop - 1} }

// toCustody is the custody that the receiver is asked about.
func (i *inquest) toCustody() custody {
	if i.says == instead {
		return custody{i.other.token, i.other.hop - 1}
	}
	return custody{i.token, i.toHop}
}

// counts reports whether known waiters are to have waited for the token: it was opened as the token stays with its holder, and
// that is so still, as far as is known.
func (i *inquest) counts() bool { return i.there && !i.lost }

// leavesOwn reports whether this member has passed the token to the other one itself, and has no
// receipt of it: it passes it no other one before that one has given account.
func (i *inquest) leavesOwn() bool { return i.own && !i.from.IsZero() && !i.receipt }

// names notes the receiver that the member names.
func (i *inquest) names(to ident.Member, toHop uint64, now clock.Instant) {
	i.to, i.toHop, i.toSays, i.toDenies, i.toForgot = to, toHop, false, false, false
	i.named, i.next = now, now
}

// account takes in what the member says that had the custody.
func (i *inquest) account(m *message, past *history, s *setting) {
	switch m.kind {
	case still:
		if m.custody == i.custody {
			i.answered, i.says = true, still
		}
	case proof: // of this custody or a later one: the token went on
		if r, ok := past.took(m.receipt); ok && r.Token == i.token && r.Hop > i.hop && r.Signer != i.member {
			i.answered, i.says = true, proof
		}
	case never:
		if m.custody == i.custody {
			i.answered, i.says, i.waited = true, never, clock.Never
			i.whole, i.knows = memory{s.Now.Add(-span(m.span)), m.from}, m.next
		}
	case instead:
		if m.token == i.token && m.hop >= i.hop {
			i.answered, i.says, i.waited = true, instead, clock.Never
			if i.to != m.member || i.other != m.other {
				i.other, i.madeUp = m.other, past.rulesOut(i.member, m.other, i.token)
				i.names(m.member, i.toHop, s.Now)
			}
		}
	case sent:
		switch {
		case m.token != i.token || m.hop < i.hop || m.member.IsZero() || m.member == i.member:
		case s.mayMove(m.span) && movesStill(&i.moves, s):
			i.answered, i.says = true, 0
		default:
			i.answered, i.says, i.waited, i.left = true, sent, clock.Never, clock.Never
			if m.span > 0 {
				i.left = s.Now.Add(-span(m.span))
			}
			if i.to != m.member || i.toHop != m.hop+1 {
				i.names(m.member, m.hop+1, s.Now)
			}
		}
	}
}

// receiverSays takes in what the receiver says of the token that it is said to have.
func (i *inquest) receiverSays(m *message, past *history, s *setting) {
	if i.says == instead {
		i.confirms(m, past, s)
		return
	}
	i.toSays = i.toSays || (m.kind == still || m.kind == sent) && m.token == i.token || m.kind == proof
	if i.toDenies = !i.toSays && m.kind == never && m.custody == i.toCustody(); i.toDenies {
		i.toKnows = s.Now.Add(-span(m.span))
	}
}

// confirms takes in what a member says of a token that is said to have come from it. A pass before another one of that
// token it may have forgotten, and one before it began to remember.
func (i *inquest) confirms(m *message, past *history, s *setting) {
	asked := i.toCustody()
	switch m.kind {
	case proof:
		if r, ok := past.took(m.receipt); ok && r.Token == asked.token && r.Hop >= i.other.hop {
			i.toForgot = r.Hop > i.other.hop
			i.toSays = !i.toForgot && r.Signer == i.member
			i.toDenies = !i.toForgot && !i.toSays
		}
	case sent:
		if m.token == asked.token && m.hop >= asked.hop {
			i.toForgot = m.hop > asked.hop
			i.toSays = !i.toForgot && m.member == i.member
			i.toDenies = !i.toForgot && !i.toSays
		}
	case never:
		if m.custody == asked {
			i.toForgot = s.Now.Add(-span(m.span)) > i.opened.Add(-s.overdue())
			i.toDenies = !i.toForgot
		}
	}
}

// senderSays takes in what the sender says. After that the member is asked once more: it may have said that it
// never had the token before it had it.
func (i *inquest) senderSays(m *message, past *history, s *setting) {
	if i.fromSays {
		return
	}
	switch m.kind {
	case proof:
		if r, ok := past.took(m.receipt); ok && r.Token == i.token && r.Hop == i.hop {
			i.fromSays = true
			if r.Signer == i.member {
				i.receipt, i.taken, i.passed, i.proved = true, r, s.Now.Add(-span(m.span)), s.Now
			} else {
				i.from = ident.Member{} // it was passed to another one: they were named wrongly
			}
		}
	case sent:
		if m.token == i.token && m.hop+1 == i.hop && !(s.mayMove(m.span) && movesStill(&i.fromMoves, s)) {
			i.fromSays, i.unbroken = true, m.span > 0
			if m.member != i.member {
				i.from = ident.Member{}
			}
		}
	case never:
		if m.custody == i.fromCustody() {
			i.fromSays, i.from = true, ident.Member{}
		}
	}
	if i.fromSays && i.says == never {
		i.says, i.next = 0, s.Now
	}
}

// ownWord takes in what this member knows by now of a pass of its own.
func (i *inquest) ownWord(h *holder) {
	i.own, i.fromSays = true, false
	t, p := h.held.find(&i.token), h.pass(i.token, i.hop-1)
	switch {
	case t != nil && t.parted && t.hop+1 == i.hop && t.keeper == i.member:
		i.fromSays, i.since, i.unbroken = t.hasGone(h.Now, h.silence), t.since, t.told // the answer is due
	case p != nil && !p.dropped && p.to == i.member && p.hop+1 == i.hop:
		r, ok := h.took(p.receipt)
		i.fromSays, i.since, i.unbroken = true, p.since, p.told
		if ok && r.Hop == i.hop && !i.receipt {
			i.proved = h.Now
		}
		i.receipt, i.taken, i.passed = ok && r.Hop == i.hop, r, p.since
	default:
		i.from = ident.Member{} // it was passed to another one, or is here again
	}
}

// greeted notes that a member has greeted: its process may be another one.
func (i *inquest) greeted(m ident.Member, now clock.Instant) {
	switch m {
	case i.from: // it may have forgotten what it said, and pass that receiver another token
		i.unbroken = false
	case i.member: // its receipt may be of the process before: the giver is to show it again (P-75)
		i.left = clock.Never
		if i.receipt && !i.own {
			i.receipt, i.fromSays, i.next = false, false, now
		}
	}
}

// knew reports whether the member denies a custody that it knew when it said so: its receipt is of the process that it
// has now, and of one of the custodies that it says it knows.
func (i *inquest) knew() bool {
	t := &i.taken
	return t.SameProcess && t.Serial >= i.whole.serial && (t.Serial < i.knows || t.Serial == policy.Unnamed)
}

// denierKnew reports whether the member that denies the pass knows of all its custodies since an instant, as it
// says. One that has begun anew under new parameters does not, and may be connected all the time.
func (i *inquest) denierKnew(since clock.Instant) bool {
	if i.says == sent {
		return i.toKnows <= since
	}
	return i.whole.since <= since
}

// movesStill reports whether a token may be in transit since a member said so first. One that says so
// each time lies.
func movesStill(since *clock.Instant, s *setting) bool {
	if *since == 0 {
		*since = s.Now
	}
	return s.Now < since.Add(s.timeout(2*s.silence))
}
