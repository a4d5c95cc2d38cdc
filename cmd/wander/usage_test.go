package main

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
)

func TestUsageMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"frobnicate"}, "unknown command \"frobnicate\" for \"wander\"\nhint: wander --help shows the commands"},
		{[]string{"plna"}, "unknown command \"plna\" for \"wander\"\nhint: did you mean \"plan\"?"},
		{[]string{"ca", "lst"}, "unknown command \"lst\" for \"wander ca\"\nhint: did you mean \"list\"?"},
		{[]string{"help", "ca", "frobnicate"}, "unknown command \"frobnicate\" for \"wander ca\"\nhint: wander ca --help shows the commands"},
		{[]string{"ca", "frobnicate"}, "unknown command \"frobnicate\" for \"wander ca\"\nhint: wander ca --help shows the commands"},
		{[]string{"completion", "frobnicate"}, "unknown command \"frobnicate\" for \"wander completion\"\nhint: wander completion --help shows the commands"},
		{[]string{"help", "frobnicate"}, "unknown command \"frobnicate\" for \"wander\"\nhint: wander --help shows the commands"},
		{[]string{"plan", "--members", "x"}, "--members x: must be a number\nhint: wander plan --help shows the flags"},
		{[]string{"plan", "--skip-delay", "4"}, "--skip-delay 4: \"4\" is not a duration: write for example \"4s\", \"100ms\" or \"90d\"\nhint: wander plan --help shows the flags"},
		{[]string{"plan", "--membres", "3"}, "unknown flag: --membres\nhint: did you mean \"--members\"?"},
		{[]string{"plan", "-z"}, "unknown shorthand flag: 'z' in -z\nhint: wander plan --help shows the flags"},
		{[]string{"run", "ftp", "-wait", "5s", "--", "true"}, "unknown shorthand flag: 'w' in -wait\nhint: did you mean \"--wait\"?"},
		{[]string{"audit", "--evidense", "x"}, "unknown flag: --evidense\nhint: did you mean \"--evidence\"?"},
		{[]string{"sim"}, "wander sim has moved to the program wander-lab\nhint: write it as: wander-lab"},
		{[]string{"sim", "run", "all", "--seeds", "3"}, "wander sim has moved to the program wander-lab\nhint: write it as: wander-lab run all --seeds 3"},
		{[]string{"sim", "--help"}, "wander sim has moved to the program wander-lab\nhint: write it as: wander-lab --help"},
		{[]string{"conformance", "--vectors", "x"}, "wander conformance has moved to the program wander-lab\nhint: write it as: wander-lab conformance --vectors x"},
		{[]string{"inspect"}, "an argument is missing\nhint: write it as: wander inspect FILE|FOLDER|- [flags]"},
		{[]string{"audit"}, "an argument is missing\nhint: write it as: wander audit JOURNAL… [flags]"},
		{[]string{"demo", "x"}, "unexpected argument \"x\"\nhint: write it as: wander demo [flags]"},
		{[]string{"plan"}, "required flags missing: --members, --operation-time\nhint: wander plan --help shows the flags"},
		{[]string{"run", "ftp", "--wiat", "1s"}, "unknown flag: --wiat\nhint: did you mean \"--wait\"?"},
		{[]string{"run", "ftp", "--wait", "5", "--", "true"}, "--wait 5: must be a duration such as 90s, or \"forever\"\nhint: wander run --help shows the flags"},
		{[]string{"ca", "invite", "--ttl", "0s"}, "--ttl 0s: must be greater than 0\nhint: wander ca invite --help shows the flags"},
		{[]string{"demo", "--victim", "holder"}, "--victim has no effect without --crash DUR"},
		{[]string{"demo", "--for", "5"}, "--for 5: \"5\" is not a duration: write for example \"4s\", \"100ms\" or \"90d\"\nhint: wander demo --help shows the flags"},
		{[]string{"demo", "--away", "5s"}, "--away has no effect without --crash DUR"},
	} {
		code, out, errs := runCommand("", c.args...)
		assert.Equal(t, cli.ExitUsage, code, c.args)
		assert.Empty(t, out, c.args)
		assert.Equal(t, "error: "+c.want+"\n", errs, c.args)
	}
}

