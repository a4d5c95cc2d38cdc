package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

const (
	// maxAccused bounds the members without a certificate at hand about which complaints are summed up: as many as
	// findings of one kind are kept. A complaint can name a member that does not exist.
	maxAccused = maxPerKind
	// maxTokens is how many tokens, and records of strikes, are listed of the complaints about one member: enough
	// to look at.
	maxTokens = 8
)

// Complaints are all complaints about one member in the journals, each counted
// once. They prove nothing about that member: each shows only what its signer
// says.
type Complaints struct {
	About       ident.Member
	Count       int
	By          []ident.Member // members that complain, by id
	Struck      []ident.Member // those of By that have struck it, by id
	First, Last uint64         // when, by the clocks of those that complain
	Measures    map[policy.Measure]int
	Causes      map[policy.Cause]int
	Resources   []string      // by name
	Tokens      []ident.Token // at most eight, in the order in which they were read

	by, struck    map[ident.Member]bool
	strikes       int
	strikesFirst  uint64
	strikesLast   uint64
	strikeCauses  map[policy.Cause]int
	strikeRecords []RecordRef
}

// complained takes in a complaint, if it holds and its signer was an eligible member. One of a member that
// was revoked since counts for nothing: it may have made up the time.
func (r *cursor) complained(objects []object) {
	o := pick(objects, envelope.Complaint)
	switch {
	case o == nil && r.partial():
		r.find(Misfit, ident.Token{}, 0, "no complaint", r.member)
		return
	case o == nil || o.verdict != genuine || r.others[o.print]:
		return
	}
	r.others[o.print] = true
	b := o.complaint
	if b.Signer != r.member {
		r.find(Misfit, b.Token, b.Hop, "complaint of another member", r.member)
	}
	at := fromMillis(b.Time)
	good := r.signedAt(b.Signer, b.Time, b.Token, b.Hop)
	switch {
	case r.Resource != "" && b.Resource != r.Resource, !r.asked(ident.Token{}, at, at):
		return
	case !good || r.trust.members[b.Signer].revoked > 0:
		r.report.Disregarded++
		return
	}
	c := r.accused[b.Accused]
	if c == nil {
		if len(r.accused) >= maxAccused && r.trust.members[b.Accused] == nil {
			r.report.Disregarded++
			return
		}
		c = &Complaints{
			About: b.Accused, First: at, Measures: make(map[policy.Measure]int), Causes: make(map[policy.Cause]int),
			by: make(map[ident.Member]bool), struck: make(map[ident.Member]bool), strikeCauses: make(map[policy.Cause]int),
		}
		r.accused[b.Accused] = c
	}
	c.Count++
	c.by[b.Signer] = true
	c.First, c.Last = min(c.First, at), max(c.Last, at)
	c.Measures[policy.Measure(b.Measure)]++
	c.Causes[policy.Cause(b.Cause)]++
	if !slices.Contains(c.Resources, b.Resource) && len(c.Resources) < maxTokens {
		c.Resources = append(c.Resources, b.Resource)
	}
	if !slices.Contains(c.Tokens, b.Token) && len(c.Tokens) < maxTokens {
		c.Tokens = append(c.Tokens, b.Token)
	}
	if policy.Measure(b.Measure) == policy.Struck {
		c.strikesAt(b.Signer, at, policy.Cause(b.Cause), r.ref())
	}
}

// strikesAt counts one strike.
func (c *Complaints) strikesAt(by ident.Member, at uint64, cause policy.Cause, in RecordRef) {
	if c.strikes == 0 {
		c.strikesFirst = at
	}
	if !c.struck[by] && len(c.strikeRecords) < maxTokens {
		c.strikeRecords = append(c.strikeRecords, in)
	}
	c.strikes++
	c.struck[by] = true
	c.strikesFirst, c.strikesLast = min(c.strikesFirst, at), max(c.strikesLast, at)
	c.strikeCauses[cause]++
}

// sumComplaints lists the complaints by the member that they are about, those of the most members first. A strike is
// a finding, one for each member that is struck: somebody breaks the rules (Struck). The finding names no token: what is
// said of a token says nothing of its custodies.
func (j *judge) sumComplaints() {
	for _, c := range j.accused {
		c.By, c.Struck = sortedMembers(c.by), sortedMembers(c.struck)
		slices.Sort(c.Resources)
		j.report.Complaints = append(j.report.Complaints, *c)
	}
	slices.SortFunc(j.report.Complaints, func(x, y Complaints) int {
		return cmp.Or(cmp.Compare(len(y.By), len(x.By)), x.About.Compare(y.About))
	})
	for _, c := range j.report.Complaints {
		if c.strikes == 0 {
			continue
		}
		j.add(Finding{
			Kind: Struck, Members: append([]ident.Member{c.About}, c.Struck...), At: c.strikesFirst, Records: c.strikeRecords,
			Again: c.strikes - 1, Detail: fmt.Sprintf("the first one was struck, the last time at %s, by the others: %s", stamp(c.strikesLast/1000), countCauses(c.strikeCauses)),
		})
	}
}

// countCauses is how often each cause was given.
func countCauses(counts map[policy.Cause]int) string {
	var list []string
	for _, cause := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("%v %d", cause, counts[cause]))
	}
	return strings.Join(list, ", ")
}
