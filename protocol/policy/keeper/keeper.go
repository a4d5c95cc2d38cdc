package keeper

import (
	"bytes"
	"math"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// Keeper is the policy of one slot at one member, and around it this member's part in
// finding that the slot's token is lost. It implements policy.Policy.
type Keeper struct {
	common
	watches watches

	holder   holder
	waiter   waiter
	search   search
	inquests inquests
	newborn  newborn
}

var (
	_ policy.Policy   = (*Keeper)(nil)
	_ policy.Gauger   = (*Keeper)(nil)
	_ policy.Admitter = (*Keeper)(nil)

	_ policy.Observant = (*Keeper)(nil)
)

// Around puts a keeper around a policy. An exclusive one makes a token only when no
// program can run any more under the one that is lost.
func Around(inner policy.Policy, p policy.Params, in policy.Surroundings, exclusive bool) *Keeper {
	k := &Keeper{
		common: common{
			peers: peers{
				setting: setting{
					spans: deriveSpans(p), self: in.Self, slot: in.Slot, exclusive: exclusive,
					atOnce:    !exclusive || p.OnSilentHolder == policy.Replace,
					forgetful: in.Forgetful, young: in.Young, health: in.Patience,
				},
				roster: in.Roster,
			},
		},
	}
	if k.health == nil {
		k.health = func() int { return 1 }
	}
	if k.roster == nil {
		k.roster = policy.Alone{}
	}
	c := &k.common
	k.holder = newHolder(c, holderCalls{k}, inner, &in)
	k.waiter = newWaiter(c)
	k.search = newSearch(c, searchCalls{k}, &k.holder, &k.waiter)
	k.inquests.init(c, &k.holder, &k.search, &k.waiter)
	k.newborn = newborn{common: c, holder: &k.holder, known: &k.search.whereabouts, inquests: &k.inquests, takes: k.takes}
	k.inquests.makers = &k.newborn.backoffs
	return k
}

// holderCalls routes what a holder asks and tells the other parts.
type holderCalls struct{ k *Keeper }

func (c holderCalls) isAvoided(m ident.Member) bool { return c.k.inquests.isAvoided(m) }

func (c holderCalls) untaken(m ident.Member) { c.k.inquests.untaken(m) }

func (c holderCalls) gained() {
	c.k.inquests.gained()
	c.k.search.rest(clock.Never)
}

func (c holderCalls) freed() { c.k.newborn.frees() } // the later one of the two stays

func (c holderCalls) delivered(of custody, to ident.Member) { c.k.search.delivered(of, to) }

// searchCalls routes what a search tells the other parts.
type searchCalls struct{ k *Keeper }

func (c searchCalls) lost(of custody, holder, from ident.Member) {
	c.k.inquests.lost(of, holder, from)
}

func (c searchCalls) thaws() bool { return c.k.newborn.frees() }

// Gauges implements policy.Gauger: those of the policy.
func (k *Keeper) Gauges(show func(string, float64)) {
	if g, ok := k.holder.inner.(policy.Gauger); ok {
		g.Gauges(show)
	}
}

// Admits implements policy.Admitter. A member that backs off from another one takes no token that
// this one has just made, but for P-69, 7 and 8, and not two of them at once.
func (k *Keeper) Admits(now clock.Instant, t policy.Token) bool {
	return !k.exclusive || k.newborn.admits(&t, now)
}

// Step implements policy.Policy.
func (k *Keeper) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
	first := k.Begin(now, &event, actions)
	if event.Kind == policy.Recalled {
		k.holder.step(event)
		return k.Answer()
	}
	if event.Kind == policy.Acted {
		k.takesUp(&event)
		return k.Answer()
	}
	if first {
		k.start = now
		k.holder.begin(now)
	}
	k.happened(&event)
	k.holder.admitGap(now)
	k.handleOwn()
	k.waiter.look(k.holder.has())
	k.handleOwn()
	k.search.looksLater()
	k.watch()
	return k.Answer()
}

// takesUp goes on with a measure of this member's from before the policy began (P-84), where the rules are
// still in force by which it was taken.
func (k *Keeper) takesUp(e *policy.Event) {
	switch {
	case !k.exclusive || e.From.IsZero() || e.From == k.self:
	case e.Measure == policy.BackedOff:
		k.newborn.backoffs.takeUp(e.From, k.Now, e.At, e.Span)
	case !k.inquests.isOff():
		k.inquests.takesUp(e)
	}
}

