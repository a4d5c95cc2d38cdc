// Command wander lets the members of a group share a legacy resource, with no
// server: see the README.
package main

import (
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/wander/internal/supervise"
	"github.com/wandertoken/wander/internal/processors"
)

// environment is what a command knows of the world outside: tests replace it.
type environment struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Now      func() time.Time
	Quiet    func(quiet bool) // see node.Config; nil where the process has other work, too
	Adopt    func()           // see supervise.Adopt; nil where the process starts others, too

	guardWait  time.Duration // replaces supervise.ReadyTimeout in tests, unless 0
	workFactor int           // replaces keyfile.WorkFactor in tests, unless 0
}

func main() {
	supervise.RunGuard() // does not return in a process that is a guard
	env := &environment{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Now: time.Now, Quiet: processors.Quiet, Adopt: supervise.Adopt}
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
	root := newRootCommand(env)
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	if err == nil {
		return exitOK
	}
	var exit *exitError
	if missing := missingFlags(cmd, err); missing != nil {
		err = missing
	} else if !errors.As(err, &exit) && isUsage(err) {
		err = &exitError{code: exitUsage, err: err, hint: "wander help shows the commands; wander COMMAND --help its flags"}
	}
	return complain(env.Err, err)
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
		SilenceErrors: true, SilenceUsage: true,
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(commands(env)...)
	showPlainSwitches(root)
	root.InitDefaultCompletionCmd()
	root.SetHelpCommand(newHelpCommand(root))
	checkArguments(root)
	return root
}

// isUsage recognises the mistakes that the command-line library finds.
func isUsage(err error) bool {
	for _, start := range []string{"unknown command", "accepts ", "requires ", "invalid argument"} {
		if strings.HasPrefix(err.Error(), start) {
			return true
		}
	}
	return false
}
