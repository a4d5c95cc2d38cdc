package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/wander/internal/demo"
	"github.com/wandertoken/wander/internal/counted"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

func newDemoCommand(env *environment) *cobra.Command {
	o := demo.Options{}
	var loss, output string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a whole group on this machine over real QUIC, and summarise its journals",
		Long: `Run a group with a temporary CA on this machine: each member is a separate process,
and they pass a token over QUIC on loopback. A relay between them can lose, delay and
reorder datagrams, and the demo can kill and restart members. The summary is counted
from the members' journals, which stay in the folder that it names.

Durable members lose no token, so they wait 20 times longer than the paper says
before they generate a replacement; volatile members follow the paper. With the policy
multitoken, enough tokens circulate for two operations at once. With the policy
uncoordinated no token travels: each operation generates one and drops it.

With --victim holder the demo kills members that hold a token. The summary shows how
long no operation began after that. A durable member restarts with its token, a
volatile one without it. Under a preset with a keeper (fair, light, all of ring) a
member generates a replacement when the holder has been unresponsive for 4 s and its
program has ended. If both tokens survive, a member drops one of them.`,
		Example: "  wander demo\n  wander demo --members 8 --for 60s --loss 10% --delay 20ms --crash 3s\n  wander demo --policy ring --crash 5s\n  wander demo --preset paper --victim holder --crash 30s --away 20s --for 5m",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			for _, flag := range []string{"victim", "away"} {
				if cmd.Flags().Changed(flag) && o.Crash == 0 {
					return cli.UsageError("--%s has no effect without --crash DUR", flag)
				}
			}
			if o.Loss, err = cli.ParseShare(loss); err != nil {
				return cli.UsageError("--loss %v", err)
			}
			return runDemo(env, o, output)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.Members, "members", 8, fmt.Sprintf("number of members, %d to %d", demo.MinMembers, demo.MaxMembers))
	cli.DurationVar(flags, &o.For, "for", 30*time.Second, "how long")
	cli.DurationVar(flags, &o.OperationTime, "operation-time", 200*time.Millisecond, "duration of the protected operation, at least 10ms")
	flags.StringVar(&loss, "loss", "0%", fmt.Sprintf("share of datagrams lost, each way, at most %.0f%%", 100*demo.MaxLoss))
	cli.DurationVar(flags, &o.Delay, "delay", 0, "delay of datagrams, each way, at most 10s; up to a quarter more at random")
	cli.DurationVar(flags, &o.Crash, "crash", 0, "interval between kills: one member gets SIGKILL and restarts, at least 200ms (default never)")
	flags.StringVar(&o.Victim, "victim", demo.VictimAny, fmt.Sprintf("member to kill: %s, or %s (of a token); with --crash", demo.VictimAny, demo.VictimHolder))
	cli.DurationVar(flags, &o.Away, "away", demo.DefaultAway, "time until a killed member restarts, with --crash")
	flags.StringVar(&o.Policy, "policy", catalog.Wandering, "circulation policy: "+strings.Join(catalog.Names(), ", "))
	flags.StringVar(&o.Preset, "preset", "", "preset of the policy (default its first): "+presets())
	flags.BoolVar(&o.Volatile, "volatile", false, "run volatile members: a crash loses the tokens they hold")
	flags.StringVar(&o.Dir, "dir", "", "folder for keys, logs and journals (default a new temporary one)")
	cli.AddOutputFlag(cmd, &output)
	return cmd
}

