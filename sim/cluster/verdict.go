package cluster

import (
	"fmt"
	"strings"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

// Rule is what is judged: one verdict for each.
type Rule uint8

// The rules. Custody, Loss and Blame are judged from the journals alone, by
// protocol/audit.
const (
	// Custody: one member at a time, and records that follow from each other.
	Custody Rule = iota
	// Losses: only with the memory of a volatile member.
	Losses
	// Durability: nothing leaves that depends on a record that may be lost.
	Durability
	// Deadlines: no program runs longer than its grant.
	Deadlines
	// Exclusion: no two programs under one token; operations overlap as rarely as
	// the planner says, and for as long as an audit says.
	Exclusion
	// Fairness: nobody who is there waits for a token longer than chance explains.
	Fairness
	// Liveness: when the faults are over, tokens move and transfers are answered.
	Liveness
	// Waiting: then no token is made, and while somebody wants to run, somebody does, also
	// when members have died.
	Waiting
	// Agreement: then all know the same of the group.
	Agreement
	// Blame: honest members are accused of nothing, liars of what they did.
	Blame
	// Machinery: members start, end and report as they should, and their invariants hold
	// after each step.
	Machinery
	rules
)

var ruleNames = [rules]string{
	"custody", "losses", "durability", "deadlines", "exclusion", "fairness", "liveness", "waiting", "agreement", "blame", "machinery",
}

func (r Rule) String() string { return ruleNames[r] }

// Violation is one broken rule.
type Violation struct {
	Rule Rule
	// What is the same for all violations of one kind, whoever it was and when.
	What   string
	Detail string
}

func (v Violation) String() string { return fmt.Sprintf("%v: %s", v.Rule, v.Detail) }

// isLike reports whether two violations are of one kind.
func (v Violation) isLike(o Violation) bool { return v.Rule == o.Rule && v.What == o.What }

// verdicts are one for each rule: how often it was broken.
func (r *Result) verdicts() (list [rules]int) {
	for _, v := range r.Violations {
		list[v.Rule]++
	}
	return list
}

// gist is a text without its numbers and names.
func gist(text string) string {
	var words []string
	for word := range strings.FieldsSeq(text) {
		if len(word) > 2 && !strings.ContainsAny(word, "0123456789") {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

func (c *cluster) violate(rule Rule, what, detail string) {
	c.violations = append(c.violations, Violation{rule, what, detail})
}

// problem notes a rule that a member was seen to break.
func (c *cluster) problem(rule Rule, n *node, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if n != nil {
		text = "member " + n.name + ": " + text
	}
	c.violate(rule, gist(fmt.Sprintf(format, args...)), fmt.Sprintf("at %v: %s", c.now, text))
	c.log(n, "PROBLEM %s", text)
}

// breach notes what the guard has seen.
func (c *cluster) breach(n *node, err error) {
	if err != nil && !c.unguarded && n.isHonest() {
		c.problem(Durability, n, "%v", err)
	}
}

// judges hold what a run has left behind against the rules: journals, and when programs ran.
// What is broken is a violation of the cluster.
type judges struct{ c *cluster }

// journals reads the journals' verdict. A token that a liar has lied about is excepted
// from the rules, and nothing else.
func (j judges) journals(report *audit.Report) {
	for _, f := range report.Findings {
		if !j.c.tainted[f.Token] {
			j.c.violate(ruleOf(f.Kind), string(f.Kind), f.String())
		}
	}
	for _, t := range report.Tokens {
		if t.Fate.Lost() && j.c.nodes.durable() && !j.c.tainted[t.ID] {
			j.c.violate(Losses, t.Fate.String(), fmt.Sprintf("token %s of durable members: %v", t.ID.Short(), t.Fate))
		}
	}
	if n := j.c.count.untimely; n > 0 && len(j.c.forged) == 0 { // later tokens go on from the time of a forged one
		j.c.violate(Machinery, "untimely", fmt.Sprintf("%d tokens refused for the time of their genesis", n))
	}
	for _, n := range j.c.nodes {
		j.evidence(n)
		j.complaints(n)
	}
}

// evidence: nor does an honest member accuse another one.
func (j judges) evidence(n *node) {
	for _, e := range n.disk.history {
		if r, ok := e.Record.(*journal.Evidence); ok && n.isHonest() && !r.Accused.IsZero() && !j.c.lies(r.Accused) {
			j.c.violate(Blame, "evidence", fmt.Sprintf("member %s accuses %s, who is honest: %s", n.name, j.c.name(r.Accused), r.What))
		}
	}
}

// complaints checks that an honest member strikes no other one.
func (j judges) complaints(n *node) {
	for _, e := range n.disk.history {
		if r, ok := e.Record.(*journal.Complained); ok && n.isHonest() {
			j.complaint(n, r)
		}
	}
}

// deed is what a member does against another one, and why.
type deed struct {
	measure policy.Measure
	cause   policy.Cause
}

func (d deed) String() string { return fmt.Sprintf("%v (%v)", d.measure, d.cause) }

// complaint checks that an honest member strikes no other one, and returns what it does against an honest one, or nothing.
func (j judges) complaint(n *node, r *journal.Complained) (d deed) {
	b, _, err := token.PeekComplaint(j.c.group.ID(), r.Complaint)
	must(err)
	if j.c.lies(b.Accused) {
		return deed{}
	}
	d = deed{policy.Measure(b.Measure), policy.Cause(b.Cause)}
	if d.measure == policy.Struck {
		j.c.violate(Blame, "struck", fmt.Sprintf("member %s has struck %s, who is honest: %v", n.name, j.c.name(b.Accused), d.cause))
	}
	return d
}

// ruleOf is the rule that a finding is about.
func ruleOf(k audit.Kind) Rule {
	switch k {
	case audit.Vanished:
		return Losses
	case audit.Busy:
		return Deadlines
	}
	return Custody
}
