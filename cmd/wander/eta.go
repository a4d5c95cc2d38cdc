package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node/api"
)

func newEtaCommand(env *environment) *cobra.Command {
	return resourceCommand(env, &cobra.Command{
		Use:   "eta RESOURCE",
		Short: "Predict when the resource's token comes here",
		Long: `Predict when the token comes: within the first time in half of all cases, within the second one
in 19 of 20. Under preset fair the prediction rests on the order of the members that wait, and on how
long turns took lately. Under other presets it rests on the times between this member's own last
turns. It is not a promise: a longer program or a lost token makes it late. While a turn takes
much longer than those before, or the token is missing, there is no prediction.`,
		Example: "  wander eta tape\n  wander eta tape --output json",
	}, printEta)
}

func printEta(w io.Writer, v resourceView) {
	if o := v.Windows; o != nil && o.Closed {
		fmt.Fprintln(w, cli.OneLine(v.Sentence))
		if o.OpensS == nil {
			return
		}
		fmt.Fprintf(w, "it opens in %v; ", tenths(*o.OpensS))
		if len(v.Slots) == 1 && v.Slots[0].Eta == nil {
			fmt.Fprintln(w, "nobody can say yet how long a program waits then")
			return
		}
	}
	if len(v.Slots) == 1 {
		text := asked(v) + etaText(v.Slots[0])
		switch s := v.Slots[0]; {
		case s.Search != nil:
			text += cli.OneLine(v.Sentence)
		case s.Long != nil:
			text = strings.TrimRight(text, "; ")
		case s.Eta == nil:
			text += cli.OneLine(v.Sentence)
		}
		fmt.Fprintln(w, text)
		return
	}
	fmt.Fprintln(w, cli.OneLine(v.Sentence)) // about the slot that comes first
	for _, s := range v.Slots {
		fmt.Fprintf(w, "slot %d: %s\n", s.Slot, strings.TrimRight(etaText(s), ":; "))
	}
}

// asked precedes a prediction where nobody waits.
func asked(v resourceView) string {
	if v.Waiting > 0 || len(v.Slots) != 1 || v.Slots[0].Eta == nil || v.Slots[0].Search != nil {
		return ""
	}
	return "no program waits; if one asked now: "
}

// etaText is when a slot's token comes. Where it is not a prediction, the resource's sentence can follow.
func etaText(s slotView) string {
	switch {
	case s.Holder != nil && s.Holder.How == api.Here:
		return "now: "
	case s.Search != nil: // what a prediction rests on was true before the token was missed
		return "unknown: "
	case s.Long != nil && s.Holder != nil:
		return longText(s) + "; "
	case s.Eta == nil:
		return "unknown: too few returns of the token are known here; "
	}
	after := ""
	if s.Eta.Overdue {
		after = " after the present turn, which takes longer than 19 of 20 of late"
	}
	return fmt.Sprintf("about %v, hardly more than %v%s (%s)", tenths(s.Eta.P50S), tenths(s.Eta.P95S), after, etaBasis(*s.Eta))
}

// longText is why nothing is predicted while a turn takes much longer than those before.
func longText(s slotView) string {
	text := fmt.Sprintf("%s's turn has taken %v, turns of late took %v: no prediction", s.Holder.Name, tenths(s.Long.TookS), tenths(s.Long.UsualS))
	if s.Holder.ProgramEndsS != nil {
		text += fmt.Sprintf("; it ends in %v at the latest", tenths(*s.Holder.ProgramEndsS))
	}
	return text
}

func etaBasis(e api.EtaStatus) string {
	if e.Basis == "order" {
		return fmt.Sprintf("%d wait before this member, and turns are as long as lately", e.Before)
	}
	return "by the times between this member's last turns"
}
