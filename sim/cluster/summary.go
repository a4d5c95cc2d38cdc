package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

// Tally is what was counted in a run, or in many, by name.
type Tally map[string]int

// tallied are the names of a tally, in the order of a table; those of the faults
// stand for themselves.
var tallied = slices.Concat([]string{"runs", "virtual_s", "members", "faults"}, faultNames[:], []string{
	"restarts", "checkpoints", "connections_broken", "messages", "messages_lost", "messages_repeated", "messages_late",
	"handoffs", "transfers_sent_again", "transfers_reclaimed", "operations", "operations_together", "tokens", "tokens_dropped",
	"lost_with_holder", "lost_with_receiver", "orphaned", "lost_otherwise", "forks", "convictions",
	"fence_refused_late", "fence_refused_rightful", "fence_locked_out",
}, prefixed("broken_", ruleNames[:]))

func prefixed(prefix string, names []string) (list []string) {
	for _, n := range names {
		list = append(list, prefix+n)
	}
	return list
}

// tally is what was counted in this run. Losses, repetitions and late arrivals of
// messages are no faults in "faults", but have their own numbers.
func (r *Result) tally() Tally {
	t := Tally{
		"runs": 1, "virtual_s": int(r.Virtual / time.Second), "members": r.Members, "faults": r.injected(),
		"restarts": r.Restarts, "checkpoints": r.Checkpoints, "connections_broken": r.Broken,
		"messages": r.Messages, "messages_lost": r.Lost, "messages_repeated": r.Repeated, "messages_late": r.Late,
		"handoffs":             r.Handoffs,
		"transfers_sent_again": max(0, r.Sent[wire.TypeTransfer]-r.Records[journal.KindSent]),
		"transfers_reclaimed":  r.Records[journal.KindReclaimed], "operations": r.Grants, "operations_together": r.Together, "tokens": r.Tokens,
		"tokens_dropped": r.Fates[audit.Dropped], "lost_with_holder": r.Fates[audit.LostHolder],
		"lost_with_receiver": r.Fates[audit.LostReceiver], "orphaned": r.Fates[audit.LostOrphan],
		"lost_otherwise": r.Fates[audit.LostUnknown], "forks": r.Forks, "convictions": r.Convictions,
		"fence_refused_late": r.RefusedLate, "fence_refused_rightful": r.RefusedRightful, "fence_locked_out": r.LockedOut,
	}
	for kind, n := range r.Faults {
		t[fault(kind).String()] = n
	}
	for rule, n := range r.verdicts() {
		t["broken_"+Rule(rule).String()] = n
	}
	return t
}

// Add adds another tally.
func (t Tally) Add(o Tally) {
	for name, n := range o {
		t[name] += n
	}
}

// Summary adds up runs, by their members' mix. The zero value is empty.
type Summary struct {
	Failed []string // settings, in the order in which they were added
	mixes  [mixes]Tally
}

// AddResult adds what a run has shown.
func (s *Summary) AddResult(r *Result) { must(s.AddLine(NewLine(r))) }

// All is the sum over all mixes.
func (s *Summary) All() Tally {
	all := make(Tally)
	for _, t := range s.mixes {
		all.Add(t)
	}
	return all
}

// String is the table. What is zero everywhere is left out, but for broken rules.
func (s *Summary) String() string {
	var b strings.Builder
	all := s.All()
	row := func(first string, cell func(Tally) string) {
		fmt.Fprintf(&b, "%-28s", first)
		for _, t := range s.mixes {
			fmt.Fprintf(&b, "%14s", cell(t))
		}
		fmt.Fprintf(&b, "%14s\n", cell(all))
	}
	fmt.Fprintf(&b, "%-28s", "")
	for m := range mixes {
		fmt.Fprintf(&b, "%14s", m)
	}
	fmt.Fprintf(&b, "%14s\n", "all")
	row("virtual hours", func(t Tally) string { return fmt.Sprintf("%.1f", float64(t["virtual_s"])/3600) })
	for _, name := range tallied {
		if name != "virtual_s" && (all[name] > 0 || strings.HasPrefix(name, "broken_")) {
			row(strings.ReplaceAll(name, "_", " "), func(t Tally) string { return fmt.Sprint(t[name]) })
		}
	}
	return b.String()
}

// unknown are the names in a tally that no table knows: of another version's file.
func (t Tally) unknown() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(t)), func(n string) bool { return slices.Contains(tallied, n) })
}
