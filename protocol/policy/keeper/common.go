package keeper

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
)

// common is what all parts of a Keeper share: the step in progress, the other members, and
// what the step sends and does.
type common struct {
	peers
	toSelf []message // of this step, from this member to itself
}

// next takes the first message of this member to itself.
func (c *common) next() (m message, ok bool) {
	if len(c.toSelf) == 0 {
		return m, false
	}
	m = c.toSelf[0]
	c.toSelf = append(c.toSelf[:0], c.toSelf[1:]...)
	return m, true
}

// send sends a message to one member. A message to this member itself is handled at the end of
// the step. A message to the zero member is not sent.
func (c *common) send(to ident.Member, m *message) {
	switch {
	case to.IsZero():
	case to == c.self:
		c.toSelf = append(c.toSelf, *m)
	default:
		c.Tell(to, m.append)
	}
}

// question sends a message to many members. The driver may have to dial some of them first.
func (c *common) question(list members, m *message) {
	first := len(c.Answer())
	for _, to := range list {
		c.send(to, m)
	}
	for i := range c.Answer()[first:] {
		c.Answer()[first+i].Question = true
	}
}

// complain has the driver write down that this member begins to back off from m, because of a
// custody (P-82). Each caller complains where a back-off is new. Back-offs from one member double
// up to maxBackoff, so the journal gets few complaints, and one a day in the end.
func (c *common) complain(m ident.Member, b *backoffs, of custody, measure policy.Measure, cause policy.Cause) {
	c.Do(policy.Action{Kind: policy.Complain, To: m, Token: of.token, Hop: of.hop, Measure: measure, Cause: cause, Span: b.last(m, c.Now)})
}

// setting is what a Keeper was made with, and the step in progress.
type setting struct {
	host.Talker
	spans
	self, slot ident.Member
	exclusive  bool // the policy aims at one program at a time
	atOnce     bool // a lost token is replaced while its holder's program may still run
	forgetful  bool // an earlier process of this member may have left programs that this one does not know
	young      bool // no policy of this member has worked for the slot before
	health     func() int
	start      clock.Instant // of this Keeper
}

// timeout is how long this member waits for an answer that others wait for as long as usual. A
// member whose own driver runs late waits longer (the health multiplier).
func (s *setting) timeout(usual time.Duration) time.Duration {
	return usual * time.Duration(s.health())
}

// isYoung reports whether this member has begun so lately that it may not have heard yet of
// a token that others use.
func (s *setting) isYoung() bool { return s.young && s.Now < s.start.Add(s.hold+s.silence) }

// forgets reports whether an earlier process of this member may have made a token in place of
// the one that another member asks about. A program may still run under it.
func (s *setting) forgets(from ident.Member) bool {
	return s.forgetful && from != s.self && s.Now < s.start.Add(s.hold)
}

// mayMove reports whether a token can still be in transit that its sender has been passing on for a
// span, as the sender says.
func (s *setting) mayMove(ms uint32) bool { return ms > 0 && span(ms) < s.silence }
