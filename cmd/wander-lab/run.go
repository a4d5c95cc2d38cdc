package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/counted"
	"github.com/wandertoken/wander/lab/experiment"
	"github.com/wandertoken/wander/lab/shard"
)

// The names for several experiments: all about the papers, and those about this
// project's own goals.
const (
	allExperiments    = "all"
	beyondExperiments = "beyond"
)

type runFlags struct {
	seeds, parallel int
	first           uint64
	out, output     string
	against         string
	shardFlags
}

// seedFlags are those of the commands that run experiments.
func (f *runFlags) seedFlags(cmd *cobra.Command, seeds int) {
	flags := cmd.Flags()
	flags.IntVar(&f.seeds, "seeds", seeds, "number of runs, each with its own seed")
	flags.Uint64Var(&f.first, "first", 1, "the first seed; the others follow it")
	flags.IntVar(&f.parallel, "parallel", 0, "number of parallel runs (default: one per core)")
	cli.AddOutputFlag(cmd, &f.output)
}

func newRunCommand(env *cli.Environment) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run EXPERIMENT...|all|beyond",
		Short: "Run experiments and compare the papers' claims with the measurements",
		Long: `Run experiments, each once for every seed. For each claim of the paper, print the
claim, the measured median with its 95 % confidence interval (in parentheses), the 5th
and 95th percentile over the seeds (in brackets), and the verdict. A claim is open if
a limit is within the interval. Fewer than six seeds give no interval, and leave every
random claim open; a line below the table says so.

With --out the figures (SVG and PNG) and tables (CSV) are written to DIR/figures and
DIR/data, and the pages DIR/reproduction.md (the papers) and DIR/beyond.md (goals) of
all results in DIR/data: what earlier runs have written there stays on the pages.

"beyond" runs the experiments about this project's own goals, which are not in
"all": each row is a goal, what is measured, and whether it is met. With one
seed "all" takes four to nine minutes of processor time; "beyond" takes longer.

The same seeds give the same files, whatever --parallel says. With --against DIR the
samples are compared with those that an earlier run with the same seeds wrote to DIR. If
one differs, DIR describes another version, and the exit code is 1; experiments that the
pages in DIR call out of date do not count. With --shard 3/8 the third of eight machines
makes its part of the runs; wander-lab merge puts all together.`,
		Example: "  wander-lab run journal-fig2\n  wander-lab run all --seeds 10 --out /tmp/papers\n  wander-lab run journal-fig2 --first 1001",
		Args:    someExperiment,
		RunE:    func(_ *cobra.Command, args []string) error { return runExperiments(env, f, args) },
	}
	f.seedFlags(cmd, 40)
	cmd.Flags().StringVar(&f.against, "against", "", "compare each sample with the one that an earlier run saved in this folder, and fail if one differs (default: none)")
	f.declare(cmd.Flags())
	cmd.Flags().StringVar(&f.out, "out", "", "write figures and tables to this folder (default: none are written)")
	return cmd
}

// someExperiment refuses to run nothing.
func someExperiment(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return nil
	}
	return &cli.Error{
		Code: cli.ExitUsage, Err: errors.New("no experiment specified"),
		Hint: "wander-lab list shows them",
	}
}

func runExperiments(env *cli.Environment, f runFlags, names []string) error {
	if err := f.check(); err != nil {
		return err
	}
	experiments, err := experimentsNamed(names)
	if err != nil {
		return err
	}
	if f.isSet() {
		return f.makePart(env, jobArgs{Command: "run", Names: names}, func(ctx context.Context, o experiment.Options, part shard.Part) ([]shard.Record, error) {
			return experiment.RunPart(ctx, experiments, o, part)
		})
	}
	return f.run(env, names, func(ctx context.Context, o experiment.Options) ([]experiment.Result, error) {
		return experiment.Run(ctx, experiments, o)
	})
}

// makePart makes one part of the runs.
func (f runFlags) makePart(env *cli.Environment, args jobArgs, do func(context.Context, experiment.Options, shard.Part) ([]shard.Record, error)) error {
	args.First, args.Seeds = f.first, uint64(f.seeds)
	return makePart(env, f.shardFlags, args, func(part shard.Part) ([]shard.Record, error) {
		return withProgress(env, f, func(ctx context.Context, o experiment.Options) ([]shard.Record, error) {
			return do(ctx, o, part)
		})
	})
}

