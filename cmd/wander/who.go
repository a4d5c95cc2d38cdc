package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node/api"
)

func newWhoCommand(env *environment) *cobra.Command {
	return resourceCommand(env, &cobra.Command{
		Use:   "who RESOURCE",
		Short: "Show which member has the resource's token, and how that is known",
		Long: `Show which member has the token, as far as the local member knows: since when it has heard
that, and from whom. There is no global view.

  here     it is this member
  proved   this member passed the token there, and has the holder's signed receipt
  said     the holder has said so itself
  told     another member has said so`,
		Example: "  wander who tape\n  wander who tape --output json",
	}, printHolders)
}

func printHolders(w io.Writer, v resourceView) {
	if len(v.Slots) > 1 || v.Windows != nil && v.Windows.Closed { // the sentence is about the slot that comes first
		fmt.Fprintln(w, cli.OneLine(v.Sentence))
	}
	for _, s := range v.Slots {
		prefix := ""
		if len(v.Slots) > 1 {
			prefix = fmt.Sprintf("slot %d: ", s.Slot)
		}
		switch {
		case s.Holder == nil && len(v.Slots) > 1:
			fmt.Fprintf(w, "%sunknown\n", prefix)
			continue
		case s.Holder == nil:
			fmt.Fprintf(w, "unknown: %s\n", cli.OneLine(v.Sentence))
			continue
		}
		fmt.Fprintf(w, "%s%s (%v)\n", prefix, s.Holder.Name, s.Holder.Member)
		printHolder(w, s.Holder, v.MaxHoldS)
	}
}

func printHolder(w io.Writer, h *api.HolderStatus, maxHold float64) {
	fmt.Fprintf(w, "  hop     %d\n", h.Hop)
	if h.Fence > 0 {
		fmt.Fprintf(w, "  fence   %d\n", h.Fence)
	}
	known := map[api.How]string{
		api.Here: "the token is here", api.Said: "the holder has said so itself", api.Told: "told by " + h.ByName,
		api.Proved: "this member passed it there, and has the receipt",
	}[h.How]
	fmt.Fprintf(w, "  known   %s (%s), %.1f s ago\n", known, h.How, h.AgeS)
	if h.SinceS != nil {
		fmt.Fprintf(w, "  since   %v ago or longer\n", tenths(*h.SinceS))
	}
	switch {
	case h.ProgramS == nil:
	case h.How == api.Here:
		fmt.Fprintf(w, "  program runs for %v\n", tenths(*h.ProgramS))
	default:
		fmt.Fprintf(w, "  program runs for %v or longer\n", tenths(*h.ProgramS))
	}
	if h.AwayS != nil {
		fmt.Fprintf(w, "  away    while its machine restarts, for %v more at most\n", tenths(*h.AwayS))
	}
	if h.ProgramEndsS != nil {
		fmt.Fprintf(w, "  program ends in %v at the latest\n", tenths(*h.ProgramEndsS))
	}
	if maxHold > 0 {
		fmt.Fprintf(w, "  a program is killed after %v at the latest (max_hold)\n", tenths(maxHold))
	}
}

func tenths(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(100 * time.Millisecond)
}
