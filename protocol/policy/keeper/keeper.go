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
	inner policy.Policy

	// of one Step
	scratch []policy.Action

	begun    bool
	innerDue clock.Instant // what the policy waits for
	asked    clock.Instant // the last Wait

	watched        []ident.Member
	scratchMembers members

	verify   func(receipt []byte) (policy.Receipt, bool) // nil: nobody gives account
	serial   func() uint64
	holder   holder
	waiter   waiter
	search   search
	inquests inquests
	newborn  newborn
	backoffs backoffs
}

var (
	_ policy.Policy   = (*Keeper)(nil)
	_ policy.Gauger   = (*Keeper)(nil)
	_ policy.Admitter = (*Keeper)(nil)
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
			outbox: outbox{},
		},
		inner: inner, innerDue: clock.Never, asked: clock.Never,
	}
	if exclusive { // of several tokens one comes after the other
		k.verify = in.Receipt
	}
	if k.health == nil {
		k.health = func() int { return 1 }
	}
	if k.serial = in.Serial; k.serial == nil {
		k.serial = func() uint64 { return 0 }
	}
	if in.Forgetful && !in.Young { // its receipts name no serial
		k.holder.whole.serial = 1
	}
	if k.roster == nil {
		k.roster = policy.Alone{}
	}
	k.holder.told, k.holder.left.since = longAgo, longAgo
	k.waiter.until = longAgo
	k.waiter.reset()
	k.search.reset()
	return k
}

// Gauges implements policy.Gauger: those of the policy.
func (k *Keeper) Gauges(show func(string, float64)) {
	if g, ok := k.inner.(policy.Gauger); ok {
		g.Gauges(show)
	}
}

// Step implements policy.Policy.
func (k *Keeper) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
	k.now = now
	k.begin(actions)
	if event.Kind == policy.Recalled {
		k.step(event)
		return k.actions
	}
	if !k.begun {
		k.begun, k.start = true, now
		k.holder.whole = memory{now, max(k.holder.whole.serial, k.serial())}
	}
	k.happened(&event)
	if k.holder.forgets {
		k.holder.forgets, k.holder.whole = false, memory{now, max(1, k.serial())}
	}
	k.handleOwn()
	k.look()
	k.handleOwn()
	k.looksLater()
	k.watchAnew()
	k.wait(event.Kind == policy.Timer)
	return k.actions
}

// watchAnew watches those whose answers are awaited and may come, who has a token that
// somebody waits for, who has been getting one for a while, and the keeper of a token under
// which a program runs for a while, and nobody else.
func (k *Keeper) watchAnew() {
	wanted := k.scratchMembers[:0]
	switch s := &k.search; {
	case s.stage == following:
		wanted = append(wanted, s.target, s.toward)
	case s.stage == everybody:
		wanted = k.appendLastAsked(wanted)
	case k.awaits():
		wanted = append(wanted, s.last.holder)
	}
	if h := k.underWay(); h != nil && k.now >= h.since.Add(nextPause) {
		wanted = append(wanted, h.keeper)
	}
	for _, q := range k.newborn.inquiries[:min(len(k.newborn.inquiries), ranks)] {
		wanted = append(wanted, q.member)
	}
	if len(k.waiter.told) > 0 {
		for _, t := range k.waiter.told[:min(len(k.waiter.told), ranks)] {
			wanted = append(wanted, t.member)
		}
	}
	for i := range k.holder.held {
		switch h := &k.holder.held[i]; {
		case h.state == asking:
			wanted = append(wanted, h.asked[:min(len(h.asked), ranks)]...)
		case k.stays(h): // who only dials out could not be asked
			wanted = append(wanted, h.keeper)
		}
	}
	wanted = slices.DeleteFunc(wanted, func(m ident.Member) bool { return m.IsZero() || m == k.self || k.isSilent(m) })
	k.scratchMembers = wanted
	for _, m := range k.watched {
		if !slices.Contains(wanted, m) {
			k.do(policy.Action{Kind: policy.Unwatch, To: m})
		}
	}
	k.watched = slices.DeleteFunc(k.watched, func(m ident.Member) bool { return !slices.Contains(wanted, m) })
	for _, m := range wanted {
		if m != k.self && !slices.Contains(k.watched, m) {
			k.watched = append(k.watched, m)
			k.do(policy.Action{Kind: policy.Watch, To: m})
		}
	}
}

