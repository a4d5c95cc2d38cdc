package ring

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// reachRounds bounds how often a request may go around, for rings without a token
// and for those that are none because members disagree. Without faults a request
// of d or e goes less than twice around: no other one is between it and the
// token, or a station that this one has passed would stop it; so the token makes
// at most n-1 hops while it is followed. One of q may follow a token for longer
// that others ask for all the time, if messages are as slow as operations.
const reachRounds = 4

func (a *Agent) reach() uint32 { return reachRounds * uint32(a.n) }

// demanded begins or ends the member's need.
func (a *Agent) demanded(demand bool) {
	a.Demand = demand
	if demand {
		a.need()
		return
	}
	a.again = clock.Never
	a.station.Withdraw(a.n)
}

// need asks for the token if somebody here wants it and none was asked for yet.
func (a *Agent) need() {
	a.again = clock.Never
	if !a.Demand || a.waits() || a.station.Inside() {
		return
	}
	a.age()
	a.apply(a.station.Need(a.n), 0)
	if a.waits() && !a.unanswered {
		a.unanswered = true
		a.repeatAt = a.Now.Add(a.requestTimeout)
	}
}

// answered notes that a token was here.
func (a *Agent) answered() { a.unanswered = false }

// age makes the station forget that it has sent a request on, when that was so
// long ago that the token should have come.
func (a *Agent) age() {
	if a.Now >= a.marked.Add(a.requestTimeout) {
		a.station.forget()
	}
}

// tell sends a message to the neighbour.
func (a *Agent) tell(k kind, count, reach uint32) {
	a.marked = a.Now
	if a.next.IsZero() {
		return
	}
	m := message{kind: k, count: count, reach: reach}
	if a.link.bound {
		m.bound, m.token, m.hop = true, a.link.token, a.link.hop
	}
	a.Tell(a.next, m.append)
}

// message handles what another agent says, or keeps it until its time has come.
func (a *Agent) message(e *policy.Event) {
	m, ok := parse(e.Body)
	if !ok || a.alg == S {
		return
	}
	m.count, m.reach = min(m.count, uint32(a.n)), min(m.reach, a.reach())
	if a.taken(&m) || !a.hold(e.From, &m) {
		a.requested(&m)
	}
}

// news is the last repeated request that went on from here.
type news struct {
	at    clock.Instant
	reach uint32 // how far that goes
}

// requested handles requests in their turn.
func (a *Agent) requested(m *message) {
	if m.kind == repeat && !a.station.holds() && !a.through(m.reach) {
		return
	}
	if m.kind == wake && a.station.holds() {
		a.tour()
		return
	}
	a.age()
	sent := uint32(0)
	for range a.distinct(m.count) {
		out := a.station.Request(a.n)
		if out.Request {
			sent++
			continue
		}
		a.apply(out, 0)
	}
	a.prepare()
	if sent > 0 && m.reach > 1 {
		a.tell(m.kind, sent, m.reach-1)
	}
}

// distinct is how many of so many requests make a difference.
func (a *Agent) distinct(count uint32) uint32 {
	if a.alg == Q {
		return count
	}
	return min(count, 1)
}

// through lets a repeated request pass, though one was sent on before (D and E). One
// does for all that are sent at about the same time: those that it comes before
// go no further than it does. So nobody can make others repeat it all the time.
func (a *Agent) through(reach uint32) bool {
	if a.alg == Q {
		return true
	}
	if n := &a.repeated; reach <= n.reach && a.Now < n.at.Add(a.requestTimeout/2) {
		return false
	}
	a.repeated = news{a.Now, reach}
	a.station.forget()
	return true
}

// neighbour goes on with another successor: whatever the last one was told may be
// lost. So it is told of a request, whether anybody waits or not, which sends the
// token around: if there are two because the ring was in parts, they meet.
func (a *Agent) neighbour(next ident.Member, members int) {
	before, first := a.next, !a.told
	a.told, a.next, a.n = true, next, 1
	if !next.IsZero() {
		a.n = min(max(members, 2), policy.MaxMembers)
	}
	if next == before {
		return
	}
	a.link = message{}
	if first || next.IsZero() {
		return
	}
	if a.station.Inside() {
		a.prepared = ident.Member{}
	}
	a.due = clock.Never
	if a.alg != S {
		a.station.forget()
		a.requested(&message{kind: wake, count: 1, reach: a.reach()})
		return
	}
	a.apply(a.station.proceed(a.n), a.skip)
	a.prepare()
}