// happened routes an event to the parts, and to the policy if it concerns that.
func (k *Keeper) happened(e *policy.Event) {
	switch e.Kind {
	case policy.Message:
		if isMessage(e.Body) {
			k.hear(e.From, e.Body)
			return
		}
	case policy.Silent:
		k.memberSilent(e.From)
	case policy.Greeted:
		k.greeted(e.From)
		return
	case policy.Timer:
		k.timer()
		if due := k.holder.inner.Deadline(); k.Now < due && due != clock.Never {
			return
		}
		k.holder.step(*e)
		k.holder.onTimer() // the policy may have no use for a token for a while
		return
	case policy.Queued:
		k.search.queued(e.Members > 0)
		return
	case policy.Unsent:
		k.search.unsent(e.From)
		return
	case policy.Resumed:
		k.holder.resumed(e)
		return
	case policy.Running:
		k.holder.occupied(&e.Token)
		return
	case policy.Away:
		k.holder.leavesFor(&e.Token, e.At)
		return
	case policy.Generated:
		k.generated(e)
		return
	case policy.Accepted:
		k.newborn.accepted(&e.Token)
		return
	case policy.Arrival:
		if !k.exclusive || k.newborn.arrives(e) {
			k.takes(e)
		}
		return
	case policy.OperationEnded:
		k.holder.ended(e)
		return
	case policy.Parted:
		k.holder.parted(e)
		return
	case policy.PassEnded:
		if k.newborn.passEnded(e) || k.holder.passEnded(e) {
			return
		}
	case policy.DemandChanged:
		k.Demand = e.Demand
	}
	k.holder.step(*e)
}

// memberSilent goes on without a member that has fallen silent.
func (k *Keeper) memberSilent(m ident.Member) {
	k.watches.ended(m)
	k.fellSilent(m)
	k.holder.receiverSilent(m)
	k.search.memberSilent(m)
	k.waiter.memberSilent(m)
	k.holder.keeperSilent(m)
	k.newborn.memberSilent(m)
}

// greeted notes that a member has connected, and so lives.
func (k *Keeper) greeted(m ident.Member) {
	k.inquests.memberGreeted(m)
	k.inquests.open.wake(m, k.Now, true)
	if k.isSilent(m) {
		k.silent.remove(m)
		k.waiter.keeperBack()
	}
	k.holder.tellsAgain(m)
}

// generated notes that a token was made here.
func (k *Keeper) generated(e *policy.Event) {
	k.search.generated = e.Token.ID
	k.holder.comes(k.self, &e.Token)
	k.inquests.arrives(e.Token.ID)
	k.holder.gained(&e.Token)
	k.holder.step(*e)
	if k.search.wants.some() {
		k.holder.wakes(k.search.wants.by())
	}
}

// takes has a token come.
func (k *Keeper) takes(e *policy.Event) {
	k.holder.comes(e.From, &e.Token)
	k.inquests.arrives(e.Token.ID)
	k.holder.takes(e)
}

// timer does what is due.
func (k *Keeper) timer() {
	for range maxHeld { // each may have the policy let tokens go
		if k.holder.onTimer(); k.holder.deadline() > k.Now {
			break
		}
	}
	k.newborn.onTimer()
	k.waiter.onTimer()
	k.search.onTimer()
	k.inquests.onTimer()
}

// Deadline implements policy.Policy.
func (k *Keeper) Deadline() clock.Instant {
	return min(k.holder.inner.Deadline(), k.holder.deadline(), k.waiter.next, k.search.next, k.inquests.deadline(), k.newborn.deadline())
}

// hear handles a message. Whatever is not well-formed is ignored.
func (k *Keeper) hear(from ident.Member, b []byte) {
	var m message
	if from.IsZero() || from == k.self || !parse(b, &m) {
		return
	}
	if k.isStruck(from) { // what it says counts for nothing
		k.answersStruck(from, &m)
		return
	}
	k.inquests.open.wake(from, k.Now, false)
	k.inquests.excused.speaks(from)
	k.handle(from, &m)
	k.inquests.onTimer()
}

// handleOwn handles what this member says to itself.
func (k *Keeper) handleOwn() {
	for m, ok := k.next(); ok; m, ok = k.next() {
		k.handle(k.self, &m)
	}
}

// handle routes a message, and has the inquests take in what it says of a custody.
func (k *Keeper) handle(from ident.Member, m *message) {
	k.silent.remove(from)
	if k.search.stage >= everybody {
		k.search.poll.hears(from)
	}
	k.search.absence.hears(from, m)
	if !m.claimsToken() || !k.inquests.hasEnded(from, m.custody) {
		k.route(from, m)
		k.newborn.hears(from, m)
	}
	k.inquests.hears(from, m)
}

