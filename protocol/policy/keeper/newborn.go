package keeper

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// newborn checks tokens that their generators have passed to this member: whether another
// token lives (P-69). It backs off from members that generate tokens beside a living one.
type newborn struct {
	*common
	holder   *holder
	known    *whereabouts
	inquests *inquests
	takes    func(*policy.Event) // has a token come
	backoffs backoffs
	births   births // that the policy got
	check
}

// admits reports whether this member accepts a token that another one has just made. It accepts none of a member
// that it backs off from, unless that is to meet its own one or was pardoned, and not two of one member at once.
func (n *newborn) admits(t *policy.Token, now clock.Instant) bool {
	m := t.Generator
	return (!n.backoffs.from(m, now) || n.mayMeet(m) || n.backoffs.lets(m, t.ID) || n.backoffs.isPardoned(m)) && !n.struck.from(m, now) && (!n.isOn() || n.event.Token.Generator != m)
}

// accepted notes that this member has accepted a token of a member that it backs off from, as that is to meet its own one. It takes
// that token when it comes, although its own one may have gone to a third member meanwhile.
func (n *newborn) accepted(t *policy.Token) {
	if m := t.Generator; n.backoffs.from(m, n.Now) && n.mayMeet(m) {
		n.backoffs.meets(m, n.ownFor(m), t.ID)
	}
}

// mayMeet reports whether this member accepts a newborn token of a member that it backs off from, so that theirs meets the
// one that it has made itself. That one is still at hop 0 here, or went to that member, and none has come since. Each
// token that this member makes meets one of each such member. Two honest members that have both made one would
// else run under both until their back-offs are over.
func (n *newborn) mayMeet(generator ident.Member) bool {
	own := n.ownFor(generator)
	return own != (ident.Token{}) && !n.backoffs.hasMet(generator, own)
}

// ownFor is the token that this member has made, perhaps before a restart, and that one of a generator may meet; zero: there
// is none. No other member has a token by the custody at hop 0.
func (n *newborn) ownFor(generator ident.Member) (own ident.Token) {
	for i := len(n.holder.held) - 1; i >= 0; i-- { // the last one that it has made
		if t := &n.holder.held[i]; t.hop == 0 {
			if !t.parted || t.keeper == generator {
				own = t.token
			}
			return own
		}
	}
	if len(n.holder.held) > 0 || len(n.holder.passed) == 0 {
		return own
	}
	if p := &n.holder.passed[len(n.holder.passed)-1]; p.hop == 0 && !p.dropped && p.to == generator {
		own = p.token
	}
	return own
}

// isNewborn reports whether a token comes from the member that made it, as its first hop.
func isNewborn(e *policy.Event) bool {
	return e.Token.Hop == newbornHop && !e.From.IsZero() && e.From == e.Token.Generator
}

// arrives takes in a token that has come, and reports whether the holder is to have it now: not one that is
// frozen or dropped.
func (n *newborn) arrives(e *policy.Event) bool {
	switch {
	case !isNewborn(e):
		n.meets(e)
	case n.backoffs.from(e.From, n.Now) && !n.takesBeside(e): // it was accepted before
		n.drops(&e.Token)
		return false
	case e.Belated: // all keepers are asked
	case n.frozen:
		n.arrivesToo(e)
		return false
	case n.holder.held.first((*held).isUsed) != nil:
		n.backsOff(e.From, e.Token.ID)
	default:
		n.end()
		n.freezes(e)
		return false
	}
	return true
}

// takesBeside reports whether a newborn token is taken of a member that this one backs off from: it was accepted to meet this
// one's own token, or meets that now, or it comes by a pardon.
func (n *newborn) takesBeside(e *policy.Event) bool {
	m := e.From
	if n.backoffs.takes(m, e.Token.ID) {
		return true
	}
	if n.mayMeet(m) {
		n.backoffs.meets(m, n.ownFor(m), ident.Token{})
		return true
	}
	return n.backoffs.spends(m, n.Now)
}

// arrivesToo has the later one of two newborn tokens stay frozen. The check goes on as it
// is: a member that makes tokens all the time would else prolong it.
func (n *newborn) arrivesToo(e *policy.Event) {
	if !originOf(&e.Token).later(originOf(&n.event.Token)) {
		n.drops(&e.Token)
		return
	}
	n.holder.comes(e.From, &e.Token) // in the place of the other one
	n.drops(&n.event.Token)
	n.takeCopy(e)
	n.clears(e.From) // no member vouches for its own token
	n.endsCheck()
}

