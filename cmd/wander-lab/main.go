package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
)

func main() {
	env := cli.Process()
	os.Exit(run(&env, os.Args[1:]))
}

// run is the whole program: it returns the exit code.
func run(env *cli.Environment, args []string) int {
	return cli.Run(env, newRootCommand(env), args)
}

func newRootCommand(env *cli.Environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "wander-lab",
		Short: "Study wander: simulate groups, compare with the papers, test implementations",
		Long: `wander-lab runs the policies in virtual time, with thousands of members on one
machine: the same code that a daemon runs, without network and signatures. Its cluster
command runs whole members, with signatures and journals, under every fault. Its
conformance command runs the test vectors, or tests a running member.

Durations need units: 100ms, 90s, 1h30m, 30d. Ratios: 5% or 0.05. Exit codes: 64
usage, 78 configuration; README.md lists the rest.`,
	}
	root.AddCommand(
		newListCommand(env),
		newRunCommand(env),
		newSweepCommand(env),
		newMergeCommand(env),
		newPageCommand(env),
		newScenarioCommand(env),
		newRingCommand(env),
		newClusterCommand(env),
		newConformanceCommand(env),
	)
	return root
}
