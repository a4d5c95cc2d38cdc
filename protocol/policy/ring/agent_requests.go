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
func (s *step) demanded(demand bool) {
	s.demand = demand
	if demand {
		s.need()
		return
	}
	s.again = clock.Never
	s.station.Withdraw(s.n)
}

// need asks for the token if somebody here wants it and none was asked for yet.
func (s *step) need() {
	s.again = clock.Never
	if !s.demand || s.waits() || s.station.Inside() {
		return
	}
	s.age()
	s.apply(s.station.Need(s.n), 0)
	if s.waits() && !s.unanswered {
		s.unanswered = true
		s.repeatAt = s.now.Add(s.requestTimeout)
	}
}

// answered notes that a token was here.
func (s *step) answered() { s.unanswered = false }

// age makes the station forget that it has sent a request on, when that was so
// long ago that the token should have come.
func (s *step) age() {
	if s.now >= s.marked.Add(s.requestTimeout) {
		s.station.forget()
	}
}

// tell sends a message to the neighbour.
func (s *step) tell(k kind, count, reach uint32) {
	s.marked = s.now
	if s.next.IsZero() {
		return
	}
	m := message{kind: k, count: count, reach: reach}
	if s.link.bound {
		m.bound, m.token, m.hop = true, s.link.token, s.link.hop
	}
	s.do(policy.Action{Kind: policy.Tell, To: s.next, Field: s.field(m.append)})
}

// message handles what another agent says, or keeps it until its time has come.
func (s *step) message(e *policy.Event) {
	m, ok := parse(e.Body)
	if !ok || s.alg == S {
		return
	}
	m.count, m.reach = min(m.count, uint32(s.n)), min(m.reach, s.reach())
	if s.taken(&m) || !s.hold(s.now, e.From, &m) {
		s.requested(&m)
	}
}

// news is the last repeated request that went on from here.
type news struct {
	at    clock.Instant
	reach uint32 // how far that goes
}

// requested handles requests in their turn.
func (s *step) requested(m *message) {
	if m.kind == repeat && !s.station.holds() && !s.through(m.reach) {
		return
	}
	if m.kind == wake && s.station.holds() {
		s.tour()
		return
	}
	s.age()
	sent := uint32(0)
	for range s.distinct(m.count) {
		out := s.station.Request(s.n)
		if out.Request {
			sent++
			continue
		}
		s.apply(out, 0)
	}
	s.prepare()
	if sent > 0 && m.reach > 1 {
		s.tell(m.kind, sent, m.reach-1)
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
func (s *step) through(reach uint32) bool {
	if s.alg == Q {
		return true
	}
	if n := &s.repeated; reach <= n.reach && s.now < n.at.Add(s.requestTimeout/2) {
		return false
	}
	s.repeated = news{s.now, reach}
	s.station.forget()
	return true
}

// neighbour goes on with another successor: whatever the last one was told may be
// lost. So it is told of a request, whether anybody waits or not, which sends the
// token around: if there are two because the ring was in parts, they meet.
func (s *step) neighbour(next ident.Member, members int) {
	before, first := s.next, !s.told
	s.told, s.next, s.n = true, next, 1
	if !next.IsZero() {
		s.n = min(max(members, 2), policy.MaxMembers)
	}
	if next == before {
		return
	}
	s.link = message{}
	if first || next.IsZero() {
		return
	}
	if s.station.Inside() {
		s.prepared = ident.Member{}
	}
	s.due = clock.Never
	if s.alg != S {
		s.station.forget()
		s.requested(&message{kind: wake, count: 1, reach: s.reach()})
		return
	}
	s.apply(s.station.proceed(s.n), s.skip)
	s.prepare()
}
