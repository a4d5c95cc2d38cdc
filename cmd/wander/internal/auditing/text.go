package auditing

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/wandertoken/wander/internal/counted"
)

// maxShown is how many findings, losses and overlaps the text shows; JSON has
// more.
const maxShown = 20

// Text writes a view for an operator: the verdict first.
func (v View) Text(out io.Writer) error {
	w := new(strings.Builder)
	v.verdict(w)
	v.findings(w)
	v.losses(w)
	v.complaints(w)
	v.members(w)
	v.resources(w)
	v.gates(w)
	v.clocks(w)
	for _, n := range v.Notes {
		fmt.Fprintf(w, "note        %s\n", clean(n))
	}
	if len(v.Unverified) > 0 {
		fmt.Fprintf(w, "note        not verified, as the signer's certificate is in no journal: %s\n", counts(v.Unverified))
	}
	_, err := io.WriteString(out, w.String())
	return err
}

func (v View) verdict(w *strings.Builder) {
	proofs, accused := 0, make(map[string]bool)
	for _, f := range v.Findings {
		if f.Class == "proof" {
			proofs++
			accused[f.Accused] = true
		}
	}
	switch {
	case len(v.Findings) == 0:
		fmt.Fprint(w, "verdict     clean: no rule was broken, as far as these journals show\n")
	case proofs == 0:
		fmt.Fprintf(w, "verdict     %s, nothing proved\n", counted.Of(len(v.Findings), "suspicion"))
	default:
		fmt.Fprintf(w, "verdict     %s against %s; %s\n",
			counted.Of(proofs, "proof"), strings.Join(slices.Sorted(maps.Keys(accused)), ", "), counted.Of(len(v.Findings)-proofs, "suspicion"))
	}
	journals := 0
	var missing []string
	for _, m := range v.Members {
		if len(m.Journal) > 0 {
			journals++
		} else if m.Named > 0 {
			missing = append(missing, cmp.Or(m.Name, m.Member[:8]))
		}
	}
	fmt.Fprintf(w, "read        journals of %s, %d missing; %s, %s verified\n",
		counted.Of(journals, "member"), len(missing), counted.Of(v.Records, "record"), counted.Of(v.Signatures, "signature"))
	if len(missing) > 0 {
		fmt.Fprintf(w, "missing     the journals of %s: others gave them tokens, and what they did with these is not known\n", someOf(missing))
	}
	fmt.Fprintf(w, "tokens      %s\n", orNone(counts(v.Fates)))
}

// someOf names the first of many.
func someOf(names []string) string {
	text := strings.Join(names[:min(len(names), maxShown)], ", ")
	if more := len(names) - maxShown; more > 0 {
		text += fmt.Sprintf(" and %s more", counted.Of(more, "member"))
	}
	return text
}

func (v View) findings(w *strings.Builder) {
	for _, f := range v.Findings[:min(len(v.Findings), maxShown)] {
		fmt.Fprintf(w, "\n%s   %s", map[string]string{"proof": "PROOF    ", "suspicion": "SUSPICION"}[f.Class], f.Kind)
		if f.Accused != "" {
			fmt.Fprintf(w, ", by %s", f.Accused)
		} else if len(f.Members) > 0 {
			fmt.Fprintf(w, ": %s", strings.Join(f.Members, ", "))
		}
		if f.Again > 0 {
			fmt.Fprintf(w, " (and %s more)", counted.Of(f.Again, "time"))
		}
		fmt.Fprintln(w)
		if f.Token != "" {
			fmt.Fprintf(w, "            token %s hop %d %s\n", f.Token[:8], f.Hop, f.Resource)
		}
		if f.Detail != "" {
			fmt.Fprintf(w, "            %s\n", clean(f.Detail))
		}
		if f.At != "" {
			fmt.Fprintf(w, "            %s\n", f.At)
		}
		for _, r := range f.Records {
			fmt.Fprintf(w, "            record %d of %s, %s\n", r.Sequence, r.Member, r.File)
		}
		if f.Evidence != "" {
			fmt.Fprintf(w, "            evidence %s\n", f.Evidence)
		}
	}
	if rest := len(v.Findings) - maxShown; rest > 0 {
		fmt.Fprintf(w, "\n... and %s more: --output json has them\n", counted.Of(rest, "finding"))
	}
	if len(v.More) > 0 {
		fmt.Fprintf(w, "\n... and, only counted: %s\n", counts(v.More))
	}
}