// route has the part answer that a message is to.
func (k *Keeper) route(from ident.Member, m *message) {
	s := &k.search
	switch m.kind {
	case want:
		s.wants.hears(from, m)
		if m.member.IsZero() { // whoever keeps a token could name others, which do not wait
			k.inquests.waiters.waits(from)
		}
		k.holder.wakes(s.wants.last)
		s.wanted()
	case noted:
		k.waiter.noted(from, m)
	case lasts:
		k.waiter.tellsSince(from)
	case lasting:
		if m.span == 0 {
			s.wants.served(from)
		}
		k.inquests.waiters.hears(from, m)
	case have:
		if s.sees(from, m, k.newborn.isAsked(from)) {
			k.inquests.holds(from, m)
			s.notesAbsence(from, m)
			s.stays(from, m)
		}
	case rest:
		s.wants.served(from)
		if !s.last.isAfter(m) {
			k.inquests.holds(from, m)
			s.promised(from, m)
		}
	case release:
		s.releases(from, m)
	case returned:
		k.inquests.returns(from, m.custody)
		k.inquests.holds(from, m)
		if k.newborn.outlasts(m) {
			k.send(from, &message{kind: other, custody: m.custody, promise: m.promise, member: k.self})
		} else {
			s.releases(from, m)
		}
		s.answered(from, &message{kind: none, span: math.MaxUint32})
	case released, other:
		k.holder.released(from, m)
	case ask:
		s.last.isSought(from)
		k.questioned(from, m)
	case none:
		k.holder.youngAnswers(from)
		s.answered(from, m)
	case went:
		s.answered(from, m)
	case account:
		k.givesAccount(from, m)
	case blame:
		k.inquests.isBlamed(from, m)
	}
}

// questioned says whether a token of the slot is here, or where the one went that is
// asked for.
func (k *Keeper) questioned(from ident.Member, m *message) {
	if k.holder.tellsToken(from, m) {
		return
	}
	frozen := k.newborn.frozen
	if !k.holder.tellsWay(from, m) && !k.search.tellsWay(from, m) && !frozen {
		k.send(from, &message{kind: none, span: millis(k.Now.Sub(k.start))})
	}
	if frozen { // beside what is known of the token that is asked for
		k.newborn.tells(from)
	}
}

// givesAccount answers what became of a custody of this member's. Of a token that is being checked nothing can
// be said yet.
func (k *Keeper) givesAccount(from ident.Member, m *message) {
	if n := &k.newborn; !n.frozen || n.event.Token.ID != m.token {
		k.holder.givesAccount(from, m)
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
		k.search.last.isSought(from) // it may have made another one all the same
		k.questioned(from, m)
	case account:
		k.givesAccount(from, m)
	}
}

// watch watches the members whose answers are awaited and may come, the one that has a token that
// others wait for, the one that has been getting a token for a while, and the keeper of a token under
// which a program runs for a while, and no others.
func (k *Keeper) watch() {
	wanted := k.search.appendAwaited(k.watches.scratch[:0])
	wanted = k.newborn.appendAwaited(wanted)
	wanted = k.waiter.appendAwaited(wanted)
	wanted = k.holder.appendAwaited(wanted)
	wanted = slices.DeleteFunc(wanted, func(m ident.Member) bool { return m.IsZero() || m == k.self || k.isSilent(m) })
	k.watches.set(wanted, &k.common)
}

// watches are the members that the driver watches for this Keeper.
type watches struct {
	list    members
	scratch members
}

// ended notes that the driver does not watch a member any more.
func (w *watches) ended(m ident.Member) { w.list.remove(m) }

// set watches these members, and no others.
func (w *watches) set(wanted members, c *common) {
	w.scratch = wanted
	for _, m := range w.list {
		if !wanted.has(m) {
			c.Do(policy.Action{Kind: policy.Unwatch, To: m})
		}
	}
	w.list = slices.DeleteFunc(w.list, func(m ident.Member) bool { return !wanted.has(m) })
	for _, m := range wanted {
		if w.list.add(m) {
			c.Do(policy.Action{Kind: policy.Watch, To: m})
		}
	}
}

// keep copies what an event or an action only lends.
func keep(b []byte) []byte { return bytes.Clone(b) }

// LeastWait is how long a member waits at least from one token that it makes to the next
// one, whatever others say.
func LeastWait(p policy.Params) time.Duration { return deriveSpans(p).silence }