func (k *Keeper) happened(e *policy.Event) {
	switch e.Kind {
	case policy.Message:
		if isMessage(e.Body) {
			k.hear(e.From, e.Body)
			return
		}
	case policy.Silent:
		k.watched = without(k.watched, e.From)
		k.fellSilent(e.From)
		k.receiverSilent(e.From)
		k.silent(e.From)
		k.keeperSilent(e.From)
		k.keeperLost(e.From)
		k.newbornSilent(e.From)
	case policy.Greeted:
		k.greets(e.From)
		k.wakesInquest(e.From)
		k.greeted(e.From)
		k.tellsAgain(e.From)
		return
	case policy.Timer:
		k.timer()
		if k.now < k.innerDue && k.innerDue != clock.Never {
			return
		}
		k.step(*e)
		k.holderDue() // the policy may have no use for a token for a while
		return
	case policy.Queued:
		k.queued(e.Members > 0)
		return
	case policy.Unsent:
		k.unsent(e.From)
		return
	case policy.Resumed:
		k.resumed(e)
		return
	case policy.Running:
		k.occupied(&e.Token)
		return
	case policy.Generated:
		k.search.own = e.Token.ID
		k.replaced(&e.Token)
		k.gained(&e.Token)
		k.step(*e)
		if k.isWanted() {
			k.wakes(k.whoWaits())
		}
		return
	case policy.Arrival:
		k.arrives(e)
		return
	case policy.OperationEnded:
		k.ended(&e.Token)
		k.step(*e)
		k.remindsOfWaiter(&e.Token)
		k.begins()
		k.holderDue() // promises in this very step: the process may end with the program
		return
	case policy.Parted:
		k.parted(e)
		return
	case policy.PassSettled:
		if k.newbornSettled(e) || k.settled(e) {
			return
		}
	case policy.DemandChanged:
		k.waiter.demand = e.Demand
	}
	k.step(*e)
}

// takes has the policy know of a token that has come, if it is to stay.
func (k *Keeper) takes(e *policy.Event) {
	if k.verify != nil {
		k.holder.comes(e.From, &e.Token)
		k.replaced(&e.Token)
		k.inquests.kept = kept{}
	}
	h := k.gained(&e.Token)
	if k.exclusive && k.isSuperseded(h) {
		k.holder.remove(&e.Token.ID)
		k.drops(&e.Token)
		return
	}
	k.supersedes(h)
	if k.exclusive && e.Belated {
		k.withholds(k.holder.find(&e.Token.ID), policy.Arrival, e, k.now) // it may have moved
		return
	}
	k.step(*e)
}

// step lets the policy answer an event, and looks at what it wants done.
func (k *Keeper) step(e policy.Event) {
	k.scratch = k.inner.Step(k.now, e, k.scratch[:0])
	for i := range k.scratch {
		k.act(&k.scratch[i])
	}
	k.tells()
}

// act passes on what the policy wants done, unless the token is promised to rest.
func (k *Keeper) act(a *policy.Action) {
	switch a.Kind {
	case policy.Wait:
		k.innerDue = a.At
		return
	case policy.Generate:
		if k.exclusive {
			return
		}
	case policy.Run, policy.Prepare, policy.Pass, policy.Drop:
		if h := k.holder.find(&a.Token); h != nil && !k.acts(h, a) {
			return
		}
	}
	k.do(*a)
}

// wait asks for the earliest of all that is due later, when that has changed.
func (k *Keeper) wait(timer bool) {
	next := min(k.innerDue, k.holderDeadline(), k.waiter.next, k.search.deadline(), k.inquestsDeadline(), k.newbornDeadline())
	if next != k.asked || timer {
		k.asked = next
		k.do(policy.Action{Kind: policy.Wait, At: next})
	}
}

// timer does what is due.
func (k *Keeper) timer() {
	for range maxHeld { // each may have the policy let tokens go
		if k.holderDue(); k.holderDeadline() > k.now {
			break
		}
	}
	k.newbornDue()
	k.waiterDue()
	k.searchDue()
	k.inquestsDue()
}

// answers notes that a member lives.
func (k *Keeper) answers(m ident.Member) {
	if s := &k.search; s.stage >= everybody && !slices.Contains(s.heard, m) {
		s.heard = append(s.heard, m)
	}
	k.peers.silent.remove(m)
}

// greeted notes that a member has connected, and so lives.
func (k *Keeper) greeted(m ident.Member) {
	if !k.isSilent(m) {
		return
	}
	k.peers.silent.remove(m)
	k.waiter.keeper = ident.Member{} // which answered in its place
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
	k.wakesInquest(from)
	k.inquests.excused.speaks(from)
	k.handle(from, &m)
	k.accounted(from, &m)
	k.inquestsDue()
}

func (k *Keeper) handle(from ident.Member, m *message) {
	k.answers(from)
	switch m.kind {
	case have, rest, returned:
		if k.hasEnded(from, m.custody) {
			return
		}
	}
	switch m.kind {
	case want:
		k.wanted(from, m)
	case noted:
		k.noted(from, m)
	case have:
		k.found(from, m)
	case rest:
		k.promised(from, m)
	case release:
		k.releases(from, m)
	case returned:
		k.holds(from, m)
		k.releases(from, m)
		k.answered(from, &message{kind: none, span: math.MaxUint32})
	case released, other:
		k.released(from, m)
	case ask:
		k.questioned(from, m)
	case none:
		k.youngAnswers(from)
		k.answered(from, m)
	case went:
		k.answered(from, m)
	case account:
		k.givesAccount(from, m)
	case blame:
		k.blamed(from, m)
	}
	k.newbornHears(from, m)
}

// handleOwn handles what this member says to itself.
func (k *Keeper) handleOwn() {
	for m, ok := k.next(); ok; m, ok = k.next() {
		k.handle(k.self, &m)
		k.accounted(k.self, &m)
	}
}

// keep copies what an event or an action only lends.
func keep(b []byte) []byte { return bytes.Clone(b) }

// LeastWait is how long a member waits at least from one token that it makes to the next
// one, whatever others say.
func LeastWait(p policy.Params) time.Duration { return deriveSpans(p).silence }