func (n *newborn) drops(t *policy.Token) { n.holder.drops(custody{t.ID, t.Hop}, t.Born) }

// freezes begins to ask whether another token lives: the first keepers, and the member that has
// had the last one that this member knows.
func (n *newborn) freezes(e *policy.Event) {
	n.holder.comes(e.From, &e.Token) // one that comes too may be dropped for it
	n.takeCopy(e)
	n.frozen, n.began = true, n.Now
	at, last := n.lastOther()
	list := n.others()
	list.remove(e.From)
	for _, m := range list[:min(len(list), newbornKeepers)] {
		n.inquiresOf(m, at)
	}
	n.inquiresOf(last, at)
	n.endsCheck()
}

// lastOther is the last custody that this member knows of a token other than the newborn one,
// and the member that had it.
func (n *newborn) lastOther() (custody, ident.Member) {
	id := n.event.Token.ID
	if t := n.holder.held.leaving(); t != nil && t.token != id && !t.keeper.IsZero() {
		return t.next(), t.keeper
	}
	if l := &n.known.last; l.token != id && n.known.isElsewhere() && l.holder != n.event.From {
		return l.custody, l.holder
	}
	return n.passedOn(func(p *passed) bool { return p.token != id })
}

// passedOn is the custody after the last pass of this member that is meant, and the member that has it.
func (n *newborn) passedOn(meant func(*passed) bool) (custody, ident.Member) {
	if p := n.holder.lastPass(meant); p != nil {
		return p.next(), p.to
	}
	return custody{}, ident.Member{}
}

// inquiresOf asks a member about a custody that it may have.
func (n *newborn) inquiresOf(m ident.Member, of custody) {
	switch {
	case m.IsZero(), m == n.self, n.isAsked(m):
	case n.isSilent(m):
		n.unheard = true
	case n.asks == maxChain: // it may be the way of a token that was lost after many hops
	default:
		n.asks++
		n.inquiries = append(n.inquiries, inquiry{member: m, custody: of, since: n.Now, heard: longAgo, next: n.Now.Add(n.retry)})
		n.send(m, &message{kind: ask, custody: of})
	}
}

// hears takes in what a member says during a check.
func (n *newborn) hears(from ident.Member, m *message) {
	if !n.isOn() || from == n.self {
		return
	}
	if q := n.inquiry(from); q != nil && q.heard == longAgo {
		n.slowest = max(n.slowest, n.Now.Sub(q.since))
	}
	switch t := &n.event.Token; {
	case m.kind == have || m.kind == rest || m.kind == returned && !originOf(t).later(m.origin()):
		if m.token != t.ID {
			n.seesOther(from, m.custody)
		}
	case m.kind == went && n.isAsked(from):
		n.followsOther(from, m)
	case m.kind == none || m.kind == returned:
		n.evades = n.evades || n.isAsked(from) && from == n.event.From
		n.clears(from)
	}
	n.endsCheck()
}

// seesOther: a member says that it has another token. One member may say that all the time,
// and lie. So the other token lives only if a second member has it later, or a third token.
func (n *newborn) seesOther(from ident.Member, c custody) {
	q := n.inquiry(from)
	if from == n.event.From && !n.heedsMaker(q, c) {
		return
	}
	switch {
	case n.rival.IsZero(), n.rival == n.event.From && from != n.rival: // the maker's word gives way
		n.rival, n.other, n.since = from, c, n.Now
	case n.rival != from && (n.other.token != c.token || c.hop > n.other.hop):
		n.contestedBy(from)
		return
	case n.rival != from:
		n.settle(from)
		return
	}
	if q == nil {
		n.inquiries = append(n.inquiries, inquiry{})
		q = &n.inquiries[len(n.inquiries)-1]
	}
	*q = inquiry{member: from, custody: c, since: n.Now, heard: n.Now, next: n.Now.Add(n.retry)}
}

