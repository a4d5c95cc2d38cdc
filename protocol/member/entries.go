package member

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
)

// A resource with a gate is used under a session there. The order is: custody, OPEN of the gate, the grant is
// durable, the program, SIGN-OUT acknowledged, the token is released.
//
//	knocking ──OPEN──▶ open ──the program has ended──▶ closing ──CLOSED, lost, or signOutTime──▶ released
//	   │                └──CLOSED or lost──▶ the program is killed ──its end──▶ released
//	   │                                 └──▶ one across a restart goes on without a session ──its end──▶ released
//	   └──REFUSE, stuck, lost, or BUSY for too long──▶ released, and the custody is barred
//
// All of it, from Run to the release, takes no longer than a program without a gate may: so the keepers of the token
// have nothing to hold against this member. A session is not journalled. Its connection ends with the process, and the
// gate closes it then; a sign-in after a restart replaces it.

// entries are the sessions at the gates of resources.
type entries struct {
	*core
	grants  *grants
	demands *demands
	custody *custody
	byID    map[uint64]*entry
	last    uint64          // id
	reached map[string]bool // resources whose gate has a connection
	bars    bars
	words   *gateWords
}

func newEntries(c *core, g *grants) *entries {
	return &entries{core: c, grants: g, demands: g.demands, custody: g.custody, byID: make(map[uint64]*entry), reached: make(map[string]bool), words: newGateWords(c)}
}

// gated reports whether the gate of a slot is asked for sessions. One that only observes is no condition.
func (l *entries) gated(s *slot) bool {
	g, ok := gateOf(s.resource)
	return ok && (!g.observes || l.reached[s.key.resource])
}

// isClosed reports whether the slot's gate lets nobody in now, as far as this member knows.
func (l *entries) isClosed(s *slot) bool {
	return l.gated(s) && !observes(s) && (!l.reached[s.key.resource] || l.bars.at(s))
}

// refresh tells a slot's policy that nobody waits as long as its gate is closed: no token is carried there then.
func (l *entries) refresh(s *slot) {
	if s.leaving {
		return
	}
	s.closed = l.isClosed(s)
	l.demands.notify(s)
}

// admits reports whether a program may knock under a token.
func (l *entries) admits(h *hold) bool { return !h.slot.closed }

// reaches notes whether a gate can be reached. With its connection all sessions there are lost.
func (l *entries) reaches(in GateReachable) {
	if in.Address != "" && !l.names(in) {
		return
	}
	if in.Is {
		l.words.meet(in.Certificate)
	}
	if l.reached[in.Resource] == in.Is {
		return
	}
	if in.Is {
		l.reached[in.Resource] = true
	} else {
		delete(l.reached, in.Resource)
	}
	for _, e := range l.inOrder() {
		if e.grant.hold.slot.key.resource != in.Resource {
			continue
		}
		if e.state == knocking { // SIGN-IN may still wait for a record, and go over the next connection
			l.emit(effect.SignOut{Entry: e.id})
		}
		l.lost(e, "the gate cannot be reached")
	}
	for _, s := range l.grants.slots.order {
		if s.key.resource == in.Resource {
			l.refresh(s)
		}
	}
}

// names reports whether the configuration names the gate of an input.
func (l *entries) names(in GateReachable) bool {
	return slices.ContainsFunc(l.settings.Resources, func(r group.Resource) bool {
		return r.Name == in.Resource && r.Gate.Member == in.Gate && r.Gate.Address == in.Address
	})
}

// signIn asks the gate to let a program in, before an instant at which the token is to be released.
func (l *entries) signIn(g *grant, d *demand, latest clock.Instant) {
	s := g.hold.slot
	times, _ := gateOf(s.resource)
	at := planStay(min(s.resource.MaxHold, latest.Sub(l.now.Boot)), d.maxHold, times.open)
	l.last++
	e := &entry{id: l.last, grant: g, demand: d, asked: d.maxHold, since: l.now.Boot, ends: l.now.Boot.Add(at.span), knocks: l.now.Boot.Add(at.knocking)}
	e.gives = e.knocks
	g.entry, l.byID[e.id] = e, e
	h := g.hold
	title, _ := l.custody.handoff.Title(h.token, h.hop)
	s.word = gateWord{text: "asked", hinders: GateUnanswered}
	l.emit(effect.SignIn{
		Entry: e.id, Resource: s.key.resource, Slot: s.key.number, Token: h.token, Hop: h.hop,
		Title: title, Before: l.custody.handoff.Before(h.token, h.hop), Length: at.length, Observed: observes(s),
	})
	if observes(s) {
		l.goOn(e)
	}
}

