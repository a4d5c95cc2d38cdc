package gate

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// Gate lets in one session per slot. See the package comment.
type Gate struct {
	views
	memory   memory
	slots    slots  // the places: those of the settings, and any that is gone from them
	fence    uint64 // number of the last session, or the last one that a start has passed over
	written  uint64 // the last number in a record
	durable  uint64 // the last number in a record that is durable: see MaxAhead
	runs     uint64 // hooks so far
	arrivals uint64
	now      clock.Reading
	effects  []Effect
}

// Step handles one input, and returns what is to be done, in its order.
func (g *Gate) Step(now clock.Reading, in Input) []Effect {
	g.now = now
	g.keepHours()
	if end, ok := in.(HookEnded); ok {
		g.hookEnded(end) // before its time is over: gate and hook may have paused together
	}
	g.tick()
	switch in := in.(type) {
	case Tick, HookEnded:
	case SignIn:
		g.signIn(in)
	case SignOut:
		g.leave(BySignOut, func(r request) bool { return r == request{in.Connection, in.Number} })
	case Lost:
		g.leave(ByLoss, func(r request) bool { return r.connection == in.Connection })
	case Cleared:
		if in.Slot >= 0 && in.Slot < len(g.slots) && g.move(in.Slot, Clear) {
			g.runClose(in.Slot)
		}
	case Configured:
		g.configure(in.Settings)
	case Revocations:
		g.hearRevoked(in)
	}
	g.tick()
	return g.taken()
}

// taken are the effects since the last call.
func (g *Gate) taken() []Effect {
	out := g.effects
	g.effects = nil
	return out
}

// NextDeadline is when Step wants to be called with a Tick, at the latest.
func (g *Gate) NextDeadline() clock.Instant {
	next := clock.Never
	if len(g.settings.Windows) > 0 && g.slots.attended() {
		next = min(g.hours.turn(g.now), g.now.Boot.Add(clockLook))
	}
	for i, s := range g.slots {
		waited := i < g.settings.places() && len(g.slots[i%g.settings.Slots].waiters) > 0
		if s.state != Idle || waited && s.wake > g.now.Boot {
			next = min(next, s.wake)
		}
		if s.slow > 0 {
			next = min(next, s.slow)
		}
	}
	return next
}

// Slots is how many places the gate has: those of the settings, and others as long as they are not forgotten.
func (g *Gate) Slots() int { return len(g.slots) }

// State is the state of a place.
func (g *Gate) State(i int) State { return g.slots[i].state }

// Ending is why a place is closing, and when the next step of that comes at the latest: the end of the close hook's time, or that of the settling. The
// zero value is a place that is not closing.
func (g *Gate) Ending(i int) (why Reason, settles bool, at clock.Instant) {
	if s := &g.slots[i]; s.state == Closing {
		return s.session.reason, s.settling, s.wake
	}
	return 0, false, 0
}

// Knows reports whether a session has opened under the generator's token lately.
func (g *Gate) Knows(generator ident.Member, t ident.Token) bool { return g.memory.knows(generator, t) }

func (g *Gate) do(e Effect) { g.effects = append(g.effects, e) }

func (g *Gate) say(to request, a Answer) {
	if to.connection != 0 {
		g.do(Say{To: to.connection, Number: to.number, Answer: a})
	}
}

func (g *Gate) write(r Record, sync bool) {
	g.do(Persist{At: g.now.Micros(), Record: r, Sync: sync})
	if sync {
		g.durable = g.written // not the fence: no record has the numbers that a start has passed over
	}
}

// wall is an instant on the wall clock, in ms since 1970.
func (g *Gate) wall(at clock.Instant) uint64 {
	return g.now.Millis() + uint64(max(0, at.Sub(g.now.Boot))/time.Millisecond)
}

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
		if s := &g.slots[i]; s.slow > 0 && s.slow <= g.now.Boot {
			g.isSlow(i)
		}
	}
	for slot := range g.settings.Slots {
		for g.choose(slot) {
		}
	}
}

// expire: the time of the slot's state is over.
func (g *Gate) expire(i int) {
	s := &g.slots[i]
	late := s.paused(g.now.Boot)
	switch {
	case s.serves() && s.session.deadline <= g.now.Boot:
		g.cut(i, ByDeadline)
	case s.state == Opening && late:
		s.hook.extended, s.wake = true, min(g.now.Boot.Add(g.settings.OpenTimeout), s.session.deadline)
	case s.state == Opening:
		g.openFailed(i)
	case s.settling:
		g.settled(i)
	case s.state == Closing && late:
		s.hook.extended, s.wake = true, g.now.Boot.Add(g.settings.CloseTimeout)
	case s.state == Closing:
		g.stuck(i)
	}
}

