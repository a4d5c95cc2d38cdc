package node

import (
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/history"
	"github.com/wandertoken/wander/node/metrics"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
)

// historian keeps the node's history: it watches the policies, and looks at each beat at what is known of tokens
// elsewhere. It passes on to next, which may be nil.
type historian struct {
	log    *history.Log
	self   ident.Member
	engine *engine
	next   member.Observer
}

// History is what this member has heard of its tokens in the last hour, up to now.
func (n *Node) History() *history.Log {
	n.historian.look(boottime.Now())
	return n.historian.log
}

// look notes what is known now of tokens that are elsewhere.
func (h *historian) look(now clock.Instant) {
	h.engine.look(func(m *member.Member) {
		member.Observations(m, func(resource string, slot uint64, o policy.Observation) {
			h.log.Heard(history.Place{Resource: resource, Slot: slot}, o, howKnown(&o, h.self), now)
		})
	})
}

// PolicyMade implements member.Observer.
func (h *historian) PolicyMade(resource string, slot uint64, kind string, p policy.Params, seed [32]byte) {
	if h.next != nil {
		h.next.PolicyMade(resource, slot, kind, p, seed)
	}
}

// PolicyStepped implements member.Observer.
func (h *historian) PolicyStepped(resource string, slot uint64, now clock.Instant, e policy.Event, answer []policy.Action) {
	s := history.Sighting{Place: history.Place{Resource: resource, Slot: slot}, Token: e.Token.ID, Hop: e.Token.Hop, Holder: h.self, How: api.Here, By: h.self, At: now}
	switch {
	case e.Kind == policy.Arrival, e.Kind == policy.Generated, e.Kind == policy.Resumed:
		h.log.Saw(s)
	case e.Kind == policy.PassEnded && e.Outcome == policy.Delivered:
		s.Hop, s.Holder, s.How = s.Hop+1, e.From, api.Proved
		h.log.Saw(s)
	}
	if h.next != nil {
		h.next.PolicyStepped(resource, slot, now, e, answer)
	}
}

// PolicyAsked implements member.Observer.
func (h *historian) PolicyAsked(resource string, slot uint64, asked policy.Asked) {
	if h.next != nil {
		h.next.PolicyAsked(resource, slot, asked)
	}
}

// Dropped implements member.Observer.
func (h *historian) Dropped(resource string, slot uint64, token ident.Token, reason policy.DropReason) {
	if h.next != nil {
		h.next.Dropped(resource, slot, token, reason)
	}
}

// began notes a grant that is in force from now on. The function that it returns notes its end.
func (h *historian) began(g api.Grant, slot uint64, now clock.Instant) (ended func()) {
	if h == nil {
		return func() {}
	}
	at := history.Place{Resource: g.Resource, Slot: slot}
	h.log.Began(history.Operation{Place: at, Token: g.Token, Hop: g.Hop, Member: h.self, How: api.Here, By: h.self, Begun: now, EndsBy: g.DeadlineBoot})
	return func() { h.log.Ended(at, g.Token, boottime.Now()) }
}

// waited notes the end of a wait, of a resource of the group's configuration: a log of names that nobody has would be
// full for good. A demand that is refused has not waited.
func (h *historian) waited(resource string, asked clock.Instant, took time.Duration, how metrics.Request) {
	if h == nil || how == metrics.RequestRefused {
		return
	}
	known := false
	h.engine.look(func(m *member.Member) { _, known = m.Group().Config().Resource(resource) })
	if known {
		h.log.Waited(history.Wait{Resource: resource, Asked: asked, Answered: asked.Add(took), Outcome: string(how)})
	}
}
