// Command wander lets the members of a group share a legacy resource, with no
// server: see the README.
package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/wander/internal/supervise"
	"github.com/wandertoken/wander/internal/processors"
)

// environment is what a command knows of the world outside: tests replace it.
type environment struct {
	cli.Environment
	Quiet func(quiet bool) // see node.Config; nil where the process has other work, too
	Adopt func()           // see supervise.Adopt; nil where the process starts others, too

	guardWait  time.Duration // replaces supervise.ReadyTimeout in tests, unless 0
	workFactor int           // replaces keyfile.WorkFactor in tests, unless 0
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
	return cli.Run(&env.Environment, newRootCommand(env), args)
}

func newRootCommand(env *environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "wander",
		Short: "Share one legacy resource among many machines, without a server",
		Long: `wander passes signed tokens among the members of a group over QUIC; who holds
a token may use the resource. Access is softly exclusive: overlap is rare and
measured, and the file docs/guarantees.md says what is promised and what not.

A duration is written with its unit, as 100ms, 90s, 1h30m or 30d, a share as 5% or
0.05. Exit codes are 64 for the command line, 78 for settings and files, and others
that the README lists.`,
	}
	root.AddCommand(commands(env)...)
	return root
}