// occupied counts the places of a slot that are not idle, and those of them that are stuck: also places that the configuration does not have any more.
func (g *Gate) occupied(slot int) (all, stuck int) {
	for i := slot; i < len(g.slots); i += g.settings.Slots {
		if g.slots[i].state != Idle {
			all++
		}
		if g.slots[i].state == Stuck {
			stuck++
		}
	}
	return all, stuck
}

// free is the first place of a slot at which a session may begin: it is idle, and not kept, or kept for somebody who waits (rule 3). It is -1 if there is none,
// or if as many as the configuration has are occupied, maybe at places that it has taken away.
func (g *Gate) free(slot int) int {
	if all, _ := g.occupied(slot); all >= max(1, g.settings.Sessions) {
		return -1
	}
	q := g.slots[slot].waiters
	for i := range g.settings.of(slot) {
		if s := &g.slots[i]; s.state == Idle && (s.wake <= g.now.Boot || s.linked(q)) {
			return i
		}
	}
	return -1
}

// choose begins the session of the member served longest ago, if the slot has a place for one, and reports whether one began.
func (g *Gate) choose(slot int) bool {
	q := &g.slots[slot].waiters
	if len(*q) == 0 || g.fence >= MaxNumber || g.free(slot) < 0 {
		return false
	}
	g.purge(slot)
	n := q.next(&g.memory, func(w waiter) bool { return !g.slots.haveSession(w.permit.Title.Holder) })
	if n < 0 {
		return false
	}
	w := (*q)[n]
	i := g.free(slot) // for the queue before w leaves it
	if i < 0 {
		return false // whom it was kept for was refused
	}
	*q = append((*q)[:n:n], (*q)[n+1:]...)
	g.open(i, w)
	for _, o := range q.remove(w.sameMember) {
		g.refuse(o.from, o.permit.Title.Holder, Served, 0)
	}
	for _, w := range *q {
		g.say(w.from, g.busy(slot))
	}
	return true
}

// open journals a session, and runs its open hook (rule 5). Its number may leave before the record is durable, if a start that does not find the record
// gives no such number again.
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
	g.memory.open(r, g.now.Boot)
	deadline := min(g.now.Boot.Add(clock.Millis(w.length)), g.hours.turn(g.now)) // the windows are open
	s.session = session{number: g.fence, from: w.from, permit: w.permit, deadline: deadline, until: g.wall(deadline)}
	s.last = last{g.fence, t}
	g.written = g.fence
	g.write(r, g.fence-g.durable > MaxAhead)
	g.runs++
	s.hook, s.wake = hook{run: g.runs}, min(g.now.Boot.Add(g.settings.OpenTimeout), deadline)
	g.do(RunOpen{Run: g.runs, Slot: i, Session: g.fence, Title: t, Deadline: deadline})
}

// leave: a sign-in is withdrawn, or its connection is lost.
func (g *Gate) leave(why Reason, gone func(request) bool) {
	for i := range g.slots {
		s := &g.slots[i]
		if s.serves() && gone(s.session.from) {
			g.cut(i, why)
		}
		for _, w := range s.waiters.remove(func(w waiter) bool { return gone(w.from) }) {
			if why == BySignOut {
				g.say(w.from, ClosedAnswer{Reason: why, Confirmed: true})
			}
		}
	}
}

// configure brings a newer configuration into force. All that wait go by the older one.
func (g *Gate) configure(s Settings) {
	if s.Version <= g.settings.Version {
		return
	}
	if s.validate() != nil {
		if s.Version > g.unusable {
			g.unusable = s.Version
			g.do(Alarm{Kind: AlarmConfiguration})
		}
		return
	}
	g.settings = s
	for i := range g.slots {
		waiters := g.slots[i].waiters
		g.slots[i].waiters = nil
		for _, w := range waiters {
			g.refuse(w.from, w.permit.Title.Holder, Outdated, 0)
		}
	}
	for i := len(g.slots); i < s.places(); i++ {
		g.slots = append(g.slots, slot{})
		g.recover(i, session{})
	}
	g.setHours()
}

// hearRevoked: members are out, also those that are in (rule 9).
func (g *Gate) hearRevoked(in Revocations) {
	before := g.overflow
	added := g.revoke(in.Members)
	for len(added) > 0 {
		n := min(len(added), maxRevokedRecord)
		g.write(&RevokedRecord{Members: added[:n:n]}, true)
		added = added[n:]
	}
	if g.overflow && !before {
		g.do(Alarm{Kind: AlarmRevocations})
	}
	if in.Fresh {
		g.fresh = g.now.Boot
	}
	for i := range g.slots {
		if s := &g.slots[i]; s.serves() && g.revoked[s.session.permit.Title.Holder] {
			g.cut(i, ByRevocation)
		}
	}
	for slot := range g.settings.Slots {
		g.purge(slot)
	}
}