// observes reports whether the slot's gate only observes.
func observes(s *slot) bool {
	g, ok := gateOf(s.resource)
	return ok && g.observes
}

// goOn lets the program of an entry run although the gate has not opened: it only observes, and delays nobody.
func (l *entries) goOn(e *entry) {
	d := e.demand
	e.demand = nil
	e.state, e.gives, e.watched = open, clock.Never, true
	l.grants.begin(e.grant, d, e.ends, 0, e.id)
}

// said is an answer of a gate.
func (l *entries) said(in GateSaid) {
	e := l.byID[in.Entry]
	if e == nil {
		if _, ok := in.Answer.(gate.OpenAnswer); ok { // it has been given up
			l.emit(effect.SignOut{Entry: in.Entry})
		}
		return
	}
	e.grant.hold.slot.heard = l.now.Boot
	lie := ""
	if a, ok := in.Answer.(gate.OpenAnswer); ok {
		if lie = l.words.opens(e, a, in.Signed); lie != "" {
			l.report("gate lies", e.grant.hold, "it opens "+lie)
		}
	}
	l.words.hear(e, in)
	if e.watched && in.Answer != nil {
		l.watch(e, in.Answer)
		return
	}
	switch a := in.Answer.(type) {
	case gate.OpenAnswer:
		l.opened(e, a, in.At, lie)
	case gate.BusyAnswer:
		l.busy(e, a, in.At)
	case gate.RefuseAnswer:
		l.refused(e, a, in.At)
	case gate.ClosedAnswer:
		l.lost(e, a.Reason.String())
	default:
		l.lost(e, "lost")
	}
}

// watch notes what a gate says that only observes. The entry stays until the program ends: its streams go through the gate.
func (l *entries) watch(e *entry, a gate.Answer) {
	h, w := e.grant.hold, wordOf(a)
	switch a := a.(type) {
	case gate.BusyAnswer:
		l.report("gate observes", h, fmt.Sprintf("would have kept the program waiting: %s, session %d", w.text, w.session))
	case gate.RefuseAnswer:
		l.report("gate observes", h, "would have refused the program: "+a.Code.String())
	}
	w.hinders = ""
	h.slot.word = w
}

// opened lets the program run. The session begins no earlier than SIGN-IN was sent, so it ends no earlier than this
// member has asked for.
func (l *entries) opened(e *entry, a gate.OpenAnswer, at uint64, lie string) {
	if e.state != knocking {
		return
	}
	s := e.grant.hold.slot
	s.word = wordOf(a)
	end := min(e.ends, l.now.Boot.Add(between(at, a.Until)))
	end = end.Add(-signOutSpan(end.Sub(l.now.Boot)))
	d := e.demand
	e.demand = nil
	pause := clock.Instant(0)
	switch {
	case lie != "": // its number is no fence
		s.word, pause = gateWord{text: "opens " + lie, hinders: GateUseless}, l.now.Boot.Add(refusePause)
	case s.hours.Closed: // since the member knocked
		s.word.text, s.word.hinders = "open, but the windows have closed or close too soon", GateUseless
	case end.Sub(l.now.Boot) < shortestProgram(s.resource.MaxHold, d.maxHold): // there is no time left for a program
		s.word.text, s.word.hinders = "open for too short a time", GateUseless
		pause = l.now.Boot.Add(knockPause)
	}
	if s.word.hinders != "" {
		l.bar(e, pause)
		l.signOut(e, false)
		l.demands.putBack(d)
		return
	}
	e.state, e.gives = open, clock.Never
	l.grants.begin(e.grant, d, end, a.Session, e.id)
}

// busy waits in place, as long as the gate says, but never longer than the token may be kept.
func (l *entries) busy(e *entry, a gate.BusyAnswer, at uint64) {
	if e.state != knocking {
		if a.Stuck { // nothing comes after it
			l.lost(e, "stuck")
		}
		return
	}
	h := e.grant.hold
	h.slot.word = wordOf(a)
	if a.Stuck {
		l.report("gate stuck", h, fmt.Sprintf("close has not confirmed the end of session %d: the operator is to look", a.Session))
		l.fail(e, l.now.Boot.Add(knockPause), false)
		return
	}
	e.gives = e.knocks
	if times, ok := gateOf(h.slot.resource); ok && a.Until > 0 {
		e.gives = min(e.knocks, l.now.Boot.Add(between(at, a.Until)).Add(times.settle+times.keep))
	}
}

