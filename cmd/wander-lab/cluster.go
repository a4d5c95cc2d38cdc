package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/lab/shard"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/sim/cluster"
)

// clusterFlags are the flags of wander-lab cluster, as they are written.
type clusterFlags struct {
	preset, mix, faults, bug string
	seed, first, seeds       uint64
	members, liars, jobs     int
	wall, virtual            cli.Span
	unguarded, trace, quick  bool
	diagram                  bool
	lines, summary, output   string
	token, bad               string
	one                      bool // --seed is there
	shardFlags
}

func newClusterCommand(env *cli.Environment) *cobra.Command {
	var f clusterFlags
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Simulate whole members under every fault, and detect broken rules",
		Long: `Simulate whole members, with journals, signatures and handoffs, on a virtual network
and virtual disks, in virtual time. Meanwhile processes crash, machines lose power or
are suspended, lines are cut in one direction or both, disks are slow, fail or fill
up, clocks are set, and drivers lie. Afterwards the members' journals are audited.

Each seed gives another run; the same seed gives the same run, byte for byte. A run
that breaks a rule is shrunk automatically. The command then prints how to repeat the
smallest such run, and exits with 1.

Preset chaos is a few members for minutes, under any policy and preset. Preset long
is 50 durable members for 10 virtual hours; docs/simulation.md says how it is made
fast. With --lines each run appends one line to a file, and runs whose lines are in
the file are skipped, so the same command continues where an earlier one ended. With
--shard 3/8 the third of eight machines makes its part of the runs; wander-lab merge
puts all together.`,
		Example: `  wander-lab cluster --for 5m
  wander-lab cluster --preset long --seeds 1000 --lines long.jsonl -j 2
  wander-lab cluster --summary long.jsonl
  wander-lab cluster --seed 17 --mix durable --trace`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.one = cmd.Flags().Changed("seed")
			if cmd.Flags().Changed("seeds") && f.seeds == 0 {
				return cli.UsageError("--seeds 0: must be greater than 0")
			}
			return runCluster(env, &f)
		},
	}
	f.declare(cmd)
	return cmd
}

func (f *clusterFlags) declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.preset, "preset", "chaos", "chaos, long or rollback")
	flags.StringVar(&f.mix, "mix", "", "durable, volatile or mixed members (default: chaos by the seed, long durable)")
	flags.Uint64Var(&f.seed, "seed", 0, "run this seed only")
	flags.Uint64Var(&f.first, "first", 0, "the first seed")
	flags.Uint64Var(&f.seeds, "seeds", 0, "number of seeds (default: as many as --for permits, else 24)")
	flags.Var(cli.PositiveSpan(&f.wall), "for", "start no runs after this time")
	flags.IntVarP(&f.jobs, "jobs", "j", 0, "number of parallel runs (default: the number of processors)")
	flags.IntVar(&f.members, "members", 0, fmt.Sprintf("number of members, 2 to %d (default the preset's)", cluster.MaxMembers))
	flags.Var(cli.PositiveSpan(&f.virtual), "virtual", "virtual time during which faults are injected (default the preset's)")
	flags.StringVar(&f.faults, "faults", "", `which faults happen: "crash=2-5,cut=all,others=none" lets the second to fifth crash happen, and all cuts`)
	flags.IntVar(&f.liars, "liars", 0, "number of members whose drivers lie; with --members")
	flags.StringVar(&f.bad, "bad", "", "the kinds of bad members, as hoarder,minter; with --members. Kinds are\n  "+strings.Join(cluster.BadKinds(), "\n  "))
	flags.StringVar(&f.bug, "bug", "none", "inject this mistake into the drivers, to test that it is found")
	flags.BoolVar(&f.unguarded, "unguarded", false, "detect faults from the journals only")
	flags.BoolVar(&f.trace, "trace", false, "print every event; with --seed")
	flags.BoolVar(&f.diagram, "diagram", false, "draw every event as a Mermaid sequence diagram; with --seed")
	flags.StringVar(&f.token, "token", "", "draw only events that name this token, such as t1")
	flags.BoolVar(&f.quick, "no-shrink", false, "do not shrink failing runs")
	flags.StringVar(&f.lines, "lines", "", "append a line of JSON for each run to this file, and skip the runs that are there")
	flags.StringVar(&f.summary, "summary", "", "run nothing, and summarise the lines of this file")
	f.shardFlags.declare(flags)
	cli.AddOutputFlag(cmd, &f.output)
}

// defaultSeeds is how many runs there are when nobody says: some seconds.
const defaultSeeds = 24

// clusterGC lets the garbage collector run more rarely than usual: runs make garbage
// fast and keep little.
const clusterGC = 400