func (v View) losses(w *strings.Builder) {
	if len(v.Losses) == 0 {
		return
	}
	t := table(w, "LOST TOKEN\tRESOURCE\tHOW\tRULE\tHOP\tLAST\tTO\tAT")
	for _, l := range v.Losses[:min(len(v.Losses), maxShown)] {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", l.Token[:8], orNone(l.Resource), l.Fate, orNone(l.Rule), l.Hop, l.Last, orNone(l.To), l.At)
	}
	t.Flush()
	if rest := len(v.Losses) - maxShown; rest > 0 {
		fmt.Fprintf(w, "... and %d more: --output json has them\n", rest)
	}
}

// complaints lists those about each member in two lines: there may be many causes.
func (v View) complaints(w *strings.Builder) {
	for i, c := range v.Complaints[:min(len(v.Complaints), maxShown)] {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "complaints  about %s: %d by %s, from %s to %s: %s\n            because: %s\n",
			c.About, c.Count, counted.Of(len(c.By), "member"), c.First[:19], c.Last[:19], counts(c.Measures), counts(c.Causes))
	}
	if rest := len(v.Complaints) - maxShown; rest > 0 {
		fmt.Fprintf(w, "            ... and about %s more: --output json has them\n", counted.Of(rest, "member"))
	}
	if v.Disregarded > 0 {
		fmt.Fprintf(w, "note        complaints that do not count, of members that were none or are revoked: %d\n", v.Disregarded)
	}
}

// maxUsers bounds the local users of one member that the text names.
const maxUsers = 8

