package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/counted"
	"github.com/wandertoken/wander/lab/shard"
)

// shardFlags say which part of a job to do.
type shardFlags struct{ part, dir string }

func (f *shardFlags) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.part, "shard", "", `make one part of the runs only: 3/8, or task/8 in a job array; with --shards`)
	flags.StringVar(&f.dir, "shards", "", "write the part to this folder, for wander-lab merge")
}

// isSet reports whether one part is to be made.
func (f shardFlags) isSet() bool { return f.part != "" || f.dir != "" }

// check refuses one flag without the other, and others that a part has no use for.
func (f shardFlags) check(others map[string]bool) error {
	if !f.isSet() {
		return nil
	}
	if f.part == "" || f.dir == "" {
		return cli.UsageError("--shard and --shards require each other")
	}
	for name, given := range others {
		if given {
			return cli.UsageError("--%s cannot be combined with --shard: give it to wander-lab merge", name)
		}
	}
	return nil
}

// jobArgs are the arguments of a job that is split, without those that change no result.
type jobArgs struct {
	Command  string       `json:"command"` // run, sweep, scenario or cluster
	Names    []string     `json:"names,omitempty"`
	First    uint64       `json:"first"`
	Seeds    uint64       `json:"seeds"`
	Scenario string       `json:"scenario,omitempty"` // the text of the file
	Cluster  *clusterArgs `json:"cluster,omitempty"`
}

// clusterArgs are the arguments that the runs of a job have in common.
type clusterArgs struct {
	Preset    string `json:"preset"`
	Mix       string `json:"mix,omitempty"`
	Members   int    `json:"members,omitempty"`
	Virtual   string `json:"virtual,omitempty"`
	Faults    string `json:"faults,omitempty"`
	Liars     int    `json:"liars,omitempty"`
	Bad       string `json:"bad,omitempty"`
	Bug       string `json:"bug,omitempty"`
	Unguarded bool   `json:"unguarded,omitempty"`
	NoShrink  bool   `json:"no_shrink,omitempty"`
}

// flags are the arguments as flags.
func (a *clusterArgs) flags() (words []string) {
	for _, flag := range []struct{ name, value string }{
		{"preset", a.Preset}, {"mix", a.Mix}, {"members", unlessZero(a.Members)}, {"virtual", a.Virtual}, {"faults", a.Faults},
		{"liars", unlessZero(a.Liars)}, {"bad", a.Bad}, {"bug", a.Bug},
	} {
		if flag.value != "" {
			words = append(words, "--"+flag.name+" "+flag.value)
		}
	}
	if a.Unguarded {
		words = append(words, "--unguarded")
	}
	if a.NoShrink {
		words = append(words, "--no-shrink")
	}
	return words
}

// unlessZero is a number as text, and nothing for 0.
func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// text is the command line.
func (a jobArgs) text() string {
	words := append([]string{a.Command}, a.Names...)
	words = append(words, fmt.Sprintf("--first %d --seeds %d", a.First, a.Seeds))
	if a.Cluster != nil {
		words = append(words, a.Cluster.flags()...)
	}
	return strings.Join(words, " ")
}

// job is the job with these arguments and this program.
func (a jobArgs) job() (shard.Job, error) {
	program, err := shard.Program()
	if err != nil {
		return shard.Job{}, err
	}
	args, err := json.Marshal(a)
	return shard.Job{Program: program, Args: args}, err
}

// makePart makes one part, unless it is there already.
func makePart(env *cli.Environment, f shardFlags, args jobArgs, do func(shard.Part) ([]shard.Record, error)) error {
	part, err := shard.Parse(f.part, env.Getenv)
	if err != nil {
		return cli.UsageError("--shard: %v", err)
	}
	job, err := args.job()
	if err != nil {
		return err
	}
	unmake, err := makeFolder(f.dir)
	if err != nil {
		return err
	}
	switch done, err := shard.Done(f.dir, job, part); {
	case errors.Is(err, shard.ErrOther):
		return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: "give each job a folder of its own"}
	case err != nil && !errors.Is(err, shard.ErrDamaged):
		return err
	case done:
		_, err = fmt.Fprintf(env.Out, "shard %v is in %s already\n", part, f.dir)
		return err
	}
	records, err := do(part)
	if err != nil {
		unmake()
		return err
	}
	name, err := shard.Write(f.dir, job, part, records)
	if err != nil {
		unmake()
		return err
	}
	failed := 0
	for _, r := range records {
		if r.Failure != "" {
			failed++
		}
	}
	if failed > 0 {
		cli.Warn(env.Err, "%s failed: wander-lab merge tells", counted.Of(failed, "run"))
	}
	_, err = fmt.Fprintf(env.Out, "wrote %s: %s\n", name, counted.Of(len(records), "run"))
	return err
}
