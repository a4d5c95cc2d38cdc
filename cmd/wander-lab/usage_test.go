package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
)

func TestUsage_Mistakes_HintAtThisProgram(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"foo"}, "unknown command \"foo\" for \"wander-lab\"\nhint: wander-lab --help shows the commands"},
		{[]string{"lst"}, "unknown command \"lst\" for \"wander-lab\"\nhint: did you mean \"list\"?"},
		{[]string{"help", "foo"}, "unknown command \"foo\" for \"wander-lab\"\nhint: wander-lab --help shows the commands"},
		{[]string{"run", "all", "--seeds", "2.5"}, "--seeds 2.5: must be a number\nhint: wander-lab run --help shows the flags"},
		{[]string{"ring", "--published=x"}, "--published x: must be true or false\nhint: wander-lab ring --help shows the flags"},
		{[]string{"cluster", "--perset", "long"}, "unknown flag: --perset\nhint: did you mean \"--preset\"?"},
		{[]string{"cluster", "--seeds", "0"}, "--seeds 0: must be greater than 0"},
		{[]string{"cluster", "--for", "-1s"}, "--for -1s: must be greater than 0\nhint: wander-lab cluster --help shows the flags"},
	} {
		code, out, errs := runCommand("", c.args...)
		assert.Equal(t, cli.ExitUsage, code, c.args)
		assert.Empty(t, out, c.args)
		assert.Equal(t, "error: "+c.want+"\n", errs, c.args)
	}
}

// Every command with --output refuses an unknown form in the same words, before it
// does anything.
func TestOutput_UnknownForm_Refused(t *testing.T) {
	for _, command := range []string{"list", "run all", "sweep all", "scenario -", "ring", "cluster", "conformance"} {
		code, out, errs := runCommand("", append(strings.Fields(command), "--output", "xml")...)
		assert.Equal(t, cli.ExitUsage, code, command)
		assert.Empty(t, out, command)
		assert.Equal(t, "error: --output \"xml\": must be text or json\n", errs, command)
	}
}

// The help of each command shows no flag as one whose value is joined to it.
func TestHelp_AnyCommand_ShowsSwitchesPlainly(t *testing.T) {
	var visit func(path []string, list []*cobra.Command)
	visit = func(path []string, list []*cobra.Command) {
		for _, cmd := range list {
			words := append(slices.Clone(path), cmd.Name())
			code, help, errs := runCommand("", append(words, "--help")...)
			require.Zero(t, code, words)
			assert.Empty(t, errs, words)
			assert.Contains(t, help, "Usage:", words)
			assert.NotContains(t, help, "[=", words)
			visit(words, cmd.Commands())
		}
	}
	visit(nil, newRootCommand(new(cli.Environment)).Commands())
}

func TestCluster_SumOfNoRuns_Fails(t *testing.T) {
	code, out, errs := runCommand("", "cluster", "--summary", "/dev/null")
	assert.Equal(t, cli.ExitFailure, code)
	assert.Empty(t, out)
	assert.Contains(t, errs, "contains no line of a run\nhint: ")
}
