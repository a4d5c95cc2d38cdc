package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/wander/internal/supervise"
	"github.com/wandertoken/wander/internal/processors"
	"github.com/wandertoken/wander/node/store"
)

// environment is what a command knows of the world outside: tests replace it.
type environment struct {
	cli.Environment
	Quiet func(quiet bool) // see node.Config; nil where the process has other work, too
	Adopt func()           // see supervise.Adopt; nil where the process starts others, too

	guardWait  time.Duration // replaces supervise.ReadyTimeout in tests, unless 0
	workFactor int           // replaces keyfile.WorkFactor in tests, unless 0
	gateDisk   store.FS      // replaces the file system under a gate's journal in tests, unless nil
	planEvents uint64        // replaces what wander plan may cost in tests, unless 0: see plan.Request
}

func main() {
	supervise.RunGuard() // does not return in a process that is a guard
	env := &environment{Environment: cli.Process(), Quiet: processors.Quiet, Adopt: supervise.Adopt}
	os.Exit(run(env, os.Args[1:]))
}

// adopt makes this process find what a command has started, if it starts nothing else.
func (env *environment) adopt() {
	if env.Adopt != nil {
		env.Adopt()
	}
}

// run is the whole program: it returns the exit code.
func run(env *environment, args []string) int {
	env.Topic = causeHelp
	return cli.Run(&env.Environment, newRootCommand(env), args)
}

func newRootCommand(env *environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "wander",
		Short: "Share one legacy resource among many machines, without a server",
		Long: `wander shares a resource among machines by passing signed tokens over QUIC. The holder
of a token may use the resource. Exclusion is soft: overlap is rare but possible (see
docs/guarantees.md).

Durations need units: 100ms, 90s, 1h30m, 30d. Ratios: 5% or 0.05. Exit codes: 64
usage, 78 configuration; README.md lists the rest.`,
	}
	root.AddCommand(commands(env)...)
	completer{env}.register(root)
	return root
}