// run gets the results, and writes and prints what they show.
func (f runFlags) run(env *cli.Environment, names []string, get func(context.Context, experiment.Options) ([]experiment.Result, error)) error {
	unmake, err := makeFolder(f.out)
	if err != nil {
		return err
	}
	results, err := withProgress(env, f, get)
	if err == nil {
		err = f.write(names, results)
	}
	if err != nil {
		unmake()
		return err
	}
	if err := f.print(env.Out, results); err != nil {
		return err
	}
	return f.compare(env.Out, results)
}

// maxStale bounds the samples that are listed: one already says that the pages are out of date.
const maxStale = 20

// compare holds the results to those of an earlier run, if one is given.
func (f runFlags) compare(w io.Writer, results []experiment.Result) error {
	if f.against == "" {
		return nil
	}
	compared, stale, err := experiment.Against(f.against, results)
	if err != nil {
		return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: "--against names the folder that an earlier run wrote with --out"}
	}
	if f.output == "text" {
		fmt.Fprintf(w, "\nof %s, %d differ from those in %s\n", counted.Of(compared, "sample"), len(stale), f.against)
		for _, s := range stale[:min(len(stale), maxStale)] {
			fmt.Fprintf(w, "  %v\n", s)
		}
	}
	stale = slices.DeleteFunc(stale, func(s experiment.Stale) bool { return s.Known })
	if len(stale) == 0 {
		return nil
	}
	return &cli.Error{
		Code: cli.ExitFailure, Err: fmt.Errorf("samples in %s that are out of date: %d, of experiment %s first", f.against, len(stale), stale[0].Experiment),
		Hint: "run the experiment again with the command on its page, and read what has changed",
	}
}

// makeFolder makes a folder with those above it, none for "", before there is
// anything to write: better than to find afterwards that it cannot be. The
// function removes those that it made and that are empty.
func makeFolder(dir string) (unmake func(), err error) {
	var made []string // the deepest first
	for d := dir; d != "" && d != filepath.Dir(d); d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, d)
	}
	if dir != "" {
		err = os.MkdirAll(dir, 0o755)
	}
	return func() {
		for _, d := range made {
			_ = os.Remove(d) // fails where something is in it
		}
	}, err
}

// withProgress does what runs experiments, shows how far it is, and ends it when
// the user interrupts.
func withProgress[T any](env *cli.Environment, f runFlags, do func(context.Context, experiment.Options) (T, error)) (result T, err error) {
	ctx, stop := cli.Interruptible()
	defer stop()
	show, clear := cli.ProgressLine(env.Err)
	result, err = do(ctx, experiment.Options{
		Seeds: experiment.Seeds(f.first, f.seeds), Parallel: f.parallel,
		Progress: func(p experiment.Progress) {
			show("%d of %d: %s, run %d of %d", p.Index, p.Of, p.Experiment, p.Done, p.Total)
		},
	})
	clear()
	switch {
	case ctx.Err() == nil:
		return result, err
	case f.out != "" || f.isSet():
		return result, cli.InterruptedWriting()
	}
	return result, cli.Interrupted()
}

func (f runFlags) check() error {
	if f.seeds < 1 || f.seeds > experiment.MaxSeeds {
		return cli.UsageError("--seeds %d: must be 1 to %d", f.seeds, experiment.MaxSeeds)
	}
	if f.first < 1 || f.first > experiment.MaxFirst {
		return cli.UsageError("--first %d: must be 1 to %d", f.first, experiment.MaxFirst)
	}
	if f.parallel < 0 {
		return cli.UsageError("--parallel %d: must not be negative", f.parallel)
	}
	if err := f.shardFlags.check(map[string]bool{"out": f.out != "", "against": f.against != ""}); err != nil {
		return err
	}
	return cli.CheckOutput(f.output)
}

// experimentsNamed are the experiments of these names, each once.
func experimentsNamed(names []string) ([]experiment.Experiment, error) {
	var found []experiment.Experiment
	seen := map[string]bool{}
	for _, name := range names {
		if several, ok := experimentsIn(name); ok {
			if len(names) > 1 {
				return nil, cli.UsageError("%q cannot be combined with others", name)
			}
			return several, nil
		}
		e, ok := experiment.Find(name)
		if !ok {
			return nil, noExperiment(name)
		}
		if !seen[name] {
			found = append(found, e)
		}
		seen[name] = true
	}
	return found, nil
}

