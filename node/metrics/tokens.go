package metrics

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
)

// The ends of a handoff, as values of the label result.
const (
	resultDelivered = "delivered" // the receiver has taken the token
	resultReturned  = "returned"  // declined, or nobody could be asked
	resultAbandoned = "abandoned" // nobody knows: a volatile member stopped asking
)

var results = []string{resultDelivered, resultReturned, resultAbandoned}

// maxObservations bounds the tokens of a slot that are told apart. Usually there is
// one; a policy that keeps many has many "duplicates" anyway.
const maxObservations = 16

type slotKey struct {
	resource string
	number   uint64
}

// slotWatch is what is remembered of a slot to tell what its tokens do.
type slotWatch struct {
	resource *resource
	asked    bool          // the policy has asked for a token to be made
	arrived  clock.Instant // when a token last came
	ever     bool          // one ever came
	seen     []observation // the last one to come is last
}

// observation is what is remembered of a token.
type observation struct {
	token   ident.Token
	hop     uint64
	here    bool          // and nobody else is known to have taken it
	passing bool          // the policy has released it
	letGo   clock.Instant // at this time
}

// Watch returns an observer that counts what tokens do, from what policies are
// told and answer, and tells next, which may be nil.
func (m *Metrics) Watch(next member.Observer) member.Observer {
	if m == nil {
		return next
	}
	m.next = next
	return (*watch)(m)
}

// watch is the metrics as the member sees them. It is called by who steps the
// member, and by nobody else at the same time.
type watch Metrics

// PolicyMade implements member.Observer.
func (w *watch) PolicyMade(name string, slot uint64, kind string, p policy.Params, seed [32]byte) {
	m := (*Metrics)(w)
	r := m.configured(name, slot)
	if k := (slotKey{name, slot}); m.slots[k] == nil {
		m.slots[k] = &slotWatch{resource: r}
	}
	if m.next != nil {
		m.next.PolicyMade(name, slot, kind, p, seed)
	}
}

// PolicyStepped implements member.Observer.
func (w *watch) PolicyStepped(name string, slot uint64, now clock.Instant, event policy.Event, answer []policy.Action) {
	m := (*Metrics)(w)
	if s := m.slots[slotKey{name, slot}]; s != nil {
		m.event(s, now, &event)
		for i := range answer {
			m.action(s, name, now, &answer[i])
		}
	}
	if m.next != nil {
		m.next.PolicyStepped(name, slot, now, event, answer)
	}
}

// PolicyAsked implements member.Observer.
func (w *watch) PolicyAsked(name string, slot uint64, asked policy.Asked) {
	if m := (*Metrics)(w); m.next != nil {
		m.next.PolicyAsked(name, slot, asked)
	}
}

// Dropped implements member.Observer.
func (w *watch) Dropped(name string, slot uint64, token ident.Token, reason policy.DropReason) {
	m := (*Metrics)(w)
	if s := m.slots[slotKey{name, slot}]; s != nil {
		if t := s.find(token); t != nil {
			t.here = false
		}
		m.dropped.WithLabelValues(name, reason.String()).Inc()
	}
	if m.next != nil {
		m.next.Dropped(name, slot, token, reason)
	}
}

func (m *Metrics) event(s *slotWatch, now clock.Instant, e *policy.Event) {
	switch e.Kind {
	case policy.Recalled:
		s.sight(e.Token, false)
	case policy.Resumed:
		s.sight(e.Token, true)
	case policy.Generated:
		if s.asked {
			s.resource.regenerated.Inc()
		}
		s.asked = false
		s.arrived, s.ever = now, true
		s.sight(e.Token, true)
	case policy.Arrival:
		s.arrive(now, e.Token)
	case policy.PassEnded:
		m.settled(s, now, e)
	case policy.Message:
		s.resource.heard.Inc()
	}
}

func (m *Metrics) action(s *slotWatch, name string, now clock.Instant, a *policy.Action) {
	if a.Kind == policy.Generate {
		s.asked = true
		return
	}
	t := s.find(a.Token)
	if t == nil || !t.here {
		return
	}
	switch {
	case a.Kind == policy.Pass && !t.passing:
		t.passing, t.letGo = true, now
	case a.Kind == policy.Drop:
		t.here = false
		m.dropped.WithLabelValues(name, a.Reason.String()).Inc()
	}
}

// arrive notes a token that came from another member.
func (s *slotWatch) arrive(now clock.Instant, t policy.Token) {
	s.resource.received.Inc()
	if s.ever {
		s.resource.returned.Observe(now.Sub(s.arrived).Seconds())
	}
	s.arrived, s.ever = now, true
	if s.proves(t.ID) {
		s.resource.duplicates.Inc()
	}
	if old := s.find(t.ID); old != nil && old.here {
		s.resource.sent.Inc() // it is back before its receipt
	}
	s.sight(t, true)
}

// proves reports whether the coming of a token proves that another one of the
// slot is in circulation: one is here, or came since this one was here last.
func (s *slotWatch) proves(t ident.Token) bool {
	since := false
	for i := range s.seen {
		switch {
		case s.seen[i].token == t:
			since = true
		case since || s.seen[i].here:
			return true
		}
	}
	return false
}

// settled notes the end of a handoff. One of a hop that was long ago came to its
// end when the token was back.
func (m *Metrics) settled(s *slotWatch, now clock.Instant, e *policy.Event) {
	t := s.find(e.Token.ID)
	if t == nil || e.Outcome != policy.Returned && e.Token.Hop != t.hop {
		return
	}
	result := resultReturned
	switch e.Outcome {
	case policy.Delivered:
		result = resultDelivered
		s.resource.sent.Inc()
	case policy.Abandoned:
		result = resultAbandoned
	}
	if t.passing {
		m.handoff.WithLabelValues(result).Observe(now.Sub(t.letGo).Seconds())
	}
	t.hop, t.here, t.passing = e.Token.Hop, e.Outcome == policy.Returned, false
}

func (s *slotWatch) find(t ident.Token) *observation {
	for i := range s.seen {
		if s.seen[i].token == t {
			return &s.seen[i]
		}
	}
	return nil
}

// sight remembers a token as the last one that was seen.
func (s *slotWatch) sight(t policy.Token, here bool) {
	s.seen = slices.DeleteFunc(s.seen, func(old observation) bool { return old.token == t.ID })
	if len(s.seen) == maxObservations {
		s.seen = slices.Delete(s.seen, 0, 1)
	}
	s.seen = append(s.seen, observation{token: t.ID, hop: t.Hop, here: here})
}
