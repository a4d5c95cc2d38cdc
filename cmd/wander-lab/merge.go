package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/atomicfile"
	"github.com/wandertoken/wander/lab/experiment"
	"github.com/wandertoken/wander/lab/shard"
	"github.com/wandertoken/wander/sim/cluster"
)

// mergeFlags are the flags of merge: those of the commands that change no result.
type mergeFlags struct{ out, lines, output string }

func newMergeCommand(env *cli.Environment) *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use:   "merge DIR",
		Short: "Put together what the shards of run, sweep, scenario or cluster gave",
		Long: `Put together the shards in DIR, which run, sweep or cluster made with --shard. The
command prints and writes what the whole job would have, byte for byte, and exits with
its exit code. Only the times that runs took differ.

All shards have to be there, of one job and of one program, which has to be this one:
copy one file to all machines. Otherwise the command says which shard is missing or
differs.`,
		Example: `  wander-lab run all --shard 1/2 --shards parts
  wander-lab run all --shard 2/2 --shards parts
  wander-lab merge parts --out docs`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return f.merge(env, args[0]) },
	}
	cmd.Flags().StringVar(&f.out, "out", "", "as of run and sweep: write the files to this folder")
	cmd.Flags().StringVar(&f.lines, "lines", "", "of cluster: write a line of JSON for each run to this file, in the order of the seeds")
	cli.AddOutputFlag(cmd, &f.output)
	return cmd
}

func (f mergeFlags) merge(env *cli.Environment, dir string) error {
	if err := cli.CheckOutput(f.output); err != nil {
		return err
	}
	set, args, err := readShards(dir)
	if err != nil {
		return err
	}
	switch {
	case (args.Cluster != nil || args.Command == scenarioCommand) && f.out != "":
		return cli.UsageError("--out: these are shards of %s", args.Command)
	case args.Cluster == nil && f.lines != "":
		return cli.UsageError("--lines: these are shards of %s", args.Command)
	case args.Cluster != nil:
		return f.cluster(env, args, set)
	}
	r := runFlags{seeds: int(args.Seeds), first: args.First, out: f.out, output: f.output}
	if err := r.check(); err != nil {
		return err
	}
	if args.Command == scenarioCommand {
		return f.scenario(env, r, args, set)
	}
	experiments, err := experimentsNamed(args.Names)
	if err != nil {
		return err
	}
	if args.Command == sweepCommand {
		return r.sweep(env, func(ctx context.Context, o experiment.Options) (experiment.Sweep, error) {
			return experiment.MergeSweep(ctx, experiments, o, set)
		})
	}
	return r.run(env, args.Names, func(ctx context.Context, o experiment.Options) ([]experiment.Result, error) {
		return experiment.Merge(ctx, experiments, o, set)
	})
}

// readShards reads the shards of this program.
func readShards(dir string) (set *shard.Set, args jobArgs, err error) {
	set, err = shard.Read(dir)
	var missing *shard.MissingError
	switch {
	case errors.As(err, &missing):
		hint := ""
		if json.Unmarshal(missing.Job.Args, &args) == nil {
			hint = fmt.Sprintf("wander-lab %s --shard %v --shards %s", args.text(), missing.Parts[0], dir)
		}
		return nil, args, &cli.Error{Code: cli.ExitFailure, Err: err, Hint: hint}
	case errors.Is(err, shard.ErrNone):
		return nil, args, &cli.Error{Code: cli.ExitFailure, Err: err, Hint: "--shard and --shards of run, sweep, scenario and cluster make shards"}
	case errors.Is(err, shard.ErrOther):
		return nil, args, &cli.Error{Code: cli.ExitFailure, Err: err, Hint: "give each job a folder of its own"}
	case errors.Is(err, shard.ErrDamaged):
		return nil, args, &cli.Error{Code: cli.ExitFailure, Err: err, Hint: "delete the file and make the shard again"}
	case err != nil:
		return nil, args, err
	}
	program, err := shard.Program()
	if err != nil {
		return nil, args, err
	}
	if program != set.Job.Program {
		return nil, args, &cli.Error{
			Code: cli.ExitFailure, Err: errors.New("another program made these shards"), Hint: "merge with the same file that made them",
		}
	}
	d := json.NewDecoder(bytes.NewReader(set.Job.Args))
	d.DisallowUnknownFields()
	return set, args, d.Decode(&args)
}

// The commands whose shards hold what experiments gave, beside run.
const (
	sweepCommand    = "sweep"
	scenarioCommand = "scenario"
)

// scenario puts together the runs of a scenario.
func (f mergeFlags) scenario(env *cli.Environment, r runFlags, args jobArgs, set *shard.Set) error {
	s, err := parseScenario(strings.Join(args.Names, " "), []byte(args.Scenario))
	if err != nil {
		return err
	}
	return r.scenario(env, s, func(ctx context.Context, o experiment.Options) ([]experiment.Result, error) {
		return experiment.Merge(ctx, []experiment.Experiment{s.Experiment()}, o, set)
	})
}

// cluster puts together the runs of cluster.
func (f mergeFlags) cluster(env *cli.Environment, args jobArgs, set *shard.Set) error {
	var made []madeRun
	for i := range args.Seeds {
		r, there := set.Take(clusterUnit, args.First+i)
		if !there {
			return fmt.Errorf("%w: seed %d", experiment.ErrNotRun, args.First+i)
		}
		var m madeRun
		if err := json.Unmarshal(r.Value, &m); err != nil {
			return fmt.Errorf("%w: seed %d: %w", shard.ErrDamaged, r.Seed, err)
		}
		made = append(made, m)
	}
	var lines bytes.Buffer
	var summary cluster.Summary
	for _, m := range made {
		for _, text := range m.Told {
			fmt.Fprintln(env.Err, text)
		}
		if err := errors.Join(summary.AddLine(m.Line), cluster.AppendLine(&lines, m.Line)); err != nil {
			return err
		}
	}
	if f.lines != "" {
		if err := atomicfile.Create(f.lines, lines.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return (&clusterFlags{output: f.output}).report(env.Out, &summary)
}
