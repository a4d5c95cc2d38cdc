package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUsageMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"foo"}, "unknown command \"foo\" for \"wander\"\nhint: wander --help shows the commands"},
		{[]string{"smi"}, "unknown command \"smi\" for \"wander\"\nhint: did you mean \"sim\"?"},
		{[]string{"sim", "foo"}, "unknown command \"foo\" for \"wander sim\"\nhint: wander sim --help shows the commands"},
		{[]string{"sim", "lst"}, "unknown command \"lst\" for \"wander sim\"\nhint: did you mean \"list\"?"},
		{[]string{"ca", "foo"}, "unknown command \"foo\" for \"wander ca\"\nhint: wander ca --help shows the commands"},
		{[]string{"completion", "foo"}, "unknown command \"foo\" for \"wander completion\"\nhint: wander completion --help shows the commands"},
		{[]string{"help", "foo"}, "unknown command \"foo\" for \"wander\"\nhint: wander --help shows the commands"},
		{[]string{"help", "sim", "foo"}, "unknown command \"foo\" for \"wander sim\"\nhint: wander sim --help shows the commands"},
		{[]string{"plan", "--members", "x"}, "--members x: a number is wanted\nhint: wander plan --help shows the flags"},
		{[]string{"sim", "run", "all", "--seeds", "2.5"}, "--seeds 2.5: a number is wanted\nhint: wander sim run --help shows the flags"},
		{[]string{"sim", "ring", "--published=x"}, "--published x: true or false is wanted\nhint: wander sim ring --help shows the flags"},
		{[]string{"plan", "--skip-delay", "4"}, "--skip-delay 4: \"4\" is not a duration: write for example \"4s\", \"100ms\" or \"90d\"\nhint: wander plan --help shows the flags"},
		{[]string{"plan", "--membres", "3"}, "unknown flag: --membres\nhint: did you mean \"--members\"?"},
		{[]string{"plan", "-z"}, "unknown shorthand flag: 'z' in -z\nhint: wander plan --help shows the flags"},
		{[]string{"sim", "cluster", "--perset", "long"}, "unknown flag: --perset\nhint: did you mean \"--preset\"?"},
		{[]string{"audit", "--evidense", "x"}, "unknown flag: --evidense\nhint: did you mean \"--evidence\"?"},
		{[]string{"inspect"}, "accepts 1 arg(s), received 0\nhint: wander inspect --help shows the usage"},
	} {
		code, out, errs := runCommand("", c.args...)
		assert.Equal(t, exitUsage, code, c.args)
		assert.Empty(t, out, c.args)
		assert.Equal(t, "error: "+c.want+"\n", errs, c.args)
	}
}

// Every command with --output refuses what is no form of it in the same words,
// before it does anything.
func TestOutputForms(t *testing.T) {
	for _, command := range []string{
		"sim list", "sim run all", "sim scenario -", "sim ring", "sim cluster", "plan --members 3 --operation-time 1s",
		"ca list", "ca rotate", "ca invite", "cert status", "conformance", "inspect -", "audit x", "audit verify-evidence x", "status", "version", "demo",
	} {
		code, out, errs := runCommand("", append(strings.Fields(command), "--output", "xml")...)
		assert.Equal(t, exitUsage, code, command)
		assert.Empty(t, out, command)
		assert.Equal(t, "error: --output \"xml\": text or json\n", errs, command)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{}, {"help"}, {"sim"}, {"help", "sim"}, {"sim", "--help"}, {"help", "sim", "ring"}} {
		code, out, errs := runCommand("", args...)
		assert.Zero(t, code, args)
		assert.Contains(t, out, "Usage:", args)
		assert.Contains(t, out, "--help", args)
		assert.Empty(t, errs, args)
	}
}
