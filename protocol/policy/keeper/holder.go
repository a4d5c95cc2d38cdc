package keeper

import (
	"cmp"
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// holder is what a member does that has a token.
type holder struct {
	held   []held
	passed []passed
	had    []had // the last tokens that came from others, the latest one last
	left   held  // the last one that left without the policy
	serial uint32
	told   clock.Instant // when the keeper was told of a token last
	vowed  ident.Member  // who counts on a promise that no program runs here, zero: nobody

	whole   memory // since when this member knows of all its custodies
	forgets bool   // it has just forgotten the last pass of a token
}

// memory is since when, and from which serial of custody in the journal on (H-70), a member knows of all that it
// had.
type memory struct {
	since  clock.Instant
	serial uint64
}

// held is one token that is here.
type held struct {
	custody
	born   uint64
	field  []byte // its policy field as it came
	state  state
	since  clock.Instant  // of the state
	next   clock.Instant  // when it asks for the promise once more
	untold bool           // the keeper does not know that it is here
	asked  []ident.Member // who is asked for the promise, and has not answered
	tried  []ident.Member // who has been asked
	oldest uint32         // the serial of the first question whose answer counts
	rounds int            // how often all were asked again
	hidden bool           // a program runs under it, and the policy does not know of it
	keeper ident.Member   // who has the promise, or gets the token
	asker  ident.Member   // who has asked for the token last
	waiter ident.Member   // who waits, as was said while a program ran
	known  clock.Instant  // when the program began that others know of
	promise

	ran      bool // a program has ended under it here
	parted   bool // it has left, and the answer is awaited
	told     bool // somebody was told that the receiver has been connected since, and does not answer
	prepared bool // the policy is about to pass it on

	// action is what the policy wants done with it as soon as the promise is given back.
	action policy.Action
	// event is what the policy is told of it then: it does not know of it yet.
	event   *policy.Event
	doubted clock.Instant // until then nothing could be known of it here
}

// state is what a token that is here does.
type state uint8

const (
	idle    state = iota // nothing
	running              // the program runs under it
	resting              // it is promised to rest
	asking               // and the promise is asked back
	passing              // it is being passed on
	leaving              // so it is without the policy: to who has the other token
)

// passed is to whom this member has passed a token.
type passed struct {
	custody
	to      ident.Member
	since   clock.Instant // when it began to
	dropped bool          // it has dropped the token instead
	receipt []byte        // that it was given, if it was
	told    bool          // somebody was told that the receiver has been connected since, and does not answer
	other   custody       // of a token that it has dropped: the one that stayed, which it had from to
}

// pass is the pass of this custody, or of the latest one after it, or nil.
func (h *holder) pass(t ident.Token, hop uint64) *passed {
	at := -1
	for i := range h.passed {
		if p := &h.passed[i]; p.token == t && p.hop == hop {
			return p
		} else if p.token == t && p.hop > hop {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	return &h.passed[at]
}

// dropped notes that this member has dropped a token for a later one that it has had.
func (h *holder) dropped(e *held, now clock.Instant) {
	p := passed{custody: e.custody, since: now, dropped: true}
	for i := range h.had {
		if later := &h.had[i]; later.token != e.token && later.born >= e.born {
			p.other, p.to = later.custody, later.from
		}
	}
	h.went(p)
}

// had is a token that has come here.
type had struct {
	custody
	from ident.Member
	born uint64
}

// comes notes that a token has come from a member.
func (h *holder) comes(from ident.Member, t *policy.Token) {
	h.had = slices.DeleteFunc(h.had, func(e had) bool { return e.token == t.ID })
	if len(h.had) == maxHad {
		h.had = slices.Delete(h.had, 0, 1)
	}
	h.had = append(h.had, had{custody{t.ID, t.Hop}, from, t.Born})
}

func (h *holder) find(id *ident.Token) *held {
	for i := range h.held {
		if h.held[i].token == *id {
			return &h.held[i]
		}
	}
	return nil
}

// has reports whether a token is here, or left so little ago that nothing can be said of
// it yet.
func (k *Keeper) has() bool {
	return slices.ContainsFunc(k.holder.held, func(h held) bool {
		return h.state < passing || k.now < h.since.Add(k.silence)
	})
}

// isHere reports whether a token is here and not being passed on.
func (k *Keeper) isHere() bool {
	return slices.ContainsFunc(k.holder.held, func(h held) bool { return h.state < passing })
}

// busy is a token under which a program runs, or nil.
func (h *holder) busy() *held {
	for i := range h.held {
		if h.held[i].state == running {
			return &h.held[i]
		}
	}
	return nil
}

// underWay is a token of which nobody knows for long whether it has arrived, or nil.
func (k *Keeper) underWay() *held {
	for i := range k.holder.held {
		if h := &k.holder.held[i]; h.state >= passing {
			return h
		}
	}
	return nil
}

// receiverSilent has the tokens looked for that are being passed to a member that has fallen
// silent. The keeper may know of the program of an earlier holder only, and wait for its end.
func (k *Keeper) receiverSilent(m ident.Member) {
	for i := range k.holder.held {
		if h := &k.holder.held[i]; h.state >= passing && h.keeper == m {
			h.since = min(h.since, k.now.Add(-k.silence))
			k.tellsPass(k.firstOther(), h)
		}
	}
}

func (h *holder) remove(id *ident.Token) {
	for i := range h.held {
		if h.held[i].token == *id {
			h.held = append(h.held[:i], h.held[i+1:]...)
			return
		}
	}
}

// holderDeadline is when a holder tells, promises or asks next.
func (k *Keeper) holderDeadline() clock.Instant {
	next := clock.Never
	for i := range k.holder.held {
		next = min(next, k.dueOf(&k.holder.held[i]))
	}
	return next
}

func (k *Keeper) dueOf(h *held) clock.Instant {
	switch report := k.holder.told.Add(reportPause); h.state {
	case asking:
		return h.next
	case idle:
		switch {
		case k.exclusive && k.holder.busy() != nil:
			return clock.Never // a promise says that no program runs here
		case k.exclusive && h.ran && !h.prepared: // the keeper counts on a program that has ended
			return max(report, h.since)
		case k.exclusive && k.innerDue >= k.now.Add(restAfter): // the policy has no use for it until then
			return max(report, h.since)
		case k.exclusive:
			return h.since.Add(restAfter)
		case h.untold:
			return max(report, h.since.Add(restAfter))
		}
	case resting:
		if k.holder.busy() != nil {
			return clock.Never
		}
		return h.since.Add(restAgain)
	case running:
		if h.untold && h.known != longAgo && h.since > h.known.Add(reportPause) {
			return k.now // they count on an end that is too early
		} else if h.untold && !k.holder.vowed.IsZero() {
			return k.now // this one came while another one rests
		} else if h.untold {
			return report
		} else if !k.stays(h) {
			return h.since.Add(restAfter)
		}
	case passing, leaving:
		if watched := h.since.Add(nextPause); k.now < watched {
			return watched
		} else if known := h.since.Add(k.silence); k.now < known { // until then it counts as here
			return known
		}
	}
	return clock.Never
}

// gained notes that a token is here now.
func (k *Keeper) gained(t *policy.Token) *held {
	h := &k.holder
	e := h.find(&t.ID)
	if e == nil {
		k.makesRoom()
		h.held = append(h.held, held{})
		e = &h.held[len(h.held)-1]
	}
	k.inquests.kept = kept{}
	if e.parted && e.token == t.ID && e.hop < t.Hop { // it is back before its receipt
		h.went(passed{custody: e.custody, to: e.keeper, since: e.since, told: e.told})
	}
	*e = held{custody: custody{t.ID, t.Hop}, born: t.Born, field: keep(t.Field), since: k.now, untold: true, known: longAgo}
	k.here()
	return e
}

// makesRoom forgets a token where there are too many. One that is withheld is dropped: the policy does not
// know of it, and nobody would ever pass it on.
func (k *Keeper) makesRoom() {
	h := &k.holder
	if len(h.held) < maxHeld {
		return
	}
	i := max(0, slices.IndexFunc(h.held, func(e held) bool { return e.event != nil }))
	if e := h.held[i]; e.event != nil {
		h.dropped(&e, k.now)
		k.do(policy.Action{Kind: policy.Drop, Reason: policy.Superseded, Token: e.token})
	}
	h.held = slices.Delete(h.held, i, i+1)
}

// resumed takes a token that is here since before a restart. What this member had
// promised it does not know any more: it asks, before the policy hears of the token.
func (k *Keeper) resumed(e *policy.Event) {
	h := k.gained(&e.Token)
	if !k.exclusive {
		k.step(*e)
		return
	}
	k.withholds(h, policy.Resumed, e, k.start)
}

// withholds keeps a token from the policy until all say that it is the only one. It was
// not here, or not known, until an instant.
func (k *Keeper) withholds(h *held, kind policy.EventKind, e *policy.Event, until clock.Instant) {
	t := e.Token
	t.Field = h.field
	h.event, h.doubted = &policy.Event{Kind: kind, From: e.From, Token: t}, until
	k.asks(h)
}

// supersedes drops the tokens of which the policy does not know yet when a later one comes
// here.
func (k *Keeper) supersedes(h *held) {
	id, born := h.token, h.born
	k.holder.held = slices.DeleteFunc(k.holder.held, func(o held) bool {
		drop := o.token != id && o.event != nil && !o.later(&message{custody: custody{token: id}, born: born})
		if drop {
			k.holder.dropped(&o, k.now)
			k.do(policy.Action{Kind: policy.Drop, Reason: policy.Superseded, Token: o.token})
		}
		return drop
	})
}

// isSuperseded reports whether a later token is here, or was here just now, of which the
// policy does not know. Of two that are here the later one stays.
func (k *Keeper) isSuperseded(h *held) bool {
	m := message{custody: h.custody, born: h.born}
	if l := &k.holder.left; k.now < l.since.Add(k.hold) && l.token != h.token && l.later(&m) {
		return true
	}
	return slices.ContainsFunc(k.holder.held, func(o held) bool {
		return (o.hidden || o.event != nil) && o.later(&m)
	})
}

// occupied notes that a program runs under a token since before a restart. The policy
// hears of that token when it has ended.
func (k *Keeper) occupied(t *policy.Token) {
	h := k.gained(t)
	h.state, h.hidden = running, true
	k.tells()
}

// acts reports whether the policy may do now with a token what it wants.
func (k *Keeper) acts(h *held, a *policy.Action) bool {
	switch h.state {
	case resting, asking:
		switch a.Kind {
		case policy.Drop:
			k.discards(h)
			return true
		case policy.Prepare:
			return true
		}
		h.action = *a
		h.action.Field = keep(a.Field)
		if h.state == resting {
			k.asks(h)
		}
		return false
	case leaving:
		return false
	}
	switch a.Kind {
	case policy.Prepare:
		h.prepared = true
	case policy.Run:
		if k.exclusive && k.holder.hides() {
			h.action = *a // it waits for the other program
			return false
		}
		h.prepared = false
		h.state, h.since, h.untold = running, k.now, true
		k.tells() // before the program begins
	case policy.Pass:
		if k.isAvoided(a.To) {
			a.To = ident.Member{} // any other one
		}
		h.state, h.since, h.keeper = passing, k.now, a.To
	case policy.Drop:
		k.discards(h)
	}
	return true
}

// discards notes that a token is dropped.
func (k *Keeper) discards(h *held) {
	k.holder.dropped(h, k.now)
	k.holder.remove(&h.token)
}

// ended notes that a program has.
func (k *Keeper) ended(t *policy.Token) {
	if h := k.holder.find(&t.ID); h != nil && h.state == running {
		h.state, h.since, h.ran = idle, k.now, true
	}
}

// remindsOfWaiter tells the policy that somebody waits, as was said while the program ran: also a
// policy that has begun another one at once.
func (k *Keeper) remindsOfWaiter(t *policy.Token) {
	h := k.holder.find(&t.ID)
	if h == nil || h.waiter.IsZero() {
		return
	}
	who := h.waiter
	h.waiter = ident.Member{}
	switch {
	case h.state == idle:
		k.wakes(who)
	case who == k.self:
	default:
		k.step(policy.Event{Kind: policy.Wanted, From: who})
	}
}

// hides reports whether a program runs here of which the policy does not know.
func (h *holder) hides() bool {
	return slices.ContainsFunc(h.held, func(e held) bool { return e.state == running && e.hidden })
}

// begins lets the program begin that the policy wanted while another one ran of which it did
// not know.
func (k *Keeper) begins() {
	for i := range k.holder.held {
		if h := &k.holder.held[i]; h.state == idle && h.action.Kind == policy.Run {
			a := h.action
			h.action = policy.Action{}
			k.act(&a)
			return
		}
	}
}

// stays reports whether a program has run under a token for a while, and its keeper knows.
func (k *Keeper) stays(h *held) bool {
	return h.state == running && !h.untold && k.now >= h.since.Add(restAfter)
}

// tells has the keeper told of a token under which a program runs, or which stays here,
// unless it was told of one just now. What passes through here is found by following it.
func (k *Keeper) tells() {
	for i := range k.holder.held {
		h := &k.holder.held[i]
		if h.untold && (h.state == running || h.state == idle && !k.exclusive) && k.now >= k.dueOf(h) {
			k.reports(h)
		}
	}
}

// reports tells the keeper of a token, and who has asked for it: both count on the end of
// its program.
func (k *Keeper) reports(h *held) {
	h.untold, k.holder.told = false, k.now
	m := k.statement(h)
	h.keeper = k.firstOther()
	k.send(h.keeper, &m)
	if h.asker != h.keeper {
		k.send(h.asker, &m)
	}
	if v := k.holder.vowed; h.state == running && !v.IsZero() {
		if k.holder.vowed = (ident.Member{}); v != h.keeper && v != h.asker {
			k.send(v, &m)
		}
	}
}

// statement is what this member says of a token that it has.
func (k *Keeper) statement(h *held) message {
	m := message{kind: have, custody: h.custody}
	if h.state == running {
		m.span, h.known = max(1, millis(h.since.Add(k.hold).Sub(k.now))), h.since
	}
	return m
}

// keptReceipt copies a receipt, where it may be asked for.
func (k *Keeper) keptReceipt(raw []byte) []byte {
	if k.verify == nil {
		return nil
	}
	return keep(raw)
}

// parted notes to whom a token has left, or a receipt that has come after the token came back.
func (k *Keeper) parted(e *policy.Event) {
	h := k.holder.find(&e.Token.ID)
	switch {
	case len(e.Body) > 0:
		if p := k.holder.pass(e.Token.ID, e.Token.Hop); p != nil && p.hop == e.Token.Hop {
			p.receipt = keep(e.Body)
		}
	case h != nil && h.state >= passing:
		h.keeper, h.parted = e.From, true
	}
}

// settled is the end of a pass. It reports whether the policy is not to know.
func (k *Keeper) settled(e *policy.Event) bool {
	h := k.holder.find(&e.Token.ID)
	if h != nil && e.Outcome != policy.Returned && e.Token.Hop < h.hop { // of an earlier custody: it has come back before the answer
		k.holder.proves(custody{e.Token.ID, e.Token.Hop}, e)
		return true
	}
	left := h != nil && h.state == leaving
	if h != nil && h.state < passing && h.action.Kind == policy.Run { // for the policy it runs
		k.step(policy.Event{Kind: policy.OperationEnded, Token: e.Token})
	}
	if e.Outcome == policy.Returned {
		late := k.exclusive && !left && (h == nil || k.now >= h.since.Add(k.silence))
		if late { // for the policy it is gone, as it may be for all others
			k.step(policy.Event{Kind: policy.PassSettled, Outcome: policy.Abandoned, Token: e.Token})
		}
		h = k.gained(&e.Token)
		if left || late { // nobody took it
			k.withholds(h, policy.Resumed, e, k.now)
		}
		return left || late
	}
	if h != nil {
		if e.Outcome == policy.Abandoned && !h.parted { // the driver has removed it
			k.holder.dropped(h, k.now)
		} else {
			k.holder.went(passed{custody: h.custody, to: cmp.Or(e.From, h.keeper), since: h.since, receipt: k.keptReceipt(e.Body), told: h.told})
		}
		if l := &k.search.last; e.Outcome == policy.Delivered && (l.token != h.token || l.hop <= h.hop) { // or the receiver was faster
			*l = sight{custody: custody{h.token, h.hop + 1}, holder: e.From, from: k.self, at: k.now, ends: longAgo}
		}
		k.holder.remove(&e.Token.ID)
	}
	return left
}

// proves notes the receipt of a pass that is over as far as this member knows.
func (h *holder) proves(c custody, e *policy.Event) {
	if p := h.pass(c.token, c.hop); p != nil && p.custody == c && !p.dropped && len(p.receipt) == 0 {
		p.to, p.receipt = cmp.Or(e.From, p.to), keep(e.Body)
	}
}

// went remembers a pass in place of the oldest one that is not the last one of its token. Of each
// token the last one is what others ask for, however long ago.
func (h *holder) went(p passed) {
	if len(h.passed) == maxPassed {
		oldest := slices.IndexFunc(h.passed, func(o passed) bool { return o.token == p.token || h.pass(o.token, o.hop+1) != nil })
		h.forgets, oldest = h.forgets || oldest < 0, max(0, oldest)
		h.passed = slices.Delete(h.passed, oldest, oldest+1)
	}
	h.passed = append(h.passed, p)
}

// holderDue promises, and asks again.
func (k *Keeper) holderDue() {
	for i := 0; i < len(k.holder.held); i++ {
		h := &k.holder.held[i]
		switch {
		case k.dueOf(h) > k.now:
		case h.state == asking:
			k.asksAgain(h)
			return // the policy may have let tokens go
		case h.state == idle && k.exclusive, h.state == resting:
			k.promises(h)
		}
	}
	k.tells()
}

// promises tells the keeper that a token rests here from now on, or still does. As long as
// who has the promise can be the keeper, it stays with that one.
func (k *Keeper) promises(h *held) {
	if list := k.others(); h.state != resting || !slices.Contains(list, h.keeper) {
		h.keeper = k.first(list)
	}
	h.state, h.since, h.untold = resting, k.now, false
	k.holder.told, k.holder.vowed = k.now, h.keeper
	k.send(h.keeper, &message{kind: rest, custody: h.custody, promise: k.nextPromise(h)})
}

// nextPromise numbers the next statement about a promise.
func (k *Keeper) nextPromise(h *held) promise {
	k.holder.serial++
	h.promise = promise{uint64(k.start), k.holder.serial}
	return h.promise
}

// asksAgain asks once more, or somebody else if the keeper is silent. A token of which the
// policy does not know waits for all, and not for ever: if some do not answer, another
// token may have been made, and a program may run under it.
func (k *Keeper) asksAgain(h *held) {
	switch unanswered := k.now >= h.since.Add(k.timeout(k.silence)); {
	case h.event != nil && unanswered && k.now >= h.doubted.Add(k.hold+k.silence):
		k.frees(h)
	case h.event == nil && unanswered:
		k.silentAsked(h, slices.Clone(h.asked)...)
	case h.event != nil && unanswered:
		k.asksFurther(h)
		k.sendsReleases(h)
	default:
		k.sendsReleases(h)
	}
}

// asksFurther asks, beside those who have not answered, as many more that may keep in their
// place: all of a group, in time. Those who have answered are asked again, once in L: who
// does not answer may have passed the other token to one of them since.
func (k *Keeper) asksFurther(h *held) {
	waited := int(k.now.Sub(h.since) / k.silence)
	if waited > h.rounds {
		h.rounds, h.asked, h.oldest = waited, append(h.asked[:0], h.tried...), k.holder.serial+1
	}
	k.order = k.roster.Witnesses(k.slot, ranks*(1+waited), k.order[:0])
	for _, m := range k.order {
		if m != k.self && !slices.Contains(h.tried, m) {
			h.asked, h.tried = append(h.asked, m), append(h.tried, m)
		}
	}
}

// asks asks a promise back of who has it. A member that does not know who has it asks all
// that can be the keeper.
func (k *Keeper) asks(h *held) {
	h.asked = append(h.asked[:0], h.keeper)
	if h.state != resting {
		h.asked = append(h.asked[:0], k.others()...)
	}
	if len(h.asked) == 0 {
		h.asked = append(h.asked, k.self)
	}
	h.state, h.since, h.rounds = asking, k.now, 0
	h.tried, h.oldest = append(h.tried[:0], h.asked...), k.holder.serial+1
	k.sendsReleases(h)
}

func (k *Keeper) sendsReleases(h *held) {
	h.next = k.now.Add(k.retry)
	k.nextPromise(h)
	asks := release
	if h.event != nil {
		asks = returned
	}
	for _, m := range h.asked {
		k.send(m, &message{kind: asks, custody: h.custody, born: h.born, promise: h.promise})
	}
}

// asksToo asks one more member, which has asked for a token that the policy does not know
// of yet.
func (k *Keeper) asksToo(h *held, m ident.Member) {
	if !slices.Contains(h.tried, m) {
		h.asked, h.tried = append(h.asked, m), append(h.tried, m)
	}
	k.send(m, &message{kind: returned, custody: h.custody, born: h.born, promise: h.promise})
}

// silentAsked goes on without those who are silent: to the keepers that are left, and then to
// all that can be the keeper, each once.
func (k *Keeper) silentAsked(h *held, list ...ident.Member) {
	for _, m := range list {
		k.fellSilent(m)
		h.asked = without(h.asked, m)
	}
	if len(h.asked) > 0 {
		return
	}
	var others []ident.Member
	switch h.rounds++; h.rounds {
	case 1:
		others = k.keepers()
	case 2:
		others = k.firstOf(policy.MaxWitnesses)
	}
	for _, m := range others {
		if m != k.self && !slices.Contains(h.tried, m) {
			h.asked, h.tried = append(h.asked, m), append(h.tried, m)
		}
	}
	if len(h.asked) == 0 {
		k.frees(h)
		return
	}
	h.since = k.now
	k.sendsReleases(h)
}

func without(list []ident.Member, m ident.Member) []ident.Member {
	return slices.DeleteFunc(list, func(x ident.Member) bool { return x == m })
}

// released is what the keeper says: the promise is given back, or another token
// circulates.
func (k *Keeper) released(from ident.Member, m *message) {
	h := k.holder.find(&m.token)
	if h == nil || m.hop != h.hop || h.state != asking || !slices.Contains(h.asked, from) || m.life != h.life || m.serial < h.oldest {
		return
	}
	if m.kind == other {
		if m.member != k.self { // or it is on its way here
			k.leaves(h, m.member)
		}
		return
	}
	if h.asked = without(h.asked, from); len(h.asked) == 0 || h.event == nil {
		k.holder.vowed = ident.Member{}
		k.frees(h)
	}
}

// youngAnswers notes that a member has been asked about a token that has just begun its
// work, and may not know of another one: all are asked instead. The last of them lets the
// policy go on.
func (k *Keeper) youngAnswers(from ident.Member) {
	for i := range k.holder.held {
		h := &k.holder.held[i]
		if h.event == nil || h.state != asking || !slices.Contains(h.asked, from) {
			continue
		}
		h.asked = without(h.asked, from)
		k.order = k.everyone(k.order[:0])
		for _, m := range k.order {
			if m != k.self && !slices.Contains(h.tried, m) {
				k.asksToo(h, m)
			}
		}
		if len(h.asked) == 0 {
			k.frees(h)
		}
		return // the policy may have let tokens go
	}
}

// frees lets the policy go on with a token.
func (k *Keeper) frees(h *held) {
	action, event := h.action, h.event
	h.state, h.since, h.untold = idle, k.now, true
	h.action, h.event = policy.Action{}, nil
	switch {
	case event != nil:
		k.step(*event)
		if k.newborn.frozen { // the later one of the two stays
			k.freesNewborn()
		}
	case action.Kind != 0:
		k.act(&action)
	}
	k.tells()
}

// leaves sends a token to who has the other one: where they meet one goes. The policy
// does not have it any more, and runs nothing under it.
func (k *Keeper) leaves(h *held, to ident.Member) {
	if h.event != nil {
		k.holder.left = held{custody: h.custody, born: h.born, since: k.now}
	}
	known, runs, t, field := h.event == nil, h.action.Kind == policy.Run, policy.Token{ID: h.token, Hop: h.hop}, h.field
	h.state, h.since = leaving, k.now
	h.action, h.event = policy.Action{}, nil
	h.keeper = to
	k.do(policy.Action{Kind: policy.Pass, Token: t.ID, To: to, Field: field})
	if known && runs {
		k.step(policy.Event{Kind: policy.OperationEnded, Token: t})
	}
	if known {
		k.step(policy.Event{Kind: policy.PassSettled, Outcome: policy.Abandoned, Token: t})
	}
}

// questioned says whether a token of the slot is here, or where the one went that is
// asked for.
func (k *Keeper) questioned(from ident.Member, m *message) {
	h := &k.holder
	for i := range h.held {
		if e := &h.held[i]; e.event != nil && e.state == asking {
			k.asksToo(e, from)
			return
		}
	}
	e := h.busy()
	for i := range h.held {
		if e == nil && h.held[i].state < passing {
			e = &h.held[i]
		}
	}
	if e != nil {
		s := k.statement(e)
		k.send(from, &s)
		if k.isStruck(from) {
			return
		}
		e.asker, e.waiter = from, m.member
		k.wakes(m.member)
		return
	}
	if k.newborn.frozen { // beside what is known of the token that is asked for
		defer k.tellsNewborn(from)
	}
	k.step(policy.Event{Kind: policy.Sought, Token: policy.Token{ID: m.token}})
	if e = h.find(&m.token); e != nil {
		k.tellsPass(from, e)
		if who := m.member; !who.IsZero() && who != k.self && !k.isStruck(from) { // the token may come back
			k.step(policy.Event{Kind: policy.Wanted, From: who})
		}
		return
	}
	for i := len(h.passed) - 1; i >= 0; i-- {
		if p := &h.passed[i]; p.token == m.token && p.hop >= m.hop {
			k.send(from, &message{kind: went, custody: p.custody, member: p.to})
			return
		}
	}
	if len(h.held) > 0 {
		k.tellsPass(from, &h.held[0])
		return
	}
	if l := &k.search.last; l.hop > 0 && !l.gone && l.holder != k.self && l.holder != from && k.now >= k.start.Add(k.hold) {
		k.send(from, &message{kind: went, custody: custody{l.token, l.hop - 1}, member: l.holder}) // as the keeper
		return
	}
	if !k.newborn.frozen {
		k.send(from, &message{kind: none, span: millis(k.now.Sub(k.start))})
	}
}

// tellsPass says that a token is on its way.
func (k *Keeper) tellsPass(to ident.Member, h *held) {
	k.send(to, &message{kind: went, custody: h.custody, member: h.keeper, span: max(1, millis(k.now.Sub(h.since)))})
}

// wakes tells the policy that somebody waits, if a token rests here. That may be a member that this
// one passes nothing to: others do not know that, and the token is to go on. Another one gets it.
func (k *Keeper) wakes(who ident.Member) {
	if who == k.self {
		who = ident.Member{}
	}
	for i := range k.holder.held {
		if s := k.holder.held[i].state; s == idle || s == resting {
			k.step(policy.Event{Kind: policy.Wanted, From: who})
			return
		}
	}
}
