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

// usage is when programs ran.
type usage []ran

// add remembers that a program was there until now. It has been remembered already what
// was before its machine was suspended or woke up.
func (u *usage) add(p *program, now time.Duration) {
	n := p.node
	since := p.since
	if n.asleep {
		since = n.sleptAt
	}
	*u = append(*u, ran{n.id, p.resource, since, now, n.asleep || since >= p.deadline})
}

// overlap is for how many µs more than one program used a resource, with what is
// doubtful or without.
func (u usage) overlap(resource string, doubtful bool) uint64 {
	type edge struct {
		at    time.Duration
		delta int
	}
	var edges []edge
	for _, r := range u {
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

// account holds an audit's account of overlap, from the journals as they are on
// the disks, against what truly ran: certain ≤ truth ≤ possible for each resource.
//
// No journal says that a machine was suspended, and a program that was is seen before
// and after. It therefore need not be in what is possible, and may be in what is
// certain. Clocks that were set, and members that lied, are outside of what an audit
// claims.
func (j judges) account() {
	if j.c.hazards.kinds[faultClock].happened > 0 || len(j.c.tainted) > 0 || j.c.lean || j.c.bug != NoBug {
		return
	}
	for _, p := range j.c.running {
		j.c.ran.add(p, j.c.now)
	}
	account := make(map[string]audit.Overlaps)
	for _, r := range j.examine().Resources {
		account[r.Name] = r.Overlap
	}
	for _, r := range j.c.resources {
		o := account[r.Name]
		if truth := j.c.ran.overlap(r.Name, true); o.Certain > truth {
			j.c.violate(Exclusion, "certain", fmt.Sprintf("operations of %s overlapped for %d µs, the audit calls %d µs certain", r.Name, truth, o.Certain))
		}
		if truth := j.c.ran.overlap(r.Name, false); o.Possible < truth && j.c.nodes.durable() {
			j.c.violate(Exclusion, "possible", fmt.Sprintf("operations of %s overlapped for %d µs, the audit calls %d µs possible", r.Name, truth, o.Possible))
		}
	}
}

// examine is an audit of the journals on all disks.
func (j judges) examine() *audit.Report {
	var known group.Extra
	for _, n := range j.c.nodes {
		known.Certificates = append(known.Certificates, n.certificate.Raw())
	}
	trust := audit.NewTrust(j.c.group, known)
	trust.Settle()
	a := audit.New(j.c.group.ID(), audit.Options{Trust: trust, Skew: uint64(clockAllowance.Microseconds())})
	for _, n := range j.c.nodes {
		r := a.Journal(n.id)
		r.Segment(true)
		for i, body := range n.disk.written {
			r.Frame(journal.Frame{Type: journal.FrameRecord, Seq: uint64(i + 1), Body: body})
		}
	}
	return a.Report()
}
