package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/lab/experiment"
	"github.com/wandertoken/wander/lab/shard"
)

func newSweepCommand(env *cli.Environment) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "sweep EXPERIMENT...|all|beyond",
		Short: "Run experiments with other values of the parameters that this project chose",
		Long: `Run experiments with other values of each parameter that this project has chosen, one
at a time, and print the resulting plain rows. docs/data/constants.csv lists the
parameters with their values.

With --out the command saves the result in DIR/data/sweep.csv, where it replaces
earlier results of the same experiments, and renders the pages in DIR again: a row
whose verdict changes says so. "all" and "beyond" take about half an hour of processor
time each; --shard lets several machines share it, as of run.`,
		Example: "  wander-lab sweep report-fig4\n  wander-lab sweep all --out docs",
		Args:    someExperiment,
		RunE:    func(_ *cobra.Command, args []string) error { return runSweep(env, f, args) },
	}
	f.seedFlags(cmd, experiment.DefaultSweepSeeds)
	f.declare(cmd.Flags())
	cmd.Flags().StringVar(&f.out, "out", "", "update the results of \"run\" in this folder (default: nothing is written)")
	return cmd
}

func runSweep(env *cli.Environment, f runFlags, names []string) error {
	if err := f.check(); err != nil {
		return err
	}
	experiments, err := experimentsNamed(names)
	if err != nil {
		return err
	}
	if f.isSet() {
		return f.makePart(env, jobArgs{Command: sweepCommand, Names: names}, func(ctx context.Context, o experiment.Options, part shard.Part) ([]shard.Record, error) {
			return experiment.RunSweepPart(ctx, experiments, o, part)
		})
	}
	return f.sweep(env, func(ctx context.Context, o experiment.Options) (experiment.Sweep, error) {
		return experiment.RunSweep(ctx, experiments, o)
	})
}

// sweep gets the results, and saves and prints what they show.
func (f runFlags) sweep(env *cli.Environment, get func(context.Context, experiment.Options) (experiment.Sweep, error)) error {
	sweep, err := withProgress(env, f, get)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := experiment.SaveSweep(f.out, sweep); err != nil {
			return err
		}
		if _, err := experiment.WritePages(f.out); err != nil && !errors.Is(err, experiment.ErrNothingSaved) {
			return err
		}
	}
	if f.output == "json" {
		return cli.WriteJSON(env.Out, sweepListing(f, sweep))
	}
	return printSweep(env.Out, sweep)
}

// sweepReport is the answer of sweep.
type sweepReport struct {
	V     int        `json:"v"`
	Seeds int        `json:"seeds"`
	First uint64     `json:"first"`
	Rows  []sweptRow `json:"rows"`
}

type sweptRow struct {
	Constant   string             `json:"constant"`
	Value      string             `json:"value"`
	Experiment string             `json:"experiment"`
	Row        string             `json:"row"`
	Median     number             `json:"median"`
	Low        number             `json:"low"`
	High       number             `json:"high"`
	Verdict    experiment.Verdict `json:"verdict"`
}

func sweepListing(f runFlags, sweep experiment.Sweep) sweepReport {
	list := sweepReport{V: 1, Seeds: f.seeds, First: f.first, Rows: []sweptRow{}}
	for _, r := range sweep {
		list.Rows = append(list.Rows, sweptRow{
			r.Constant, r.Value, r.Experiment, r.Row, number(r.Median), number(r.Low), number(r.High), r.Verdict,
		})
	}
	return list
}

func printSweep(w io.Writer, sweep experiment.Sweep) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "number\tvalue\trow\tmedian\tits interval\tverdict")
	for _, r := range sweep {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s to %s\t%s\n", r.Constant, r.Value, r.Row,
			experiment.Number.Text(r.Median), experiment.Number.Text(r.Low), experiment.Number.Text(r.High), r.Verdict)
	}
	return t.Flush()
}
