package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/lab/ringcheck"
	"github.com/wandertoken/wander/protocol/policy/ring"
)

type ringFlags struct {
	processors, memory, backlog int
	algorithm, overtaking, play string
	published, withdrawals      bool
	playing                     bool // --play is there
	output                      string
}

func newRingCommand(env *cli.Environment) *cobra.Command {
	var f ringFlags
	cmd := &cobra.Command{
		Use:   "ring",
		Short: "Check all schedules of a small ring",
		Long: `Check every order of requests, messages and exits in a ring of processors, for
algorithm S, Q, D or E of the policy ring. The output has the shortest schedules that
break a property, if any, the maximum number of messages that a request can cost, and
the maximum number of messages between a request and its token.

A schedule begins with a quiet ring whose token rests at processor 0. "r2" means
that processor 2 needs the token, "d2" that the first message on the link from 2
to the next processor arrives, "x2" that 2 leaves its critical section, "o2" that
on that link a message overtakes one of the other kind, and arrives.

With --published, Q and D follow the paper's text exactly, without the corrections.
The command takes seconds up to 7 processors, and a minute for 9.`,
		Example: `  wander-lab ring --processors 5 --algorithm e
  wander-lab ring --processors 2 --algorithm d --published
  wander-lab ring --processors 2 --algorithm q --published --play "r0 r1 d1 d0"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.playing = cmd.Flags().Changed("play")
			return runRing(env, f)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.processors, "processors", 4, fmt.Sprintf("size of the ring, 2 to %d", ringcheck.MaxExplored))
	flags.StringVar(&f.algorithm, "algorithm", "e", "algorithm: s, q, d or e")
	flags.BoolVar(&f.published, "published", false, "run q and d exactly as published, without corrections")
	flags.StringVar(&f.overtaking, "overtaking", "none", "permit overtaking on a link: none, requests (the token), token (requests) or both")
	flags.BoolVar(&f.withdrawals, "withdrawals", false, "permit processors to stop waiting (w2)")
	flags.IntVar(&f.backlog, "backlog", 0, "omit schedules with more requests than this on one link (default: 3 if the token may overtake)")
	flags.IntVar(&f.memory, "memory", ringcheck.DefaultMemory>>20, "memory limit in MiB")
	flags.StringVar(&f.play, "play", "", "play this schedule instead of checking all")
	cli.AddOutputFlag(cmd, &f.output)
	return cmd
}

// overtakings are the values of --overtaking.
var overtakings = map[string]ringcheck.Overtaking{
	"none": ringcheck.FIFO, "requests": ringcheck.RequestFirst, "token": ringcheck.TokenFirst,
	"both": ringcheck.RequestFirst | ringcheck.TokenFirst,
}

// fewRequests is the backlog that keeps D and E finite where the token may
// overtake requests.
const fewRequests = 3

// maxMemory is the largest --memory, in MiB: what 32-bit numbers of states and
// steps reach.
const maxMemory = 1 << 15

func (f ringFlags) options() (ringcheck.Options, error) {
	o := ringcheck.Options{
		Processors: f.processors, Memory: int64(f.memory) << 20, Backlog: f.backlog, Withdrawals: f.withdrawals,
	}
	if err := cli.CheckOutput(f.output); err != nil {
		return o, err
	}
	var ok bool
	if o.Overtaking, ok = overtakings[f.overtaking]; !ok {
		return o, cli.UsageError("--overtaking %q: must be none, requests, token or both", f.overtaking)
	}
	if f.memory < 1 || f.memory > maxMemory {
		return o, cli.UsageError("--memory %d: must be 1 to %d", f.memory, maxMemory)
	}
	if f.backlog < 0 {
		return o, cli.UsageError("--backlog %d: must not be negative", f.backlog)
	}
	if o.Overtaking&ringcheck.TokenFirst != 0 && o.Backlog == 0 {
		o.Backlog = fewRequests
	}
	var err error
	o.Algorithm, err = f.variant()
	return o, err
}

// variant is the algorithm that was asked for.
func (f ringFlags) variant() (ring.Algorithm, error) {
	asked, err := ring.ParseAlgorithm(strings.ToLower(f.algorithm))
	if err != nil {
		return 0, cli.UsageError("--algorithm %s: %v", f.algorithm, err)
	}
	if !f.published {
		return asked, nil
	}
	published, err := ring.ParseAlgorithm(asked.String() + "-published")
	if err != nil {
		return 0, cli.UsageError("--published is for algorithms q and d, not for %s", asked)
	}
	return published, nil
}

func runRing(env *cli.Environment, f ringFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	if f.playing {
		return f.playOne(env.Out, o)
	}
	show, clear := cli.ProgressLine(env.Err)
	o.Progress = func(found, tried int) { show("%d states found, %d tried", found, tried) }
	report, err := ringcheck.Check(o)
	clear()
	switch {
	case errors.Is(err, ringcheck.ErrProcessors):
		return cli.UsageError("--processors %d: %v", f.processors, err)
	case errors.Is(err, ringcheck.ErrMemory):
		return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: "give fewer --processors or more --memory"}
	case err != nil:
		return err
	}
	if f.output == "json" {
		return cli.WriteJSON(env.Out, newRingReport(report))
	}
	return printRing(env.Out, report)
}

// printRing prints a report for people.
func printRing(w io.Writer, r *ringcheck.Report) error {
	fmt.Fprintf(w, "%v in a ring of %d: %d states, %d steps\n", r.Algorithm, r.Processors, r.States, r.Steps)
	if r.Cut {
		fmt.Fprintln(w, "Schedules with more requests on one link than --backlog are left out.")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, line := range []struct {
		good, bad string
		schedule  ringcheck.Schedule
	}{
		{"never two inside", "two inside", r.Exclusion},
		{"nobody stuck", "somebody stuck", r.Deadlock},
		{"messages come to rest", fmt.Sprintf("the last %d steps without end", r.Period), r.Circulation},
		{"everybody served", "a processor waits without end", r.Starvation},
	} {
		switch {
		case line.schedule != nil:
			fmt.Fprintf(t, "  %s:\t%v\n", line.bad, line.schedule)
		case r.Safe() || line.good != "everybody served": // unknown otherwise
			fmt.Fprintf(t, "  %s\n", line.good)
		}
	}
	if r.Safe() {
		fmt.Fprintf(t, "  messages a request\t%v\t%v\n", r.PerRequest, r.PerRequest.Schedule)
	}
	if r.Live() {
		for _, m := range r.Traffic.Each() {
			fmt.Fprintf(t, "  service traffic, %s\t%d\t%v\n", m.Name, m.Messages, m.Schedule)
		}
	}
	return t.Flush()
}

// scheduleForm is how a schedule is written.
const scheduleForm = `write steps separated by blanks, each r, d, x, w or o and the number of a processor: "r0 r1 d1 x0"`

// playOne plays one schedule and prints what it costs.
func (f ringFlags) playOne(w io.Writer, o ringcheck.Options) error {
	schedule, err := ringcheck.ParseSchedule(f.play)
	switch {
	case err != nil:
		return &cli.Error{Code: cli.ExitUsage, Err: fmt.Errorf("--play: %w", err), Hint: scheduleForm}
	case len(schedule) == 0:
		return &cli.Error{Code: cli.ExitUsage, Err: errors.New("--play: the schedule is empty"), Hint: scheduleForm}
	}
	run, err := ringcheck.Play(o.Algorithm, o.Processors, schedule)
	if err != nil {
		return cli.UsageError("--play: %v", err)
	}
	out := newRingRun(run)
	if f.output == "json" {
		return cli.WriteJSON(w, out)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "requests\t%d, %d served\n", out.Requests, out.Served)
	fmt.Fprintf(t, "messages\t%d sent, %d delivered\n", out.Sent, out.Delivered)
	fmt.Fprintf(t, "service traffic\t%d sent, %d delivered at most\n", out.WorstSent, out.WorstDelivered)
	fmt.Fprintf(t, "inside at once\t%d at most\n", out.MostInside)
	fmt.Fprintf(t, "stuck\t%v\n", out.Stuck)
	return t.Flush()
}
