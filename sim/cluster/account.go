package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// ran is when a program ran, or was there without running.
type ran struct {
	member   ident.Member
	resource string
	from, to time.Duration
	doubtful bool // its machine was suspended, or woke up after the program's deadline
}

// ended remembers that a program was there until now. It has remembered already what
// was before its machine was suspended or woke up.
func (c *cluster) ended(p *program) {
	n := p.node
	since := p.since
	if n.asleep {
		since = n.sleptAt
	}
	c.ran = append(c.ran, ran{n.id, p.resource, since, c.now, n.asleep || since >= p.deadline})
}

// judgeAccount holds an audit's account of overlap, from the journals as they are on
// the disks, against what truly ran: certain ≤ truth ≤ possible for each resource.
//
// No journal says that a machine was suspended, and a program that was is seen before
// and after. It therefore need not be in what is possible, and may be in what is
// certain. Clocks that were set, and members that lied, are outside of what an audit
// claims.
func (c *cluster) judgeAccount() {
	if c.hazards[Clock].happened > 0 || len(c.tainted) > 0 || c.lean || c.bug != NoBug {
		return
	}
	for _, p := range c.running {
		c.ended(p)
	}
	account := make(map[string]audit.Overlaps)
	for _, r := range c.examine().Resources {
		account[r.Name] = r.Overlap
	}
	for _, r := range c.resources {
		o := account[r.Name]
		if truth := c.truth(r.Name, true); o.Certain > truth {
			c.violate(Exclusion, "certain", fmt.Sprintf("operations of %s overlapped for %d µs, the audit calls %d µs certain", r.Name, truth, o.Certain))
		}
		if truth := c.truth(r.Name, false); o.Possible < truth && c.durableOnly() {
			c.violate(Exclusion, "possible", fmt.Sprintf("operations of %s overlapped for %d µs, the audit calls %d µs possible", r.Name, truth, o.Possible))
		}
	}
}

// examine is an audit of the journals on all disks.
func (c *cluster) examine() *audit.Report {
	var known group.Extra
	for _, n := range c.nodes {
		known.Certificates = append(known.Certificates, n.certificate.Raw())
	}
	trust := audit.NewTrust(c.group, known)
	trust.Settle()
	a := audit.New(c.group.ID(), audit.Options{Trust: trust, Skew: uint64(clockAllowance.Microseconds())})
	for _, n := range c.nodes {
		r := a.Journal(n.id)
		r.Segment(true)
		for i, body := range n.disk.written {
			r.Frame(journal.Frame{Type: journal.FrameRecord, Seq: uint64(i + 1), Body: body})
		}
	}
	return a.Report()
}

// truth is for how many µs more than one program used a resource, with what is
// doubtful or without.
func (c *cluster) truth(resource string, doubtful bool) uint64 {
	type edge struct {
		at    time.Duration
		delta int
	}
	var edges []edge
	for _, r := range c.ran {
		if r.resource == resource && (doubtful || !r.doubtful) {
			edges = append(edges, edge{r.from, 1}, edge{r.to, -1})
		}
	}
	slices.SortFunc(edges, func(x, y edge) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.delta, y.delta)) })
	total, running, since := time.Duration(0), 0, time.Duration(0)
	for _, e := range edges {
		if running > 1 {
			total += e.at - since
		}
		running, since = running+e.delta, e.at
	}
	return uint64(total.Microseconds())
}
