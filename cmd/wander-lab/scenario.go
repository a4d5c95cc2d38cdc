package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/configfile"
	"github.com/wandertoken/wander/internal/counted"
	"github.com/wandertoken/wander/lab/experiment"
	"github.com/wandertoken/wander/lab/shard"
	"github.com/wandertoken/wander/protocol/duration"
)

func newScenarioCommand(env *cli.Environment) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "scenario FILE.toml",
		Short: "Simulate the group that a file describes",
		Long: `Simulate the group that FILE.toml describes, once for every seed, and print the
median of what is measured with its 95 % confidence interval (in parentheses) and the
5th and 95th percentile over the seeds (in brackets). The file has the resource as the group configuration has it, and what happens to the
group; - is standard input. All keys but operation_time and members_max may be
left out:

  members       = 300          # default: members_max
  tokens        = 1            # at the start; 0 is a cold start
  duration      = "100000s"
  demand        = "always"     # or "every 10m": an exponential time after each operation
  acquaintances = 0            # how many others each member knows, even; 0 is everybody
  known         = 0            # how many the presets that ask members know; 0 is everybody
  begin         = "2020-01-01" # the wall clock then, for windows in the resource

  classes       = []           # of the members in turn, for weights in the resource

  [resource]
  policy         = "wandering" # with preset and parameters as in wander ca config
  operation_time = "4s"
  members_max    = 300
  skip_delay     = "100ms"

  [latency]                    # ` + latencyForms + `
  passing   = "0s"             # a handoff
  reserving = "0s"             # before it, until the receiver has accepted
  telling   = "0s"             # a message between policies
  operation = "4s"             # default: operation_time

  [faults]
  pass_loss    = "0%"          # of handoffs lose the token
  tell_loss    = "0%"          # of messages between policies are lost
  loss_every   = "10000s"      # the next pass after each multiple loses the token
  crash_every  = "1h"          # mean time between crashes of some member
  crash_holder = false         # of one that holds a token
  down_for     = "1m"          # until it returns
  down         = "0%"          # of the members fall for good,
  down_by      = "0s"          # each at an instant up to this; 0s: before the start
  unstated     = false         # members go on drawing those that are down
  forgetful    = false         # it loses its tokens and its memory
  recall       = false         # members remember visits although nothing crashes
  clock_offset = "0s"          # wall clocks are wrong by up to this
  detect_after = "10s"         # until a crashed member counts as dead
  false_suspicion = "0%"       # of watches say that of a member that lives

  [measure]
  warm_up = "0s"               # not measured
  idle_timeout = "0s"          # of a connection; 0s counts no connections
  what    = ["concurrency"]    # default: ` + strings.Join(experiment.Measures(), ", ") + `
  below   = ["20m"]            # shares of times below these
  bin     = "1s"               # resolution of times
  limit   = "10000s"           # longer times are told apart hardly`,
		Example: "  wander-lab scenario my.toml\n  wander-lab scenario my.toml --seeds 40 --output json",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return runScenario(env, f, args[0]) },
	}
	f.seedFlags(cmd, 10)
	f.declare(cmd.Flags())
	return cmd
}

func runScenario(env *cli.Environment, f runFlags, file string) error {
	if err := f.check(); err != nil {
		return err
	}
	text, err := cli.ReadLimited(env.In, file, configfile.MaxSize)
	if err != nil {
		return cli.ConfigError(err, "")
	}
	s, err := parseScenario(file, text)
	if err != nil {
		return err
	}
	experiments := []experiment.Experiment{s.Experiment()}
	if f.isSet() {
		args := jobArgs{Command: scenarioCommand, Names: []string{file}, Scenario: string(text)}
		return f.makePart(env, args, func(ctx context.Context, o experiment.Options, part shard.Part) ([]shard.Record, error) {
			return experiment.RunPart(ctx, experiments, o, part)
		})
	}
	return f.scenario(env, s, func(ctx context.Context, o experiment.Options) ([]experiment.Result, error) {
		return experiment.Run(ctx, experiments, o)
	})
}

// scenario gets the results, and prints what they show.
func (f runFlags) scenario(env *cli.Environment, s experiment.Scenario, get func(context.Context, experiment.Options) ([]experiment.Result, error)) error {
	results, err := withProgress(env, f, get)
	if err != nil {
		return err
	}
	if f.output == "json" {
		return cli.WriteJSON(env.Out, scenarioAnswer(results[0]))
	}
	return printScenario(env.Out, s, results[0])
}

// scenarioReport is the answer of scenario.
type scenarioReport struct {
	V        int               `json:"v"`
	Seeds    int               `json:"seeds"`
	First    uint64            `json:"first"` // of the seeds
	Measures []scenarioMeasure `json:"measures"`
}

type scenarioMeasure struct {
	Name    string   `json:"name"` // what it belongs to and what it is, like "tokens: share of time with 1"
	Unit    string   `json:"unit"` // share, s or number
	Median  number   `json:"median"`
	Low     number   `json:"low"` // with High, the confidence interval of the median; null: without bound
	High    number   `json:"high"`
	P5      number   `json:"p5"`
	P95     number   `json:"p95"`
	Samples []number `json:"samples"`
}

func scenarioAnswer(r experiment.Result) scenarioReport {
	answer := scenarioReport{V: 1, Seeds: r.Seeds, First: r.First, Measures: []scenarioMeasure{}}
	for _, row := range r.Rows {
		answer.Measures = append(answer.Measures, scenarioMeasure{
			Name: row.ID, Unit: row.Unit.String(), Median: number(row.Median), Low: number(row.Low), High: number(row.High), P5: number(row.P5), P95: number(row.P95),
			Samples: numbers(row.Samples),
		})
	}
	return answer
}

func numbers(values []float64) []number {
	out := make([]number, len(values))
	for i, v := range values {
		out[i] = number(v)
	}
	return out
}

func printScenario(w io.Writer, s experiment.Scenario, r experiment.Result) error {
	fmt.Fprintf(w, "%s, %s, %s, median (95 %% confidence interval) [p5..p95] of %s from seed %d on\n",
		s.Policy, counted.Of(s.Members, "member"), duration.Format(s.Duration), counted.Of(r.Seeds, "run"), r.First)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%s\t%s\n", row.ID, row.MeasuredText())
	}
	return t.Flush()
}
