package member

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

const (
	// complaintBurst is how many complaints a member writes down at once, and complaintRate how many a second
	// later: one a minute. Each member that gives cause doubles its next back-off, so that honest
	// members stay far below. Many liars together must not fill the journal, with 0.4 MB a day at most.
	complaintBurst = 64
	complaintRate  = 1. / 60

	// measuresKept is how many measures a slot remembers over a restart: what a policy acts by at once, of
	// three kinds. It is 60 kB of journal. Beyond it, the one that ends first is forgotten.
	measuresKept = 3 * complaintBurst

	// clockSlack is how far a clock may go back and still be one that is kept right: in small steps.
	clockSlack = time.Second
)

// measure is how this member acts against another one, as a slot's policy wants it, or did so a day ago at
// most.
type measure struct {
	accused   ident.Member
	what      policy.Measure
	span      time.Duration
	until     clock.Instant
	signed    uint64 // when it began, as the complaint says: ms since 1970
	complaint []byte
}

// began is when it began on the boot clock, which may be before the origin of that.
func (m *measure) began() clock.Instant { return m.until.Add(-m.span) }

// isOver reports whether it counts no more, not even for the length of the next one.
func (m *measure) isOver(now clock.Instant) bool { return now >= m.until.Add(policy.LongestMeasure) }

// replaces reports whether a later measure is in the place of this one. A member is given up by a short strike.
func (m *measure) replaces(o *measure) bool {
	kind := func(w policy.Measure) policy.Measure {
		if w == policy.GivenUp {
			return policy.Struck
		}
		return w
	}
	return m.accused == o.accused && kind(m.what) == kind(o.what)
}

// act remembers a measure in the place of an earlier one.
func (s *slot) act(m measure, now clock.Instant) {
	s.measures = slices.DeleteFunc(s.measures, func(o measure) bool { return m.replaces(&o) || o.isOver(now) })
	if len(s.measures) >= measuresKept {
		first := 0
		for i := range s.measures {
			if s.measures[i].until < s.measures[first].until {
				first = i
			}
		}
		s.measures = slices.Delete(s.measures, first, first+1)
	}
	s.measures = append(s.measures, m)
}

// complaints writes down against whom this member acts, and takes that up again after a restart.
type complaints struct {
	*core
	slots  *slotTable
	budget budget
}

// write writes down, signed, that this member begins to act against another one (P-82). The record may be lost in
// a crash: nothing was promised, and a member that gives cause again is found out again.
func (c *complaints) write(s *slot, a *policy.Action) {
	if !c.budget.spend(c.now.Boot, complaintRate, complaintBurst) {
		return
	}
	body := token.ComplaintBody{
		Resource: s.key.resource, Slot: s.key.number, Signer: c.self, Accused: a.To, Token: a.Token, Hop: a.Hop,
		Measure: uint64(a.Measure), Cause: uint64(a.Cause), Time: c.now.Millis(),
	}
	body.SetSpan(uint64(max(0, a.Span.Milliseconds())))
	complaint, err := body.Sign(c.cfg.Group.ID(), c.cfg.Key)
	if err != nil { // the policy names nobody, or this member
		c.reject("complaint not signed")
		return
	}
	if a.Span > 0 {
		s.act(measure{a.To, a.Measure, a.Span, c.now.Boot.Add(a.Span), body.Time, complaint.Raw()}, c.now.Boot)
	}
	c.persist(&journal.Complained{Complaint: complaint.Raw()}, false)
}

// recall takes up again what this member did against others before a restart (P-84), as far as its clock shows how
// long ago that was. A clock that has been set back since does not: nothing is taken up then, as nobody is to be
// acted against for longer than without the restart.
func (c *complaints) recall(past []journal.Stamped) {
	last := uint64(0) // the time of the record before, µs since 1970
	slack := uint64(clockSlack.Microseconds())
	for _, p := range past {
		if p.At+slack < last {
			c.forget()
		}
		last = p.At
		if r, ok := p.Record.(*journal.Complained); ok {
			c.recallOne(r.Complaint, p.At+slack)
		}
	}
	if c.now.Micros()+slack < last {
		c.forget()
	}
}

// forget forgets all measures.
func (c *complaints) forget() {
	for _, s := range c.slots.order {
		s.measures = nil
	}
}

// recallOne takes up one measure, which had begun by the time of its record, in µs since 1970.
func (c *complaints) recallOne(raw []byte, by uint64) {
	b, _, err := token.PeekComplaint(c.cfg.Group.ID(), raw)
	if err != nil || b.Signer != c.self || b.Span() == 0 || clock.Millis(b.Time) > time.Duration(by)*time.Microsecond {
		return
	}
	s := c.slots.byKey[slotKey{b.Resource, b.Slot}]
	if s == nil {
		return
	}
	ago := max(0, clock.FromMillis(c.now.Millis()).Sub(clock.FromMillis(b.Time)))
	span := min(clock.Millis(b.Span()), policy.LongestMeasure)
	m := measure{b.Accused, policy.Measure(b.Measure), span, c.now.Boot.Add(span - ago), b.Time, raw}
	if !m.isOver(c.now.Boot) {
		s.act(m, c.now.Boot)
	}
}

// resume tells a new policy how this member acts against others.
func (c *complaints) resume(s *slot, notify func(policy.Event)) {
	if _, ok := s.policy.(policy.Admitter); !ok {
		return
	}
	for i := range s.measures {
		if m := &s.measures[i]; !m.isOver(c.now.Boot) {
			notify(policy.Event{Kind: policy.Acted, From: m.accused, Measure: m.what, At: m.until, Span: m.span})
		}
	}
}

// records are the complaints that a checkpoint keeps. One is left out whose time the wall clock does not show any
// more, as it has been set back since.
func (c *complaints) records(s *slot) (list []journal.Record) {
	for i := range s.measures {
		m := &s.measures[i]
		shown := clock.FromMillis(c.now.Millis()).Sub(clock.FromMillis(m.signed))
		if !m.isOver(c.now.Boot) && shown+clockSlack >= c.now.Boot.Sub(m.began()) {
			list = append(list, &journal.Complained{Complaint: m.complaint})
		}
	}
	return list
}