// experimentsIn are the experiments that one name stands for.
func experimentsIn(name string) ([]experiment.Experiment, bool) {
	switch name {
	case allExperiments:
		return experiment.All(), true
	case beyondExperiments:
		return experiment.Beyond(), true
	}
	return nil, false
}

// noExperiment is the error about a name that no experiment has.
func noExperiment(name string) error {
	known := []string{allExperiments, beyondExperiments}
	for _, e := range append(experiment.All(), experiment.Beyond()...) {
		known = append(known, e.Name)
	}
	hint := cmp.Or(cli.DidYouMean(name, known), "wander-lab list shows them")
	return &cli.Error{Code: cli.ExitUsage, Err: fmt.Errorf("unknown experiment %q", name), Hint: hint}
}

// write writes the files that were asked for. The pages name the command that
// makes those in the source tree, so that they do not depend on where they were
// made.
func (f runFlags) write(names []string, results []experiment.Result) error {
	if f.out == "" {
		return nil
	}
	if err := experiment.Write(f.out, results); err != nil {
		return err
	}
	first := ""
	if f.first != 1 {
		first = fmt.Sprintf(" --first %d", f.first)
	}
	command := fmt.Sprintf("go run ./cmd/wander-lab run %s --seeds %d%s --out docs", strings.Join(names, " "), f.seeds, first)
	return experiment.Save(f.out, command, results)
}

func (f runFlags) print(w io.Writer, results []experiment.Result) error {
	if f.output == "json" {
		return cli.WriteJSON(w, f.listing(results))
	}
	for i, r := range results {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := printResult(w, r); err != nil {
			return err
		}
	}
	if f.seeds < experiment.MinSeeds && someOpen(results) {
		fmt.Fprintf(w, "\nopen: fewer than %d seeds decide no random claim; run with --seeds %d or more\n",
			experiment.MinSeeds, experiment.MinSeeds)
	}
	if f.out != "" {
		fmt.Fprintf(w, "\nfigures and tables are in %s\n", f.out)
	}
	return nil
}

// someOpen reports whether the runs leave a claim open.
func someOpen(results []experiment.Result) bool {
	for _, r := range results {
		for _, row := range r.Rows {
			if row.Verdict == experiment.Open {
				return true
			}
		}
	}
	return false
}

func printResult(w io.Writer, r experiment.Result) error {
	fmt.Fprintf(w, "%s: %s (%s)\n", r.Name, r.Title, r.Source)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range r.Rows {
		says := row.Says
		if r.Goals {
			says = row.Quantity + "\t" + row.Holds.Text(row.Unit)
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\n", row.ID, says, row.MeasuredText(), row.VerdictText(), row.Beside)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if r.Goals {
		fmt.Fprintf(w, "  the runs of one seed took %v\n", r.Took.Round(time.Millisecond))
	}
	for _, row := range r.Rows {
		switch row.Verdict {
		case experiment.NotReproduced:
			fmt.Fprintf(w, "  %s does not reproduce: %s\n", row.ID, row.Why)
		case experiment.NotMet:
			fmt.Fprintf(w, "  %s is not met: %s\n", row.ID, row.Why)
		}
	}
	return nil
}

func (f runFlags) listing(results []experiment.Result) listing {
	list := listing{V: 1, Seeds: f.seeds, First: f.first, Experiments: []listedExperiment{}}
	for _, r := range results {
		e := listedExperiment{Name: r.Name, Title: r.Title, Source: r.Source}
		for _, row := range r.Rows {
			e.Rows = append(e.Rows, jsonRow(row))
		}
		list.Experiments = append(list.Experiments, e)
	}
	return list
}

func jsonRow(r experiment.Row) listedRow {
	out := listedRow{
		ID: r.ID, Source: r.Source, Says: r.Says, Quantity: r.Quantity, Reading: r.Reading,
		Unit: r.Unit.String(), HoldsIf: r.Holds.Text(r.Unit),
		Kind: r.Kind, Median: number(r.Median), Low: number(r.Low), High: number(r.High), P5: number(r.P5), P95: number(r.P95),
		Verdict: r.Verdict, HoldsIn: r.HoldsIn, Of: r.Of, Beside: r.Beside, Tolerance: r.Tolerance,
	}
	out.Samples = numbers(r.Samples)
	if r.Verdict.Fails() {
		out.Why = r.Why
	}
	return out
}