// heedsMaker reports whether the word of the newborn token's maker that it has another one holds the newborn one back, as any other
// member's does. It does where that one is the earlier one, and its way leads there from here, by the custody that the maker was
// asked about: an honest maker drops the earlier one, and if this member dropped the newborn one, neither would be left. Otherwise
// the newborn one is dropped.
func (n *newborn) heedsMaker(q *inquiry, c custody) bool {
	switch {
	case q == nil: // nobody has asked it
		return false
	case q.custody != c || !n.holder.passedEarlier(c.token, originOf(&n.event.Token)): // it has two tokens: one is too many
		n.backsOff(n.event.From, n.event.Token.ID)
		if e, frozen := n.end(); frozen {
			n.drops(&e.Token)
		}
		return false
	case !n.rival.IsZero() && n.rival != n.event.From: // no member contests its own token
		n.settle(n.event.From)
		return false
	}
	return true
}

// followsOther asks the member that the other token went to. If it is in transit, its sender is asked
// again, soon as long as a pass that nothing hinders may take.
func (n *newborn) followsOther(from ident.Member, m *message) {
	q := n.inquiry(from)
	if n.mayMove(m.span) && n.Now < q.since.Add(n.timeout(n.silence)) {
		q.heard, q.next = n.Now, n.Now.Add(min(nextPause, n.retry))
		if q.stuck = span(m.span) >= n.shortly(); q.stuck {
			q.next = n.Now.Add(n.retry)
		}
		return
	}
	next, to := custody{m.token, m.hop + 1}, m.member
	if n.settle(from); m.token == n.event.Token.ID {
		return
	}
	if to == n.self { // and has gone on from here, unless it is in transit to this member
		next, to = n.passedOn(func(p *passed) bool { return p.token == m.token && p.hop > m.hop })
	}
	n.inquiresOf(to, next)
}

// memberSilent goes on without a member that was asked.
func (n *newborn) memberSilent(m ident.Member) {
	if n.isAsked(m) {
		n.unheard = true
		n.clears(m)
		n.endsCheck()
	}
}

// onTimer asks again, and waits no longer for those that do not answer.
func (n *newborn) onTimer() {
	for _, q := range slices.Clone(n.inquiries) {
		switch {
		case q.next > n.Now:
		case n.Now >= max(q.since, q.heard).Add(n.timeout(n.silence)+n.retry): // a watch tells sooner
			n.unheard = true
			n.evades = n.evades || q.member == n.event.From
			n.clears(q.member)
		default: // a member that says that it waits has a token go on that rests
			n.inquiry(q.member).next = n.Now.Add(n.retry)
			n.send(q.member, &message{kind: ask, custody: q.custody, member: n.self})
		}
	}
	n.endsCheck()
}

// deadline is when to ask again, or to wait no longer.
func (n *newborn) deadline() clock.Instant {
	next := clock.Never
	for i := range n.inquiries {
		next = min(next, n.inquiries[i].next)
	}
	if late := n.lateAt(); n.frozen && late > n.Now {
		next = min(next, late)
	}
	if !n.rival.IsZero() {
		next = min(next, n.otherMayUntil())
	}
	return next
}

// otherRuns is how long a member may have another token, and no other member gets it: a
// program may run there first.
func (n *newborn) otherRuns() time.Duration { return n.hold + n.silence }

// otherMayUntil is how long the newborn token is held back for the other one: a program may run under that, or it may
// be in transit. A holder that got it long ago, as the member says that passed it on, has no such program any more. It
// has been asked, and only has to pass the token on.
func (n *newborn) otherMayUntil() clock.Instant {
	if n.inquests.open.some(n.rival, func(i *inquest) bool {
		return i.token == n.other.token && i.receipt && i.from != n.event.From && n.Now >= i.passed.Add(n.otherRuns())
	}) {
		return n.since.Add(n.silence)
	}
	return n.since.Add(n.otherRuns())
}

// shortly is how long a pass, or an answer, takes at most among members that are well.
func (n *newborn) shortly() time.Duration { return n.retry / 4 }

// lateAt is when all that are asked take longer to answer than those that have: they may have failed,
// and a group that has lost its token is not to wait for them. clock.Never: not before they say more.
func (n *newborn) lateAt() (late clock.Instant) {
	wait := n.shortly()
	if n.slowest > 0 {
		wait = min(max(nextPause, 2*n.slowest), n.retry)
	}
	for i := range n.inquiries {
		q := &n.inquiries[i]
		if q.heard != longAgo && !q.stuck || !n.rival.IsZero() {
			return clock.Never
		}
		late = max(late, q.since.Add(n.timeout(wait)))
	}
	return min(late, n.began.Add(n.timeout(n.retry))) // however long the other token's way is
}