// refused passes the token on, and knocks no more in this custody.
func (l *entries) refused(e *entry, a gate.RefuseAnswer, at uint64) {
	if e.state != knocking { // nothing comes after it
		l.lost(e, "refused: "+a.Code.String())
		return
	}
	h := e.grant.hold
	h.slot.word = wordOf(a)
	l.report("gate refused", h, a.Code.String())
	if a.Code == gate.Shut {
		opens := time.Time{}
		if a.NotBefore > 0 {
			opens = clock.FromMillis(min(a.NotBefore, lastNotBefore))
		}
		l.fail(e, l.grants.hours.shutByGate(h.slot.key.resource, between(at, a.NotBefore), opens), false)
		return
	}
	l.fail(e, l.now.Boot.Add(max(refusePause, between(at, a.NotBefore))), false)
}

// lost is the end of a session, or of the wait for one, that this member did not ask for; or the end that it did ask for.
func (l *entries) lost(e *entry, why string) {
	s := e.grant.hold.slot
	if e.state != closing || s.word.hinders == "" { // a session that was too short stays the reason
		s.word = gateWord{text: "closed: " + why}
	}
	switch e.state {
	case knocking:
		s.word.hinders = GateUseless
		l.fail(e, l.now.Boot.Add(knockPause), false)
	case open:
		l.remove(e)
		if g, ok := gateOf(s.resource); e.watched || !ok || g.observes {
			l.report("gate session lost", e.grant.hold, why+": the program goes on without it, as the gate is no condition")
			return
		}
		if e.grant.isAcross() {
			l.report("gate session lost", e.grant.hold, why+": the grant goes on without it, as it lasts across a restart of the machine")
			return
		}
		l.report("gate session lost", e.grant.hold, why+": the program is killed")
		l.emit(effect.Lose{Grant: e.grant.id, Reason: why})
	case closing:
		l.remove(e)
		l.grants.over(e.grant, e.operated)
	}
}

// signOut asks the gate for the end of a session whose program has ended. The token is released when the gate says so, or
// at once if the gate only observes.
func (l *entries) signOut(e *entry, operated bool) {
	if e.watched {
		l.unask(e)
		l.emit(effect.SignOut{Entry: e.id})
		l.remove(e)
		l.grants.over(e.grant, operated)
		return
	}
	e.state, e.operated, e.gives = closing, operated, l.now.Boot.Add(signOutSpan(e.grant.hold.slot.resource.MaxHold))
	l.emit(effect.SignOut{Entry: e.id})
}

// fail ends the wait without a session. The demand goes back to where it was, and the policy is to pass the token on.
func (l *entries) fail(e *entry, until clock.Instant, waits bool) {
	d := e.demand
	l.bar(e, until)
	if waits {
		l.emit(effect.SignOut{Entry: e.id})
	}
	l.remove(e)
	l.demands.putBack(d)
	l.grants.over(e.grant, false)
}

// bar knocks no more in the custody of an entry until then.
func (l *entries) bar(e *entry, until clock.Instant) {
	h := e.grant.hold
	l.bars.add(h, until)
	h.slot.closed = true
}

// cancel ends the wait of an entry that nobody waits for any more.
func (l *entries) cancel(e *entry) {
	l.unask(e)
	l.emit(effect.SignOut{Entry: e.id})
	l.remove(e)
	l.grants.over(e.grant, false)
}

// giveBack ends the wait of an entry whose program goes on waiting for a token.
func (l *entries) giveBack(e *entry) {
	d := e.demand
	l.cancel(e)
	l.demands.putBack(d)
}

// unask forgets that an answer is waited for.
func (l *entries) unask(e *entry) {
	if s := e.grant.hold.slot; s.word.hinders == GateUnanswered {
		s.word = gateWord{}
	}
}

func (l *entries) remove(e *entry) {
	delete(l.byID, e.id)
	e.grant.entry, e.demand = nil, nil
}

