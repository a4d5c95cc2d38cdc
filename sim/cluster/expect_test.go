package cluster

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/effect"
)

func isSend(o op, kind string) bool {
	send, ok := o.effect.(effect.Send)
	return ok && send.Message.Type().String() == kind
}

// expect checks one of:
//
//	held TOKEN HOP MEMBER        the journals say that the member has custody
//	under-way TOKEN MEMBER       it was sent there, and not taken
//	dropped TOKEN, lost TOKEN WHY
//	no-findings                  the journals show no broken rule
//	findings KIND…               they show these, and no others
//	breach TEXT                  the guard has seen this, as it must
//	unchanged MEMBER…            no record since mark
//	in-doubt MEMBER N            transfers that wait for their answer
//	running MEMBER, idle MEMBER  a program runs there, or none
//	evidence MEMBER N            accusations in its journal
//	rejected MEMBER REASON       it has counted such a message
func (s *script) expect(words []string) string {
	what, rest := words[0], words[1:]
	switch what {
	case "held":
		t, _ := s.fate(rest[0])
		return differ(fmt.Sprintf("%v at hop %s by %s", audit.Held, rest[1], rest[2]),
			fmt.Sprintf("%v at hop %d by %s", t.Fate, t.Hop, s.c.name(t.Last)))
	case "under-way":
		t, _ := s.fate(rest[0])
		return differ(fmt.Sprintf("%v to %s", audit.UnderWay, rest[1]), fmt.Sprintf("%v to %s", t.Fate, s.c.name(t.To)))
	case "dropped":
		t, _ := s.fate(rest[0])
		return differ(audit.Dropped.String(), t.Fate.String())
	case "lost":
		t, _ := s.fate(rest[0])
		why := map[string]audit.Fate{"holder": audit.LostHolder, "receiver": audit.LostReceiver, "orphan": audit.LostOrphan}[rest[1]]
		return differ(why.String(), t.Fate.String())
	case "no-findings":
		return s.findings(nil)
	case "findings":
		return s.findings(rest)
	case "breach":
		return s.breach(strings.Join(rest, " "))
	}
	return s.expectOf(what, s.node(rest[0]), rest)
}

func (s *script) expectOf(what string, n *node, rest []string) string {
	switch what {
	case "unchanged":
		for _, name := range rest {
			if grown := len(s.node(name).disk.history) - s.mark[name]; grown != 0 {
				return fmt.Sprintf("%s has written %d records", name, grown)
			}
		}
		return ""
	case "in-doubt":
		return differ(rest[1], strconv.Itoa(n.member.Status().InDoubt))
	case "running":
		return differ(rest[0], s.runs(n))
	case "idle":
		return differ("", s.runs(n))
	case "evidence":
		return differ(rest[1], strconv.Itoa(int(n.member.Status().Handoffs.Evidence)))
	case "rejected":
		reason := rest[1]
		for _, w := range rest[2:] {
			reason += " " + w
		}
		if n.member.Status().Rejected[reason] == 0 {
			return fmt.Sprintf("none: %v", n.member.Status().Rejected)
		}
		return ""
	}
	return "unknown expectation " + what
}

// breach takes what the guard has seen off its list.
func (s *script) breach(text string) string {
	for i, v := range s.c.violations {
		if strings.Contains(v.Detail, text) {
			s.c.violations = slices.Delete(s.c.violations, i, i+1)
			return ""
		}
	}
	return fmt.Sprintf("the guard has seen %q", s.c.violations)
}

// runs is the member's name if a program runs there.
func (s *script) runs(n *node) string {
	for _, p := range s.c.running {
		if p.node == n {
			return n.label()
		}
	}
	return ""
}

func (s *script) findings(kinds []string) string {
	names := map[string]audit.Kind{
		"overlap": audit.Overlap, "fork": audit.Fork, "twice": audit.Twice, "revived": audit.Revived, "misfit": audit.Misfit,
		"vanished": audit.Vanished, "unsent": audit.Unsent, "unheld": audit.Unheld,
	}
	wanted := make(map[audit.Kind]bool)
	for _, k := range kinds {
		wanted[names[k]] = true
	}
	report := audit.Check(s.c.group.ID(), s.c.journals(), audit.Options{})
	for _, f := range report.Findings {
		if !wanted[f.Kind] {
			return f.String()
		}
	}
	for k := range wanted {
		if report.Count(k) == 0 {
			return "not found: " + string(k)
		}
	}
	return ""
}

func differ(want, got string) string {
	if want == got {
		return ""
	}
	return fmt.Sprintf("wanted %q, is %q", want, got)
}