func runCluster(env *cli.Environment, f *clusterFlags) error {
	if err := cli.CheckOutput(f.output); err != nil {
		return err
	}
	if err := f.shardFlags.check(map[string]bool{
		"lines": f.lines != "", "summary": f.summary != "", "seed": f.one, "for": f.wall.Duration > 0, "trace": f.trace, "diagram": f.diagram,
	}); err != nil {
		return err
	}
	if f.summary != "" {
		return f.addUp(env)
	}
	template, err := f.setting()
	if err != nil {
		return err
	}
	if f.trace || f.diagram {
		if !f.one {
			return cli.UsageError("--trace and --diagram require --seed")
		}
		return f.show(env.Out, template)
	}
	debug.SetGCPercent(clusterGC)
	c := campaign{f: f, env: env, template: template}
	if f.isSet() {
		return makePart(env, f.shardFlags, f.args(), c.part)
	}
	return c.run()
}

// show prints one run, as it happens or drawn.
func (f *clusterFlags) show(out io.Writer, s cluster.Setting) error {
	var trace bytes.Buffer
	w := out
	if f.diagram {
		w = &trace
	}
	failure := s.Run(w).Err()
	if f.diagram {
		err := cluster.Diagram(out, &trace, cluster.View{Token: f.token})
		if errors.Is(err, cluster.ErrNothingShown) {
			err = cli.UsageError("unknown token %q: this run's tokens are t1, t2 and so on", f.token)
		}
		if err != nil {
			return err
		}
	}
	if failure != nil {
		return &cli.Error{Code: cli.ExitFailure, Err: failure}
	}
	return nil
}

// setting is what all runs have in common.
func (f *clusterFlags) setting() (s cluster.Setting, err error) {
	s = cluster.Setting{
		Seed: f.seed, Members: f.members, For: f.virtual.Duration, Liars: f.liars, Bad: f.bad, Unguarded: f.unguarded,
	}
	if s.Preset, err = cluster.ParsePreset(f.preset); err == nil && f.mix != "" {
		s.Mix, err = cluster.ParseMix(f.mix)
	}
	if err == nil {
		s.Faults, err = cluster.ParseLimits(f.faults)
	}
	if err == nil {
		s.Bug, err = cluster.ParseBug(f.bug)
	}
	if err == nil {
		err = s.Validate()
	}
	switch {
	case err != nil:
		return s, cli.UsageError("%v", err)
	case f.jobs < 0:
		return s, cli.UsageError("-j %d: must not be negative", f.jobs)
	}
	if f.one {
		f.first, f.seeds = f.seed, 1
	}
	if f.seeds == 0 && f.wall.Duration == 0 {
		f.seeds = defaultSeeds
	}
	return s, nil
}

// addUp prints the sum of a file of lines.
func (f *clusterFlags) addUp(env *cli.Environment) error {
	lines, _, err := readClusterLines(f.summary)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		return &cli.Error{Code: cli.ExitFailure, Err: fmt.Errorf("%s: contains no line of a run", f.summary), Hint: "wander-lab cluster --lines writes them"}
	}
	var s cluster.Summary
	for _, l := range lines {
		if err := s.AddLine(l); err != nil {
			return err
		}
	}
	return f.report(env.Out, &s)
}

// readClusterLines is cluster.ReadLines of a file.
func readClusterLines(name string) (lines []cluster.Line, whole int64, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	if lines, whole, err = cluster.ReadLines(file); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", name, err)
	}
	return lines, whole, nil
}

// clusterSummary is the answer of cluster.
type clusterSummary struct {
	V      int           `json:"v"`
	Tally  cluster.Tally `json:"tally"`
	Failed []string      `json:"failed"` // the flags that make these runs again
}

// report prints a summary, and is an error when a run failed.
func (f *clusterFlags) report(w io.Writer, s *cluster.Summary) error {
	if f.output == "json" {
		out := clusterSummary{V: 1, Tally: s.All(), Failed: append([]string{}, s.Failed...)}
		if err := cli.WriteJSON(w, out); err != nil {
			return err
		}
	} else {
		fmt.Fprint(w, s)
	}
	if len(s.Failed) == 0 {
		return nil
	}
	return &cli.Error{
		Code: cli.ExitFailure, Err: fmt.Errorf("%d runs broke a rule", len(s.Failed)),
		Hint: "wander-lab cluster " + s.Failed[0] + " --trace shows the first",
	}
}

// args are the arguments of the job.
func (f *clusterFlags) args() jobArgs {
	a := &clusterArgs{
		Preset: f.preset, Mix: f.mix, Members: f.members, Faults: f.faults, Liars: f.liars, Bad: f.bad, Bug: f.bug,
		Unguarded: f.unguarded, NoShrink: f.quick,
	}
	if f.virtual.Duration > 0 {
		a.Virtual = duration.Format(f.virtual.Duration)
	}
	return jobArgs{Command: "cluster", First: f.first, Seeds: f.seeds, Cluster: a}
}

// madeRun is a run that was made, and what was told of it on the standard error.
type madeRun struct {
	Line cluster.Line `json:"line"`
	Told []string     `json:"told,omitempty"`
}

// campaign makes many runs.
type campaign struct {
	f        *clusterFlags
	env      *cli.Environment
	template cluster.Setting
	there    map[string]bool // runs whose lines are in the file already, by their flags
	before   []cluster.Line  // these lines
	file     *os.File
	summary  cluster.Summary // so far, in the order in which runs end
	made     []madeRun
	mine     shard.Part // of the runs; the zero value: all
	ctx      context.Context
	show     func(format string, args ...any)
	clear    func()
}

