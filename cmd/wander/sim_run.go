package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/sim/experiment"
)

// The names for several experiments: all about the papers, and those about this
// project's own goals.
const (
	allExperiments    = "all"
	beyondExperiments = "beyond"
)

type simRunFlags struct {
	seeds, parallel int
	out, output     string
}

func newSimRunCommand(env *environment) *cobra.Command {
	var f simRunFlags
	cmd := &cobra.Command{
		Use:   "run EXPERIMENT...|all|beyond",
		Short: "Run experiments and hold the papers' claims against what is measured",
		Long: `Run experiments, each once for every seed, and print for each claim of the paper
what it says, the median that is measured with the 5th and 95th percentile over
the seeds, and the verdict. With --out the figures (SVG and PNG) and tables (CSV)
are written to DIR/figures and DIR/data; "all" writes DIR/reproduction.md, too.

"beyond" runs the experiments about this project's own goals, which are not in
"all": each row is a goal, what is measured, and whether it is met. With --out
it writes DIR/beyond.md, and so do some of them alone: what earlier runs have written
to DIR/data stays on the page. It takes minutes of processor time for each seed.

The same seeds give the same files, whatever --parallel says.`,
		Example: "  wander sim run journal-fig2\n  wander sim run all --seeds 5 --out /tmp/papers",
		Args:    someExperiment,
		RunE:    func(_ *cobra.Command, args []string) error { return runSim(env, f, args) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.seeds, "seeds", 40, "how many runs, with the seeds 1, 2, …")
	flags.StringVar(&f.out, "out", "", "folder for figures and tables (default: none are written)")
	flags.IntVar(&f.parallel, "parallel", 0, "how many runs at once (default: one a core)")
	addOutputFlag(cmd, &f.output)
	return cmd
}

// someExperiment refuses to run nothing.
func someExperiment(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return nil
	}
	return &exitError{
		code: exitUsage, err: errors.New("name the experiments to run, or all"),
		hint: "wander sim list shows them",
	}
}

func runSim(env *environment, f simRunFlags, names []string) error {
	if err := f.check(); err != nil {
		return err
	}
	experiments, err := experimentsNamed(names)
	if err != nil {
		return err
	}
	unmake, err := makeFolder(f.out)
	if err != nil {
		return err
	}
	results, err := f.simulate(env, experiments)
	if err == nil {
		err = f.write(names, results)
	}
	if err != nil {
		unmake()
		return err
	}
	return f.print(env.Out, results)
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

// simulate runs experiments until they are done or the user interrupts.
func (f simRunFlags) simulate(env *environment, experiments []experiment.Experiment) ([]experiment.Result, error) {
	ctx, stop := interruptible()
	defer stop()
	show, clear := progressLine(env.Err)
	results, err := experiment.Run(ctx, experiments, experiment.Options{
		Seeds: experiment.Seeds(f.seeds), Parallel: f.parallel,
		Progress: func(p experiment.Progress) {
			show("%d of %d: %s, run %d of %d", p.Index, p.Of, p.Experiment, p.Done, p.Total)
		},
	})
	clear()
	switch {
	case ctx.Err() == nil:
		return results, err
	case f.out != "":
		return nil, interruptedWriting()
	}
	return nil, interrupted()
}

func (f simRunFlags) check() error {
	if f.seeds < 1 || f.seeds > experiment.MaxSeeds {
		return usageError("--seeds %d: permitted are 1 to %d", f.seeds, experiment.MaxSeeds)
	}
	if f.parallel < 0 {
		return usageError("--parallel %d: permitted are 0 (one a core) and more", f.parallel)
	}
	return checkOutput(f.output)
}

// experimentsNamed are the experiments of these names, each once.
func experimentsNamed(names []string) ([]experiment.Experiment, error) {
	var found []experiment.Experiment
	seen := map[string]bool{}
	for _, name := range names {
		if several, ok := experimentsIn(name); ok {
			if len(names) > 1 {
				return nil, usageError("%q and others: it goes alone", name)
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
	hint := cmp.Or(didYouMean(name, known), "wander sim list shows them")
	return &exitError{code: exitUsage, err: fmt.Errorf("no experiment is called %q", name), hint: hint}
}

// write writes the files that were asked for. The document names the command
// that makes the one in the source tree, so that it does not depend on where
// it was made.
func (f simRunFlags) write(names []string, results []experiment.Result) error {
	if f.out == "" {
		return nil
	}
	if err := experiment.Write(f.out, results); err != nil {
		return err
	}
	command := fmt.Sprintf("go run ./cmd/wander sim run %s --seeds %d --out docs", strings.Join(names, " "), f.seeds)
	if names[0] == allExperiments {
		return experiment.WriteDocument(f.out, command, results)
	}
	for _, r := range results {
		if !r.Goals {
			return nil
		}
	}
	return experiment.WriteGoals(f.out, command, results)
}

func (f simRunFlags) print(w io.Writer, results []experiment.Result) error {
	if f.output == "json" {
		return writeJSON(w, f.listing(results))
	}
	for i, r := range results {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := printResult(w, r); err != nil {
			return err
		}
	}
	if f.out != "" {
		fmt.Fprintf(w, "\nfigures and tables are in %s\n", f.out)
	}
	return nil
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

func (f simRunFlags) listing(results []experiment.Result) simListing {
	list := simListing{V: 1, Seeds: f.seeds, Experiments: []simExperiment{}}
	for _, r := range results {
		e := simExperiment{Name: r.Name, Title: r.Title, Source: r.Source}
		for _, row := range r.Rows {
			e.Rows = append(e.Rows, jsonRow(row))
		}
		list.Experiments = append(list.Experiments, e)
	}
	return list
}

func jsonRow(r experiment.Row) simRow {
	out := simRow{
		ID: r.ID, Source: r.Source, Says: r.Says, Quantity: r.Quantity, Reading: r.Reading,
		Unit: r.Unit.String(), HoldsIf: r.Holds.Text(r.Unit),
		Median: number(r.Median), P5: number(r.P5), P95: number(r.P95),
		Verdict: r.Verdict, HoldsIn: r.HoldsIn, Of: r.Of, Beside: r.Beside,
	}
	out.Samples = numbers(r.Samples)
	if r.Verdict.Fails() {
		out.Why = r.Why
	}
	return out
}
