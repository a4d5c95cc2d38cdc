package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/member"
)

func membershipStatus(s member.Status) api.MembershipStatus {
	ms := api.MembershipStatus{
		RevocationVersion: s.Revocations, Behind: s.Behind, Snapshots: s.Snapshots,
		Exchanges: s.GossipExchanges, UpdatesPending: s.UpdatesPending, Suspects: s.Suspects,
		LateS: s.Late.Seconds(), Patience: s.Patience, Faults: []api.FaultStatus{},
	}
	for _, f := range s.Faults {
		ms.Faults = append(ms.Faults, api.FaultStatus{Member: f.Member, Count: f.Count, Stale: f.Stale, Last: f.Last})
	}
	return ms
}

const retiredKeyText = "the CA key that signed the certificate has been retired: other members refuse this member until it renews the certificate"

// warnings are what an operator should look at.
func (n *Node) warnings(s member.Status) []api.Warning {
	list := []api.Warning{}
	warn := func(c api.Cause, format string, args ...any) {
		list = append(list, api.Warning{Cause: c, Sentence: fmt.Sprintf(format, args...)})
	}
	if w := n.authority.warning(n.now().Wall); w != "" {
		warn(explain.CertificateEnds, "%s", w)
	}
	if n.authority.keyUse() == keyRetired {
		warn(explain.RetiredKey, retiredKeyText)
	}
	if s.Behind {
		warn(explain.Behind, "the CA has published a configuration or revocations that no peer has sent yet")
	}
	if s.Recalling {
		warn(explain.Recalling, "this member has restarted and waits for its peers to greet it: until then it neither uses nor accepts tokens")
	}
	if s.Rollbacks > 0 {
		warn(explain.WentBack, "the journal was restored to an earlier state, or a copy of this member runs: %s; this member has lost its earlier tokens: see the log, and docs/journal.md", s.LastLoss)
	}
	if s.Copies > 0 {
		warn(explain.CopyRuns, "another process runs, or ran, with this member's key: see docs/journal.md")
	}
	if s.Patience > 1 {
		warn(explain.Late, "this member runs at least %v late: its processor is overloaded, or it was stopped; it waits %d times as long before it suspects other members", s.Late.Round(100*time.Millisecond), s.Patience)
	}
	if s.NoPlace {
		warn(explain.NoPlace, "this member has no place on the ring, because more than half of the members only dial out: it gets no turns of resources "+
			"with policy ring; give this or other members an address that others can dial (listen.advertise), or use preset fair")
	}
	for _, f := range s.Faults {
		if f.Count > 0 {
			warn(explain.FaultyMember, "member %v sent %d faulty objects, the last: %s", f.Member, f.Count, f.Last)
		}
	}
	return append(list, n.programs.late.warnings(n.now().Wall)...)
}

// leaveNotice bounds how long a leaving node tries to tell the CA of it. Its
// peers know already, and one of them will.
const leaveNotice = 3 * time.Second

// Leave takes the grants of programs away, passes on what the member holds, as far as that goes within a few
// seconds, signs that it has departed, tells its peers and the CA, and
// ends the node. The key is dead permanently. Error: ErrUnavailable while a grant lasts across the restart of the machine: nobody could end
// that one afterwards.
func (n *Node) Leave(ctx context.Context) error {
	for _, r := range n.currentGroup().Config().Settings().Resources {
		var across []member.Across
		if n.engine.look(func(m *member.Member) { across = member.AcrossOf(m, r.Name) }); len(across) > 0 {
			return fmt.Errorf("%w: this member holds %s across the restart of its machine: wander release %s comes first", api.ErrUnavailable, r.Name, r.Name)
		}
	}
	n.passOn(ctx, shutdownWait)
	n.engine.do(member.Leave{})
	if err := n.Err(); err != nil {
		return err
	}
	n.log.Info("left the group; the key is not valid any more")
	notice, stop := context.WithTimeout(context.WithoutCancel(ctx), leaveNotice)
	defer stop()
	n.authority.tellLeave(notice)
	n.fail(fmt.Errorf("%w: %w", ErrClosed, ErrLeft))
	return nil
}

// Renew asks the CA for a newer certificate now, and puts it into force.
func (n *Node) Renew(ctx context.Context) (api.Renewal, error) {
	newer, err := n.authority.renew(ctx)
	c := n.authority.certificate()
	return api.Renewal{Serial: c.Body().Serial, Expires: c.Body().NotAfter, Newer: newer}, renewalError(err)
}

// renewalError gives the end of a renewal its reason for the local API.
func renewalError(err error) error {
	for _, final := range []error{enrolment.ErrRevoked, enrolment.ErrLeft, enrolment.ErrExpired} {
		if errors.Is(err, final) {
			return fmt.Errorf("%w: %w", api.ErrRevoked, err)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", api.ErrUnavailable, err)
	}
	return nil
}