// withdraw ends a demand that knocks, and reports whether there is one. The next program that waits takes its place.
func (l *entries) withdraw(request uint64) bool {
	for _, e := range l.inOrder() {
		if e.state != knocking || e.demand.request != request {
			continue
		}
		d := l.demands.take(e.grant.hold.slot)
		switch {
		case d == nil:
			l.cancel(e)
		case e.asked == 0, 0 < d.maxHold && d.maxHold <= e.asked:
			e.demand = d
		case e.gives <= l.now.Boot:
			l.cancel(e)
			l.demands.putBack(d)
		default: // the session would be too short
			l.emit(effect.SignOut{Entry: e.id})
			l.remove(e)
			l.signIn(e.grant, d, e.ends)
			e.grant.entry.since = e.since
		}
		l.demands.hasChanged(e.grant.hold.slot.key.resource)
		return true
	}
	return false
}

// refuseAll refuses all programs that knock.
func (l *entries) refuseAll(reason error) {
	for _, e := range l.inOrder() {
		if e.state == knocking {
			l.emit(effect.Refuse{Request: e.demand.request, Reason: reason})
			l.cancel(e)
		}
	}
}

// lapse refuses them once this member's certificate has expired.
func (l *entries) lapse() {
	if len(l.byID) == 0 {
		return
	}
	if reason := l.demands.expired(); reason != nil {
		l.refuseAll(reason)
	}
}

// giveUp ends what knocks at a slot that leaves.
func (l *entries) giveUp(s *slot) {
	for _, e := range l.inOrder() {
		if e.state == knocking && e.grant.hold.slot == s {
			l.giveBack(e)
		}
	}
	l.bars.forget(s)
}

// tick ends what has waited for the gate for long enough, and what belongs to a memory that was given up.
func (l *entries) tick() {
	for _, e := range l.inOrder() {
		h := e.grant.hold
		switch {
		case h.lost && e.state == knocking:
			l.giveBack(e)
		case e.state == knocking && observes(h.slot): // by a newer configuration
			l.goOn(e)
		case e.gives > l.now.Boot:
		case e.state == knocking:
			l.report("gate busy", h, "no session in the time for waiting: the token goes on")
			l.fail(e, l.now.Boot.Add(knockPause), true)
		case e.state == closing:
			l.report("gate slow", h, fmt.Sprintf("no word about the end of the session within %v: the token goes on", signOutSpan(h.slot.resource.MaxHold)))
			l.remove(e)
			l.grants.over(e.grant, e.operated)
		}
	}
}

// lift ends the bars whose time has come, or whose custody has ended.
func (l *entries) lift() {
	for _, h := range l.bars.over(l.now.Boot, func(h *hold) bool { return l.custody.holds[h.token] == h }) {
		l.refresh(h.slot)
	}
}

// next is when tick or lift has something to do.
func (l *entries) next() clock.Instant {
	next := l.bars.next()
	for _, e := range l.byID {
		next = min(next, e.gives)
	}
	return next
}

func (l *entries) inOrder() []*entry {
	if len(l.byID) == 0 {
		return nil
	}
	list := slices.Collect(maps.Values(l.byID))
	slices.SortFunc(list, func(a, b *entry) int { return cmp.Compare(a.id, b.id) })
	return list
}

func (l *entries) report(kind string, h *hold, detail string) {
	l.emit(effect.Report{Kind: kind, About: l.self, Detail: h.slot.key.String() + ": " + detail})
}

// status is what is known of a slot's gate.
func (l *entries) status(s *slot) GateStatus {
	g, ok := gateOf(s.resource)
	if !ok {
		return GateStatus{}
	}
	heard := s.heard
	if s.word.text == "" || s.word.hinders == GateUnanswered {
		heard = 0
	}
	return GateStatus{
		Heard: heard, Gated: true, Observes: g.observes, Reached: l.reached[s.key.resource], Said: s.word.text,
		Hinders: s.word.hinders, Session: s.word.session, NotBefore: s.word.notBefore, Asked: l.asked(s),
	}
}

// asked is since when a program knocks at the gate of a slot, 0 if none does.
func (l *entries) asked(s *slot) clock.Instant {
	for _, e := range l.byID {
		if e.grant.hold.slot == s && e.state == knocking {
			return e.since
		}
	}
	return 0
}

// check returns the first invariant that does not hold, or nil.
func (l *entries) check() error {
	holds := make(map[*hold]bool)
	for _, e := range l.byID {
		bad := e.check(l.grants.inForce[e.grant.id] == e.grant)
		if holds[e.grant.hold] {
			bad = "two of one custody"
		}
		holds[e.grant.hold] = true
		if bad != "" {
			return fmt.Errorf("entry %d: %w: %s", e.id, errEntry, bad)
		}
	}
	return nil
}
