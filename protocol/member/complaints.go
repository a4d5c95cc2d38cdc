package member

import (
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
)

// complaints writes down against whom this member acts.
type complaints struct {
	*core
	budget budget
}

// write writes down, signed, that this member begins to act against another one (P-82). Nothing depends on the
// record: it is for auditors, and may be lost in a crash.
func (c *complaints) write(s *slot, a *policy.Action) {
	if !c.budget.spend(c.now.Boot, complaintRate, complaintBurst) {
		return
	}
	complaint, err := token.ComplaintBody{
		Resource: s.key.resource, Slot: s.key.number, Signer: c.self, Accused: a.To, Token: a.Token, Hop: a.Hop,
		Measure: uint64(a.Measure), Cause: uint64(a.Cause), Time: c.now.Millis(),
	}.Sign(c.cfg.Group.ID(), c.cfg.Key)
	if err != nil { // the policy names nobody, or this member
		c.reject("complaint not signed")
		return
	}
	c.persist(&journal.Complained{Complaint: complaint.Raw()}, false)
}