// endsCheck lets the policy have the newborn token if no member is asked any more, if none has
// said anything of another one for a while, or if one member has kept that for too long.
func (n *newborn) endsCheck() {
	switch {
	case !n.isOn():
		return
	case !n.rival.IsZero() && n.Now >= n.otherMayUntil():
		n.evades = n.evades || n.rival == n.event.From
		n.inquests.opens(about(n.other, n.rival, ident.Member{}, n.Now))
	case len(n.inquiries) == 0:
	case n.frozen && n.Now >= n.lateAt():
		n.frozen = false // the check goes on
		e := n.event
		n.takes(&e)
		return
	default:
		return
	}
	if n.evades {
		n.backsOff(n.event.From, n.event.Token.ID)
	}
	sure := !n.unheard
	if sure && !n.evades && n.rival.IsZero() {
		n.backoffs.renews(n.event.From, n.Now)
	}
	e, frozen := n.end()
	if sure {
		n.births = pushed(n.births, birth{originOf(&e.Token), e.From, n.Now}, maxBirths)
	}
	if frozen {
		n.takes(&e)
	}
}

// frees lets the policy have a frozen token at once, and reports whether there is one.
func (n *newborn) frees() bool {
	if !n.frozen {
		return false
	}
	e, _ := n.end()
	n.takes(&e)
	return true
}

// contestedBy sends a frozen token to a member that has the other one: where they meet the
// later one stays. One that the policy has had meanwhile goes its way.
func (n *newborn) contestedBy(to ident.Member) {
	e, frozen := n.end()
	n.backsOff(e.From, e.Token.ID)
	if frozen {
		n.holder.contests(&e, to)
	}
}

// meets takes in that another token comes here. If one is frozen, the policy has both then: the later one
// stays. So the generator of one made a token while another one lived.
func (n *newborn) meets(e *policy.Event) {
	if e.Belated { // it may have been replaced
		return
	}
	id, came := e.Token.ID, originOf(&e.Token)
	for _, b := range n.births.outlived(came, n.Now.Add(-n.otherRuns())) {
		n.backoffs.withdraws(b.generator, n.Now)
		n.backsOff(b.generator, b.token)
	}
	if n.isOn() && id != n.event.Token.ID && (n.frozen || originOf(&n.event.Token).later(came)) {
		n.backsOff(n.event.From, n.event.Token.ID)
		if !n.frees() {
			n.end()
		}
	}
}

// backsOff takes no newborn token of a member for a while, because of one.
func (n *newborn) backsOff(m ident.Member, made ident.Token) {
	if n.backoffs.note(m, n.Now, n.otherRuns()) {
		n.complain(m, &n.backoffs, custody{token: made}, policy.BackedOff, policy.Minted)
	}
}

// passEnded notes that the driver has removed a frozen token, or could not. It reports whether it is about one.
func (n *newborn) passEnded(e *policy.Event) bool {
	if !n.frozen || n.event.Token.ID != e.Token.ID {
		return false
	}
	if e.Outcome != policy.Returned {
		n.end()
	}
	return true
}

// outlasts reports whether a later token is frozen here than the one that a member asks about: of the two it would stay. Its
// policy may have it before that member asks again.
func (n *newborn) outlasts(m *message) bool {
	return n.frozen && n.event.Token.ID != m.token && originOf(&n.event.Token).later(m.origin())
}

// tells says that a frozen token is here, and not in use: so no member makes another one, and a member that
// has a later one says so.
func (n *newborn) tells(to ident.Member) {
	t := &n.event.Token
	n.send(to, &message{kind: returned, custody: custody{t.ID, t.Hop}, born: t.Born, promise: n.holder.reporter.next()})
}

// appendAwaited appends the members whose answers a check awaits.
func (n *newborn) appendAwaited(to members) members {
	for i := range n.inquiries[:min(len(n.inquiries), ranks)] {
		to = append(to, n.inquiries[i].member)
	}
	return to
}