// Every command with --output refuses what is no form of it in the same words,
// before it does anything.
func TestOutputForms(t *testing.T) {
	for _, command := range []string{
		"plan --members 3 --operation-time 1s",
		"ca list", "ca rotate", "ca invite", "cert status", "inspect -", "audit x", "audit verify-evidence x", "permit verify x", "status", "version", "demo",
	} {
		code, out, errs := runCommand("", append(strings.Fields(command), "--output", "xml")...)
		assert.Equal(t, cli.ExitUsage, code, command)
		assert.Empty(t, out, command)
		assert.Equal(t, "error: --output \"xml\": must be text or json\n", errs, command)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{}, {"help"}, {"ca"}, {"help", "ca"}, {"ca", "--help"}, {"help", "ca", "config"}} {
		code, out, errs := runCommand("", args...)
		assert.Zero(t, code, args)
		assert.Contains(t, out, "Usage:", args)
		assert.Contains(t, out, "--help", args)
		assert.Empty(t, errs, args)
	}
}

// Each cause that wander status names has its section in the help, with or without its brackets, and as text without links.
func TestHelp_EachCause_Explained(t *testing.T) {
	for _, row := range slices.Concat(explain.OfMember, explain.OfResource, explain.OfWarning) {
		for _, word := range []string{string(row.Cause), "[" + string(row.Cause) + "]"} {
			code, out, errs := runCommand("", "help", word)
			assert.Zero(t, code, word)
			assert.Empty(t, errs, word)
			assert.True(t, strings.HasPrefix(out, string(row.Cause)+"\n\n"), out)
			assert.Contains(t, out, "\n("+explain.Section(row.Cause)+")\n")
			assert.NotContains(t, out, "](", word)
			assert.NotContains(t, out, "##", word)
		}
	}
}

// Nobody answers on what is no socket.
func TestNoSocket(t *testing.T) {
	for _, command := range []string{"status", "members", "run ftp"} {
		args := append(strings.Fields(command), "--socket", "main.go")
		if args[0] == "run" {
			args = append(args, "--", "true")
		}
		code, _, errs := runCommand("", args...)
		assert.Equal(t, cli.ExitUnavailable, code, command)
		assert.Contains(t, errs, "hint: main.go is not a socket: give --socket the wander.sock in the daemon's state_dir", command)
	}
}

// A file of another user: a test that runs as root can show none, so the error is made up.
func TestHint_AnotherUsersFile_Named(t *testing.T) {
	denied := &api.Error{Code: "unavailable", Hint: "run the command as the daemon's user"}
	assert.Equal(t, denied.Hint, unansweredHint("nosuch.sock", denied))
	assert.Contains(t, unansweredHint("nosuch.sock", api.ErrNoDaemon), "start it with")
	var exit *cli.Error
	require.ErrorAs(t, passphraseError("/etc/wander/ca.passphrase", fs.ErrPermission), &exit)
	assert.Contains(t, exit.Hint, "--passphrase-file - < /etc/wander/ca.passphrase")
	require.ErrorAs(t, identityError(fs.ErrPermission, &settings{}), &exit)
	assert.Contains(t, exit.Hint, "run this as the daemon's user")
}

// TestHelp_AnyCommand_ShowsSwitchesPlainly: no flag is shown as one whose value is
// joined to it.
func TestHelp_AnyCommand_ShowsSwitchesPlainly(t *testing.T) {
	var visit func(path []string, list []*cobra.Command)
	visit = func(path []string, list []*cobra.Command) {
		for _, cmd := range list {
			if cmd.DisableFlagParsing { // it has moved, and shows no help
				continue
			}
			words := append(slices.Clone(path), cmd.Name())
			code, help, _ := runCommand("", append(words, "--help")...)
			require.Zero(t, code, words)
			assert.NotContains(t, help, "[=", words)
			visit(words, cmd.Commands())
		}
	}
	visit(nil, commands(&environment{Environment: cli.Environment{Getenv: func(string) string { return "" }, Now: time.Now}}))
}
