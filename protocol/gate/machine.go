package gate

import (
	"fmt"
	"maps"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// session is what is in a slot that is not Idle.
type session struct {
	number     uint64 // 0: whatever there was before the journal began
	connection Connection
	permit     Permit
	deadline   clock.Instant
	until      uint64 // the deadline on the wall clock, ms since 1970
	reason     Reason // why it ends; 0: it does not
}

// slot is one place for a session.
type slot struct {
	state    State
	session  session
	run      uint64 // the hook that runs
	settling bool   // close has confirmed
	// wake is when time itself does something: ends a hook, a session, the settling, or the keeping of an Idle slot.
	wake    clock.Instant
	shut    clock.Instant // nothing settles before
	last    Title         // under which the last session opened; the zero value: none
	waiters queue
}

// Gate lets in one session per slot. See the package comment.
type Gate struct {
	settings Settings
	memory   memory
	slots    []slot
	fence    uint64 // number of the last session
	runs     uint64 // hooks so far
	arrivals uint64
	revoked  map[ident.Member]bool
	fresh    clock.Instant // when the CA was asked for revocations; Never: not since the start
	now      clock.Reading
	effects  []Effect
}

// Step handles one input, and returns what is to be done, in its order.
func (g *Gate) Step(now clock.Reading, in Input) []Effect {
	g.now = now
	if end, ok := in.(HookEnded); ok {
		g.hookEnded(end) // before its time is over: gate and hook may have paused together
	}
	g.tick()
	switch in := in.(type) {
	case Tick, HookEnded:
	case SignIn:
		g.signIn(in)
	case SignOut:
		g.leave(in.Connection, BySignOut)
	case Lost:
		g.leave(in.Connection, ByLoss)
	case Cleared:
		if in.Slot >= 0 && in.Slot < len(g.slots) && g.move(in.Slot, Clear) {
			g.runClose(in.Slot)
		}
	case Configured:
		g.configure(in.Settings)
	case Revocations:
		g.revoke(in)
	}
	g.tick()
	out := g.effects
	g.effects = nil
	return out
}

// NextDeadline is when Step wants to be called with a Tick, at the latest.
func (g *Gate) NextDeadline() clock.Instant {
	next := clock.Never
	for _, s := range g.slots {
		if s.state != Idle || len(s.waiters) > 0 && s.wake > g.now.Boot {
			next = min(next, s.wake)
		}
	}
	return next
}

// State is the state of a slot.
func (g *Gate) State(i int) State { return g.slots[i].state }

// Knows reports whether a session has opened under the generator's token lately. The word of a signer who was revoked
// since stays good for it.
func (g *Gate) Knows(generator ident.Member, t ident.Token) bool { return g.memory.knows(generator, t) }

func (g *Gate) do(e Effect) { g.effects = append(g.effects, e) }

func (g *Gate) say(to Connection, a Answer) { g.do(Say{To: to, Answer: a}) }

func (g *Gate) persist(r Record) { g.do(Persist{At: g.now.Micros(), Record: r, Sync: true}) }

// move changes the state of a slot by an event, and reports whether the event can happen there.
func (g *Gate) move(i int, e Event) bool {
	to, ok := after(g.slots[i].state, e)
	if ok {
		g.slots[i].state = to
	}
	return ok
}

// tick does what time has brought about, and then lets sessions begin: a member that waits at one slot may have had its session
// at a later one.
func (g *Gate) tick() {
	for i := range g.slots {
		if s := &g.slots[i]; s.state != Idle && s.wake <= g.now.Boot {
			g.expire(i)
		}
	}
	for i := range g.slots {
		g.choose(i)
	}
}

// expire: the time of the slot's state is over.
func (g *Gate) expire(i int) {
	s := &g.slots[i]
	switch {
	case s.state == Opening && s.session.deadline > g.now.Boot:
		g.openFailed(i)
	case s.state == Opening, s.state == Open:
		g.cut(i, ByDeadline)
	case s.state == Closing && s.settling:
		g.settled(i)
	case s.state == Closing:
		g.stuck(i)
	}
}

// refuse answers a sign-in.
func (g *Gate) refuse(to Connection, c Code, notBefore clock.Instant) {
	a := RefuseAnswer{Code: c}
	if wait := notBefore.Sub(g.now.Boot); notBefore > 0 && wait > 0 {
		a.NotBefore = g.wall(notBefore)
	}
	if c == Outdated {
		a.Configuration = g.settings.Raw
	}
	g.say(to, a)
}

// wall is an instant on the wall clock, in ms since 1970.
func (g *Gate) wall(at clock.Instant) uint64 {
	return g.now.Millis() + uint64(max(0, at.Sub(g.now.Boot))/time.Millisecond)
}

// signIn judges a request. One that is good waits, and opens if it can.
func (g *Gate) signIn(in SignIn) {
	if in.Slot < 0 || in.Slot >= len(g.slots) {
		g.refuse(in.Connection, NoSlot, 0)
		return
	}
	if c := g.versions(in); c != 0 {
		g.refuse(in.Connection, c, 0)
		return
	}
	s := &g.slots[in.Slot]
	if c, at := g.judge(in.Permit, s.last); c != 0 {
		g.refuse(in.Connection, c, at)
		return
	}
	if s.state == Stuck {
		g.say(in.Connection, g.busy(in.Slot))
		return
	}
	member := in.Permit.Title.Holder
	switch holder := s.session.permit.Title; {
	case s.state != Opening && s.state != Open:
	case holder.Holder == member && holder.Token == in.Permit.Title.Token:
		g.cut(in.Slot, ByReplacing)
	case in.Permit.follows(holder):
		g.cut(in.Slot, BySuccessor)
	}
	g.arrivals++
	length := uint64(min(in.Length, g.settings.MaxHold) / time.Millisecond)
	replaced, full := s.waiters.add(waiter{in.Connection, in.Permit, length, g.arrivals}, &g.memory)
	for _, w := range replaced {
		g.refuse(w.connection, Replaced, 0)
	}
	for _, w := range full {
		g.refuse(w.connection, Full, 0)
	}
	if g.choose(in.Slot) {
		return // all that still wait have heard of it
	}
	for _, w := range s.waiters {
		if w.arrived == g.arrivals {
			g.say(w.connection, g.busy(in.Slot))
		}
	}
}

// versions: the member and the gate go by the same configuration (rule 9).
func (g *Gate) versions(in SignIn) Code {
	switch {
	case in.Configuration < g.settings.Version:
		return Outdated
	case in.Configuration > g.settings.Version:
		g.do(Fetch{Version: in.Configuration})
		return Ahead
	case in.Length < time.Millisecond:
		return NoLength
	}
	return 0
}

// judge says why a permit opens nothing now at a slot whose last session was under a title, and when that changes; 0 if it may.
func (g *Gate) judge(p Permit, last Title) (Code, clock.Instant) {
	known := g.memory.knows(p.Generator, p.Title.Token)
	if g.revoked[p.Title.Holder] {
		return Revoked, 0
	}
	if age := g.settings.RevocationMaxAge; age > 0 && (g.fresh == clock.Never || g.now.Boot.Sub(g.fresh) > age) {
		return Unsure, 0
	}
	for _, id := range p.signers() {
		if g.revoked[id] && !known {
			return SignerRevoked, 0
		}
	}
	latest := g.now.Millis() + uint64(g.settings.ClockAllowance/time.Millisecond)
	if p.Born > latest || p.Title.Hop > freeHops && p.Title.Hop-freeHops > latest-p.Born {
		return Implausible, 0
	}
	// Sessions of others at other slots are nobody's turn at this one.
	if c := g.memory.judge(p.Title); c == Stale || c == Used && p.Title != last {
		return c, 0
	}
	if at := g.ready(p.Title.Holder); at > g.now.Boot {
		return TooSoon, at
	}
	if at := g.memory.rationed(p.Generator, g.now.Boot); at > g.now.Boot && !known {
		return Rationed, at
	}
	return 0, 0
}

// ready is when the member's minimal interval is over.
func (g *Gate) ready(id ident.Member) clock.Instant {
	mem := g.memory.members[id]
	if mem == nil || mem.served == 0 {
		return 0
	}
	return mem.ended.Add(g.settings.MinInterval)
}

// busy says what a slot waits for.
func (g *Gate) busy(i int) BusyAnswer {
	s := &g.slots[i]
	a := BusyAnswer{Stuck: s.state == Stuck}
	if s.state == Idle {
		a.Until = g.wall(s.wake)
	}
	if s.state != Idle && s.session.number > 0 {
		t := s.session.permit.Title
		a.Session, a.Token, a.Hop, a.Holder = s.session.number, t.Token, t.Hop, t.Holder
		if !a.Stuck {
			a.Until = s.session.until
		}
	}
	return a
}

// hasSession reports whether a member has a session at some slot.
func (g *Gate) hasSession(id ident.Member) bool {
	for _, s := range g.slots {
		if s.state != Idle && s.session.number > 0 && s.session.permit.Title.Holder == id {
			return true
		}
	}
	return false
}

// choose begins the session of the member served longest ago, if the slot is not kept (rule 3), and reports whether one began.
func (g *Gate) choose(i int) bool {
	s := &g.slots[i]
	if s.state != Idle || len(s.waiters) == 0 || g.fence >= MaxNumber {
		return false
	}
	if s.wake > g.now.Boot {
		linked := false
		for _, w := range s.waiters {
			linked = linked || w.permit.follows(s.last)
		}
		if !linked {
			return false
		}
	}
	g.purge(i)
	n := s.waiters.next(&g.memory, func(w waiter) bool { return !g.hasSession(w.permit.Title.Holder) })
	if n < 0 {
		return false
	}
	w := s.waiters[n]
	s.waiters = append(s.waiters[:n:n], s.waiters[n+1:]...)
	g.open(i, w)
	for _, w := range s.waiters {
		g.say(w.connection, g.busy(i))
	}
	return true
}

// purge refuses the waiters of a slot that may not open any more.
func (g *Gate) purge(i int) {
	s := &g.slots[i]
	s.waiters.remove(func(w waiter) bool {
		c, at := g.judge(w.permit, s.last)
		if c != 0 {
			g.refuse(w.connection, c, at)
		}
		return c != 0
	})
}

// open journals a session, and runs its open hook (rule 5).
func (g *Gate) open(i int, w waiter) {
	s := &g.slots[i]
	g.move(i, Choose)
	g.fence++
	t := w.permit.Title
	r := &OpeningRecord{
		Session: g.fence, Slot: uint64(i), Member: t.Holder, Token: t.Token, Hop: t.Hop, Title: t.Hash, Generator: w.permit.Generator,
	}
	for _, m := range w.permit.Moves {
		r.Moves = append(r.Moves, MoveRecord{By: m.By, Title: m.Title, Declined: m.Declined})
	}
	g.memory.note(r)
	g.memory.open(r.Generator, r.Token, g.now.Boot)
	deadline := g.now.Boot.Add(clock.Millis(w.length))
	s.session = session{number: g.fence, connection: w.connection, permit: w.permit, deadline: deadline, until: g.wall(deadline)}
	s.last = t
	g.persist(r)
	g.runs++
	s.run, s.wake = g.runs, min(g.now.Boot.Add(g.settings.OpenTimeout), deadline)
	g.do(RunOpen{Run: s.run, Slot: i, Session: g.fence, Title: t, Deadline: deadline})
}

// hookEnded: a hook says how it went. One that was not waited for any more says nothing.
func (g *Gate) hookEnded(in HookEnded) {
	for i := range g.slots {
		s := &g.slots[i]
		if s.run != in.Run || s.settling {
			continue
		}
		switch {
		case s.state == Opening && in.Result == Succeeded && s.session.deadline <= g.now.Boot:
			g.cut(i, ByDeadline)
		case s.state == Opening && in.Result == Succeeded:
			g.move(i, Opened)
			s.run, s.wake = 0, s.session.deadline
			t := s.session.permit.Title
			g.say(s.session.connection, OpenAnswer{Session: s.session.number, Until: s.session.until, Token: t.Token, Hop: t.Hop})
		case s.state == Opening:
			g.openFailed(i)
		case s.state == Closing && in.Result == Succeeded:
			g.confirmed(i)
		case s.state == Closing:
			g.stuck(i)
		}
		return
	}
}

func (g *Gate) openFailed(i int) {
	s := &g.slots[i]
	g.move(i, OpenFailed)
	s.session.reason = ByOpenHook
	g.do(Alarm{Kind: "open_failed", Slot: i, Session: s.session.number})
	g.runClose(i)
}

// leave: a connection signs out, or is lost.
func (g *Gate) leave(c Connection, why Reason) {
	for i := range g.slots {
		s := &g.slots[i]
		if (s.state == Opening || s.state == Open) && s.session.connection == c {
			g.cut(i, why)
		}
		if gone := s.waiters.remove(func(w waiter) bool { return w.connection == c }); len(gone) > 0 && why == BySignOut {
			g.say(c, ClosedAnswer{Reason: why, Confirmed: true})
		}
	}
}

// cut ends a session.
func (g *Gate) cut(i int, why Reason) {
	if g.move(i, Cut) {
		g.slots[i].session.reason = why
		g.runClose(i)
	}
}

func (g *Gate) runClose(i int) {
	s := &g.slots[i]
	g.runs++
	s.run, s.settling, s.wake = g.runs, false, g.now.Boot.Add(g.settings.CloseTimeout)
	g.do(RunClose{Run: s.run, Slot: i, Session: s.session.number})
}

// confirmed: work has ended. The slot settles.
func (g *Gate) confirmed(i int) {
	s := &g.slots[i]
	g.move(i, Confirmed)
	s.run, s.settling = 0, true
	s.wake = max(g.now.Boot.Add(g.settings.Settle), s.shut)
	if s.session.connection != 0 {
		g.say(s.session.connection, ClosedAnswer{Session: s.session.number, Reason: s.session.reason, Confirmed: true})
	}
}

// settled: the session is over, and the slot is kept for its successor.
func (g *Gate) settled(i int) {
	s := &g.slots[i]
	g.move(i, Settled)
	g.persist(&ClosedRecord{Session: s.session.number, Slot: uint64(i), Reason: s.session.reason})
	s.wake = g.now.Boot
	if s.session.number > 0 {
		if mem := g.memory.members[s.session.permit.Title.Holder]; mem != nil {
			mem.ended = g.now.Boot
		}
		s.wake = g.now.Boot.Add(g.settings.Keep)
	}
	s.session, s.settling, s.shut = session{}, false, 0
}

// stuck: close has not confirmed. The slot stays shut, and nobody waits at it.
func (g *Gate) stuck(i int) {
	s := &g.slots[i]
	g.move(i, CloseFailed)
	s.run, s.wake = 0, clock.Never
	g.do(Alarm{Kind: "stuck", Slot: i, Session: s.session.number})
	if s.session.connection != 0 {
		g.say(s.session.connection, ClosedAnswer{Session: s.session.number, Reason: s.session.reason})
	}
	for _, w := range s.waiters {
		g.say(w.connection, g.busy(i))
	}
	s.waiters = nil
}

// configure brings a newer configuration into force. All that wait go by the older one.
func (g *Gate) configure(s Settings) {
	if s.Version <= g.settings.Version || s.validate() != nil {
		return
	}
	g.settings = s
	for i := range g.slots {
		for _, w := range g.slots[i].waiters {
			g.refuse(w.connection, Outdated, 0)
		}
		g.slots[i].waiters = nil
	}
}

// revoke: members are out, also those that are in (rule 9).
func (g *Gate) revoke(in Revocations) {
	for _, id := range in.Members {
		g.revoked[id] = true
	}
	if in.Fresh {
		g.fresh = g.now.Boot
	}
	for i := range g.slots {
		s := &g.slots[i]
		if (s.state == Opening || s.state == Open) && g.revoked[s.session.permit.Title.Holder] {
			g.cut(i, ByRevocation)
		}
		g.purge(i)
	}
}

// Check returns the first invariant that does not hold, or nil. Tests and simulations call it after every step.
func (g *Gate) Check() error {
	seen := make(map[ident.Member]bool)
	for i, s := range g.slots {
		id := s.session.permit.Title.Holder
		bad := ""
		switch {
		case s.state >= states:
			bad = "no state"
		case s.state == Idle && (s.session.number > 0 || s.settling || s.run != 0):
			bad = "idle with a session"
		case s.state != Idle && s.session.number > 0 && seen[id]:
			bad = "two sessions of a member"
		case (s.state == Opening || s.state == Open) && (s.session.number == 0 || s.session.reason != 0):
			bad = "open without a session, or one that ends"
		case (s.state == Opening || s.state == Closing && !s.settling) != (s.run != 0):
			bad = "a hook that is not waited for, or the reverse"
		case s.state == Closing && s.session.reason == 0:
			bad = "closing for no reason"
		case s.session.number > g.fence:
			bad = "a number that was not given"
		case s.state == Stuck && len(s.waiters) > 0, len(s.waiters) > MaxWaiters:
			bad = "too many waiters"
		}
		for j, w := range s.waiters {
			for _, o := range s.waiters[:j] {
				if o.is(w.permit) {
					bad = "two waiters of a member and token"
				}
			}
		}
		if bad != "" {
			return fmt.Errorf("%w: slot %d in %v: %s", ErrInvariant, i, s.state, bad)
		}
		if s.state != Idle && s.session.number > 0 {
			seen[id] = true
		}
	}
	return g.memory.check(g.fence)
}

func (m *memory) check(fence uint64) error {
	if len(m.members) > maxMembers || len(m.generators) > maxMembers {
		return fmt.Errorf("%w: %d members, %d generators", ErrInvariant, len(m.members), len(m.generators))
	}
	for mem := range maps.Values(m.members) {
		if mem.served > fence || len(mem.titles) > MaxTitles {
			return fmt.Errorf("%w: a member with %d titles and session %d", ErrInvariant, len(mem.titles), mem.served)
		}
	}
	for mem := range maps.Values(m.generators) {
		if len(mem.tokens) > MaxTokens {
			return fmt.Errorf("%w: a generator with %d tokens", ErrInvariant, len(mem.tokens))
		}
	}
	return nil
}
