package cluster

import (
	"fmt"
	"slices"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// lies reports whether a member's driver does.
func (c *cluster) lies(id ident.Member) bool {
	return slices.ContainsFunc(c.byID[id], func(n *node) bool { return !n.isHonest() })
}

// blame lets the journals of the honest members convict whom they can, with all
// signatures verified: only liars, and all who forked a token and were found out.
func (j judges) blame() {
	if !slices.ContainsFunc(j.c.nodes, func(n *node) bool { return !n.isHonest() }) {
		return
	}
	convicted := make(map[ident.Member]bool)
	for _, f := range j.trial().Findings {
		if f.Accused.IsZero() {
			continue
		}
		j.c.count.convictions++
		convicted[f.Accused] = true
		if !j.c.lies(f.Accused) {
			j.c.violate(Blame, "convicted", fmt.Sprintf("member %s, who is honest, is convicted: %v", j.c.name(f.Accused), f))
		}
	}
	for id := range j.forkers() {
		if !convicted[id] {
			j.c.violate(Blame, "escaped", fmt.Sprintf("member %s signed two transfers of one hop that honest members took, and is not convicted", j.c.name(id)))
		}
	}
}

// trial is an audit of the honest members' journals as a stranger makes it.
func (j judges) trial() *audit.Report {
	var known group.Extra
	for _, n := range j.c.nodes {
		known.Certificates = append(known.Certificates, n.certificate.Raw())
	}
	trust := audit.NewTrust(j.c.group, known)
	trust.Settle()
	a := audit.New(j.c.group.ID(), audit.Options{Trust: trust})
	for _, n := range j.c.nodes {
		if !n.isHonest() {
			continue
		}
		d := disk{}
		for _, e := range n.disk.history {
			if e.Record == nil {
				continue
			}
			body, err := journal.Encode(e.At, e.Record)
			must(err)
			d.live = append(d.live, body)
		}
		r := a.Journal(n.id)
		r.Segment(true)
		must(d.frames(func(f journal.Frame) error { r.Frame(f); return nil }))
	}
	return a.Report()
}

// forkers are the liars who signed two transfers of one hop of which honest members
// took both.
func (j judges) forkers() map[ident.Member]bool {
	type signed struct {
		hop
		by ident.Member
	}
	first, list := make(map[signed]ident.Hash), make(map[ident.Member]bool)
	for _, n := range j.c.nodes {
		for _, e := range n.disk.history {
			r, ok := e.Record.(*journal.Held)
			if !ok || !n.isHonest() {
				continue
			}
			b, h, err := token.PeekTransfer(j.c.group.ID(), r.Transfer)
			must(err)
			key := signed{hop{b.Token, b.Hop}, b.From}
			if other, there := first[key]; there && other != h && j.c.lies(b.From) {
				list[b.From] = true
			}
			first[key] = h
		}
	}
	return list
}