func runDemo(env *environment, o demo.Options, output string) error {
	if err := cli.CheckOutput(output); err != nil {
		return err
	}
	o, err := demo.Prepare(o)
	if err != nil {
		return &cli.Error{Code: cli.ExitUsage, Err: err}
	}
	if o.Program, err = os.Executable(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	if output == "text" {
		_, err := fmt.Fprintf(env.Out, "%s, policy %s, preset %s, %v; Ctrl-C ends it early\n", counted.Of(o.Members, "member"), o.Policy, o.Preset, o.For)
		if err != nil {
			return err
		}
	}
	s, err := demo.Run(ctx, o, screenFor(env, output))
	if err != nil {
		return err
	}
	if output == "json" {
		err = json.NewEncoder(env.Out).Encode(s)
	} else {
		err = printSummary(env.Out, s)
	}
	switch {
	case len(s.Findings) > 0:
		return &cli.Error{Code: cli.ExitBug, Err: errors.Join(errors.New("the journals show broken rules"), err), Hint: "keep " + s.Journals}
	case err != nil:
		return fmt.Errorf("summary not written: %w (journals are in %s)", err, s.Journals)
	}
	return nil
}

// endings are the signals that end a demo early: also a terminal that is
// closed, unless that is to be ignored, as under nohup.
func endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// presets lists what --preset takes.
func presets() string {
	var list []string
	for _, name := range catalog.Names() {
		var words []string
		for _, p := range catalog.Presets(name) {
			words = append(words, p.Name)
		}
		list = append(list, name+": "+strings.Join(words, ", "))
	}
	return strings.Join(list, "; ")
}

// screenFor is a live table on a terminal, and nothing elsewhere.
func screenFor(env *environment, output string) demo.Screen {
	if f, ok := env.Out.(*os.File); ok && output == "text" && term.IsTerminal(int(f.Fd())) {
		return &demo.Table{Out: f}
	}
	return demo.Quiet{}
}

func printSummary(out io.Writer, s demo.Summary) error {
	w := new(strings.Builder)
	fmt.Fprintf(w, `
%d members, %.0f s, %d crashes
hops        %d, operations %d
overlap     %.2f s with more than one operation, at most %d at once
tokens      %d generated, %d dropped, %d lost
handoffs    %d ok, offers: %d retried, %d reselected; %d in doubt and resolved
duplicates  %d (custody of one token by two members at once, from the journals)
handoff     %s (transfer signed to custody taken)
return      %s (between two operations of one member)
`, s.Members, s.Seconds, s.Crashes, s.Hops, s.Operations, s.OverlapSeconds, s.MaxConcurrent,
		s.Tokens.Generated, s.Tokens.Dropped, s.Tokens.Lost,
		s.Handoffs.OK, s.Handoffs.Retried, s.Handoffs.Reselected, s.Handoffs.InDoubtResolved, s.Duplicates,
		percentiles(s.HandoffSeconds, 1, 1000, "ms"), percentiles(s.ReturnSeconds, 2, 1, "s"))
	if s.Policy == catalog.Uncoordinated {
		fmt.Fprintln(w, "note        no token travels: each operation makes one and drops it")
	}
	if r := s.Recovery; r != nil {
		fmt.Fprintf(w, "recovery    p50 %.2f s, largest %.2f s without a new operation after %s of a holder (%d not over at the end)\n",
			r.P50, r.Max, counted.Of(r.Kills, "kill"), r.Unanswered)
	}
	for _, f := range s.Findings {
		fmt.Fprintf(w, "FINDING     %s\n", f)
	}
	fmt.Fprintf(w, "journals    %s\n", s.Journals)
	_, err := io.WriteString(out, w.String())
	return err
}

// percentiles writes a time in a unit of which a second has so many, and a
// dash when nothing was measured.
func percentiles(q *demo.Quantiles, digits int, perSecond float64, unit string) string {
	if q == nil {
		return "p50 –, p99 –"
	}
	return fmt.Sprintf("p50 %.*f %s, p99 %.*f %s", digits, perSecond*q.P50, unit, digits, perSecond*q.P99, unit)
}

// newPauseCommand is the demo's protected operation: it waits.
func newPauseCommand(*environment) *cobra.Command {
	return &cobra.Command{
		Use: "pause DURATION", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := time.ParseDuration(args[0])
			if err != nil {
				return cli.UsageError("%w", err)
			}
			time.Sleep(d)
			return nil
		},
	}
}