func (v View) members(w *strings.Builder) {
	t := table(w, "MEMBER\tID\tJOURNAL\tCUSTODIES\tOPERATIONS\tHELD\tFINDINGS")
	for _, m := range v.Members {
		journal := "missing"
		switch n := len(m.Journal); {
		case n == 1:
			journal = m.Journal[0].From[:19] + " to " + m.Journal[0].To[:19]
		case n > 1:
			journal = fmt.Sprintf("%s to %s in %d parts", m.Journal[0].From[:19], m.Journal[n-1].To[:19], n)
		case m.Named == 0:
			journal = "missing, took no part"
		}
		name := orNone(m.Name)
		if m.State != "" {
			name += " (" + m.State + ")"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%.1f s\t%d\n", name, m.Member[:8], journal, m.Custodies, m.Operations, m.Held, m.Findings)
	}
	t.Flush()
	for _, m := range v.Members {
		if len(m.Users) > 0 {
			text := ""
			for i, u := range m.Users[:min(len(m.Users), maxUsers)] {
				if i > 0 {
					text += ", "
				}
				text += fmt.Sprintf("user %d: %d", u.User, u.Operations)
			}
			if more := len(m.Users) - maxUsers; more > 0 {
				text += fmt.Sprintf(", and %s more", counted.Of(more, "user"))
			}
			fmt.Fprintf(w, "users       operations on %s by the local user who asked, as it says: %s\n", cmp.Or(m.Name, m.Member[:8]), text)
		}
		if m.Kept > 0 {
			fmt.Fprintf(w, "kept        %s has signed for tokens that nobody is known to have from it, and that were replaced: %d; look at its journal\n",
				cmp.Or(m.Name, m.Member[:8]), m.Kept)
		}
	}
}

func (v View) resources(w *strings.Builder) {
	for _, r := range v.Resources {
		fmt.Fprintf(w, "\nresource    %s: %s, %s; tokens: %d, of them dropped %d, lost %d\n",
			orNone(r.Resource), counted.Of(r.Operations, "operation"), counted.Of(r.Handoffs, "handoff"), r.Tokens, r.Dropped, r.Lost)
		if r.Operations == 0 {
			continue
		}
		if r.Open > 0 {
			fmt.Fprintf(w, "open        operations that run or have an unknown end: %d; no record of their end is at hand\n", r.Open)
		}
		if r.Bounded > 0 {
			fmt.Fprintf(w, "bounded     operations that ended no later than their deadline: %d; the member was down then\n", r.Bounded)
		}
		fmt.Fprintf(w, "fairness    Jain index %.3f of operations, %.3f of time held (1: all the same)\n", r.JainOperations, r.JainHeld)
		for _, c := range r.Classes {
			fmt.Fprintf(w, "class       %s, weight %d, %s: %.1f %% of the operations, asked %.1f %%\n",
				orNone(c.Class), c.Weight, counted.Of(c.Members, "member"), 100*c.Share, 100*c.Asked)
		}
		if r.Gaps.Count > 0 {
			fmt.Fprintf(w, "gaps        half below %.2f s, 90%% below %.2f s, 99%% below %.2f s; longest %.2f s from %s\n",
				r.Gaps.P50, r.Gaps.P90, r.Gaps.P99, r.Gaps.Longest, r.Gaps.LongestFrom)
		}
		o := r.Overlap
		fmt.Fprintf(w, "overlap     certain %.2f s, possible %.2f s; at once certainly %d, possibly %s\n",
			o.Certain, o.Possible, o.MostCertain, counted.Of(o.MostPossible, "operation"))
		if o.Possible > o.Recorded {
			fmt.Fprintf(w, "            of the possible, %.2f s are recorded operations; the rest is where no journal is at hand\n", o.Recorded)
		}
		for _, one := range o.List[:min(len(o.List), 5)] {
			fmt.Fprintf(w, "            from %s: %s, certain %.2f s, possible %.2f s\n", one.From, strings.Join(one.Members, " and "), one.Certain, one.Possible)
		}
	}
}

func (v View) gates(w *strings.Builder) {
	for _, g := range v.Gates {
		fmt.Fprintf(w, "\ngate        %s before %s: %s of %s, %.2f s in all; its members kept %s\n",
			g.Gate, g.Resource, counted.Of(g.Sessions, "session"), counted.Of(g.Members, "member"), g.Length, counted.Of(g.Answers, "answer"))
		if g.Open > 0 {
			fmt.Fprintf(w, "open        sessions without an end in the gate's journal: %d\n", g.Open)
		}
		fmt.Fprintf(w, "prevented   sessions that waited for that of another token: %d, %.2f s in all: the programs could have run at once\n", g.Prevented, g.PreventedFor)
	}
}

// clocks shows the pairs that are certainly apart, or contradict themselves.
func (v View) clocks(w *strings.Builder) {
	const apart = 0.1 // seconds
	shown := 0
	for _, c := range v.Clocks {
		ahead := c.Least != nil && *c.Least > apart
		behind := c.Most != nil && *c.Most < -apart
		if c.Consistent && !ahead && !behind || shown >= maxShown {
			continue
		}
		if shown++; shown == 1 {
			fmt.Fprintln(w)
		}
		if !c.Consistent {
			fmt.Fprintf(w, "clocks      those of %s and %s: one was set meanwhile\n", c.A, c.B)
			continue
		}
		fmt.Fprintf(w, "clocks      that of %s is ahead of that of %s by %s to %s s\n", c.B, c.A, bound(c.Least), bound(c.Most))
	}
}

func bound(s *float64) string {
	if s == nil {
		return "?"
	}
	return fmt.Sprintf("%.3f", *s)
}

func table(w *strings.Builder, head string) *tabwriter.Writer {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\n")
	fmt.Fprintln(t, head)
	return t
}

// counts lists numbers by what they count.
func counts(m map[string]int) string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(list, ", ")
}

func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// clean keeps what came from a journal from breaking out of its line.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}
