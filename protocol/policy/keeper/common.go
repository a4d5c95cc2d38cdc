package keeper

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// common is what all parts of a Keeper share: the step in progress, the other members, and
// what the step sends and does.
type common struct {
	peers
	outbox
}

// outbox collects what one step does.
type outbox struct {
	self    ident.Member
	actions []policy.Action
	bodies  []byte    // of the messages among the actions
	toSelf  []message // from this member to itself
}

// begin empties the outbox for a new step, whose actions are appended to a list.
func (o *outbox) begin(actions []policy.Action) { o.actions, o.bodies = actions, o.bodies[:0] }

func (o *outbox) do(a policy.Action) { o.actions = append(o.actions, a) }

// next takes the first message of this member to itself.
func (o *outbox) next() (m message, ok bool) {
	if len(o.toSelf) == 0 {
		return m, false
	}
	m = o.toSelf[0]
	o.toSelf = append(o.toSelf[:0], o.toSelf[1:]...)
	return m, true
}

// send sends a message to one member. A message to this member itself is handled at the end of
// the step. A message to the zero member is not sent.
func (o *outbox) send(to ident.Member, m *message) {
	switch {
	case to.IsZero():
	case to == o.self:
		o.toSelf = append(o.toSelf, *m)
	default:
		start := len(o.bodies)
		o.bodies = m.append(o.bodies)
		o.do(policy.Action{Kind: policy.Tell, To: to, Field: o.bodies[start:len(o.bodies):len(o.bodies)]})
	}
}

// question sends a message to many members. The driver may have to dial some of them first.
func (o *outbox) question(list members, m *message) {
	first := len(o.actions)
	for _, to := range list {
		o.send(to, m)
	}
	for i := range o.actions[first:] {
		o.actions[first+i].Question = true
	}
}

// complain has the driver write down that this member begins to act against m, because of a
// custody (P-82). Each caller complains where a back-off is new. Back-offs from one member double
// up to maxBackoff, so the journal gets few complaints, and one a day in the end.
func (o *outbox) complain(m ident.Member, of custody, measure policy.Measure, cause policy.Cause) {
	o.do(policy.Action{Kind: policy.Complain, To: m, Token: of.token, Hop: of.hop, Measure: measure, Cause: cause})
}

// setting is what a Keeper was made with, and the instant of the step.
type setting struct {
	spans
	self, slot ident.Member
	exclusive  bool // the policy aims at one program at a time
	atOnce     bool // a lost token is replaced while its holder's program may still run
	forgetful  bool // an earlier process of this member may have left programs that this one does not know
	young      bool // no policy of this member has worked for the slot before
	health     func() int
	start      clock.Instant // of this Keeper
	now        clock.Instant
}

// timeout is how long this member waits for an answer that others wait for as long as usual. A
// member whose own driver runs late waits longer (the health multiplier).
func (s *setting) timeout(usual time.Duration) time.Duration {
	return usual * time.Duration(s.health())
}

// isYoung reports whether this member has begun so lately that it may not have heard yet of
// a token that others use.
func (s *setting) isYoung() bool { return s.young && s.now < s.start.Add(s.hold+s.silence) }

// forgets reports whether an earlier process of this member may have made a token in place of
// the one that another member asks about. A program may still run under it.
func (s *setting) forgets(from ident.Member) bool {
	return s.forgetful && from != s.self && s.now < s.start.Add(s.hold)
}

// mayMove reports whether a token can still be in transit that its sender has been passing on for a
// span, as the sender says.
func (s *setting) mayMove(ms uint32) bool { return ms > 0 && span(ms) < s.silence }