func (c *campaign) run() error {
	if err := c.open(); err != nil {
		return err
	}
	if c.file != nil {
		defer c.file.Close()
	}
	if _, err := c.makeRuns(); err != nil {
		return err
	}
	// The order in which runs end is chance.
	slices.SortFunc(c.made, func(a, b madeRun) int { return cmp.Compare(a.Line.Seed, b.Line.Seed) })
	var all cluster.Summary
	for _, l := range c.before {
		if err := all.AddLine(l); err != nil {
			return err
		}
	}
	for _, m := range c.made {
		if err := all.AddLine(m.Line); err != nil {
			return err
		}
	}
	return c.f.report(c.env.Out, &all)
}

// clusterUnit names the runs of a part.
const clusterUnit = "cluster"

// part makes the runs of one part.
func (c *campaign) part(part shard.Part) ([]shard.Record, error) {
	c.mine = part
	interrupted, err := c.makeRuns()
	if err != nil {
		return nil, err
	}
	if interrupted {
		return nil, cli.InterruptedWriting()
	}
	slices.SortFunc(c.made, func(a, b madeRun) int { return cmp.Compare(a.Line.Seed, b.Line.Seed) })
	var records []shard.Record
	for _, m := range c.made {
		text, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		records = append(records, shard.Record{Unit: clusterUnit, Seed: m.Line.Seed, Value: text})
	}
	return records, nil
}

// makeRuns makes the runs until they are done, the time is over or the user interrupts.
func (c *campaign) makeRuns() (interrupted bool, err error) {
	ctx, stop := cli.Interruptible()
	defer stop()
	c.ctx = ctx
	if c.f.wall.Duration > 0 {
		limited, cancel := context.WithTimeout(ctx, c.f.wall.Duration)
		defer cancel()
		ctx = limited
	}
	c.show, c.clear = cli.ProgressLine(c.env.Err)
	jobs := c.f.jobs
	if jobs == 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	err = cluster.Campaign(ctx, c.settings(), jobs, c.done)
	c.clear()
	return c.ctx.Err() != nil, err
}

// open reads what lines there are, and appends to them from now on. A line that was
// cut short, as by a full disk or a crash, is cut off: its run is made again.
func (c *campaign) open() error {
	if c.f.lines == "" {
		return nil
	}
	lines, whole, err := readClusterLines(c.f.lines)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	c.there, c.before = make(map[string]bool), lines
	for _, l := range lines {
		c.there[l.Args] = true
		if err := c.summary.AddLine(l); err != nil {
			return err
		}
	}
	if c.file, err = os.OpenFile(c.f.lines, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
		return err
	}
	if info, err := c.file.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() == whole {
		return err
	}
	return c.file.Truncate(whole)
}

// settings are the runs to make.
func (c *campaign) settings() iter.Seq[cluster.Setting] {
	return func(yield func(cluster.Setting) bool) {
		for seed := c.f.first; c.f.seeds == 0 || seed-c.f.first < c.f.seeds; seed++ {
			if c.mine.Of > 0 && !c.mine.Has(int(seed-c.f.first)) {
				continue
			}
			s := c.template
			s.Seed = seed
			if c.f.mix == "" && s.Preset == cluster.Chaos {
				s.Mix = cluster.MixOf(seed)
			}
			if !c.there[s.Args()] && !yield(s) {
				return
			}
		}
	}
}

// done takes in a run, and makes a failing one smaller.
func (c *campaign) done(r *cluster.Result) error {
	c.summary.AddResult(r)
	m := madeRun{Line: cluster.NewLine(r)}
	if r.Err() != nil {
		c.tell(&m, "warning: %v", cli.OneLine(r.Err().Error()))
		if !c.f.quick {
			c.shrink(&m, r)
		}
	}
	c.made = append(c.made, m)
	all := c.summary.All()
	c.show("%d runs, %.1f virtual hours, %d handoffs, %d faults, %d failed",
		all["runs"], float64(all["virtual_s"])/3600, all["handoffs"], all["faults"], len(c.summary.Failed))
	if c.file == nil {
		return nil
	}
	return cluster.AppendLine(c.file, m.Line)
}

// tell prints something about a run, and keeps it.
func (c *campaign) tell(m *madeRun, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	c.clear()
	fmt.Fprintln(c.env.Err, text)
	m.Told = append(m.Told, text)
}

// shrinkTime bounds how long a failing run is made smaller.
const shrinkTime = 10 * time.Minute

func (c *campaign) shrink(m *madeRun, r *cluster.Result) {
	ctx, stop := context.WithTimeout(c.ctx, shrinkTime)
	defer stop()
	small := cluster.Shrink(ctx, r, func(runs int, s cluster.Setting) {
		c.show("shrinking: %d attempts, %s", runs, s.Args())
	})
	c.tell(m, "hint: the smallest run with the same failure: wander-lab cluster %s --trace", small.Setting.Args())
	c.tell(m, "hint: as a line of sim/cluster/regressions_test.go: %v", small.Setting)
	m.Line.Shrunk = strings.TrimSpace(small.Setting.Args())
}
