//go:build unix

package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/group"
)

func TestRunUsage(t *testing.T) {
	for name, args := range map[string]string{
		"nothing":        "",
		"no resource":    "-- true",
		"no command":     "ftp",
		"no command, --": "ftp --",
		"unknown flag":   "ftp --no-such-flag -- true",
		"two commands":   "ftp -c true -- true",
		"two waits":      "ftp -n --wait 3s -- true",
		"bad wait":       "ftp --wait soon -- true",
		"bad else":       "ftp --else perhaps -- true",
		"bad on-lost":    "ftp --on-lost perhaps -- true",
		"bad code":       "ftp -E 256 -- true",
		"negative":       "ftp --grace -1s -- true",
		"loud and quiet": "ftp -q -v -- true",
		"contradiction":  "ftp --max-hold 1s --min-hold 2s -- true",
		"bare number":    "ftp --max-hold 10 -- true",
		"no such folder": "ftp --report /no/such/folder/file -- true",
		"no such fd":     "ftp --report fd:99 -- true",
		"bad fd":         "ftp --report fd:x -- true",
		"bad name":       "Ftp -- true",
		"long name":      strings.Repeat("f", group.MaxName+1) + " -- true",
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			env := &environment{Environment: cli.Environment{In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(string) string { return "" }, Now: time.Now}}
			assert.Equal(t, cli.ExitUsage, run(env, append([]string{"run"}, strings.Fields(args)...)))
			assert.Regexp(t, "^error: .*\nhint: .*\n$", errs.String())
			assert.Empty(t, out.String())
		})
	}
}

// TestRun_EmptyName_UsageError: a script whose variable is not set is no bug.
func TestRun_EmptyName_UsageError(t *testing.T) {
	var errs bytes.Buffer
	env := &environment{Environment: cli.Environment{In: strings.NewReader(""), Out: io.Discard, Err: &errs, Getenv: func(string) string { return "" }, Now: time.Now}}
	assert.Equal(t, cli.ExitUsage, run(env, []string{"run", "", "--", "true"}))
	assert.Contains(t, errs.String(), "the resource name is empty")
}

func TestRun_FlagsBeforeTheCommand_Anywhere(t *testing.T) {
	for args, want := range map[string]string{
		"--wait 5s -q ftp -- cmd -x":        "cmd -x",
		"--wait 5s ftp -q -- cmd -x":        "cmd -x",
		"ftp --wait 5s -q -- cmd -x":        "cmd -x",
		"ftp --wait=5s -q cmd -x --wait 6s": "cmd -x --wait 6s",
		"-q ftp --wait 5s cmd -- -q":        "cmd -- -q",
		"-q ftp --wait 5s -- -x":            "-x",
		"-q ftp --wait 5s -- --":            "--",
	} {
		t.Run(args, func(t *testing.T) {
			o := newRunOptions()
			f := newTestFlags(o)
			require.NoError(t, f.Parse(strings.Fields(args)))
			help, err := o.parse(f, f.Args())
			require.NoError(t, err)
			assert.False(t, help)
			assert.Equal(t, "ftp", o.resource)
			assert.Equal(t, waitValue{Duration: 5 * time.Second}, o.waitFor)
			assert.True(t, o.quiet)
			assert.Equal(t, strings.Fields(want), o.command)
		})
	}
}

// newTestFlags are the flags of `wander run` as the command-line library hands
// them over.
func newTestFlags(o *runOptions) *pflag.FlagSet {
	f := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.BoolP("help", "h", false, "")
	o.register(f)
	return f
}

func TestRun_HelpAfterTheResource_Shown(t *testing.T) {
	var out, errs bytes.Buffer
	env := &environment{Environment: cli.Environment{In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(string) string { return "" }, Now: time.Now}}
	assert.Equal(t, cli.ExitOK, run(env, []string{"run", "ftp", "--help"}))
	assert.Contains(t, out.String(), "--max-hold")
	assert.Empty(t, errs.String())
}

func TestRunRequest(t *testing.T) {
	for args, want := range map[string]api.AcquireRequest{
		"ftp -q -- true -x": {Label: "true -x"},
		"ftp -q -n -- true": {Label: "true", WaitMS: pointer(int64(0))},
		"ftp -q --wait forever --max-hold 1500us --min-hold 1ms --once-per 1d -- true": {
			Label: "true", MaxHoldMS: 2, MinHoldMS: 1, OncePerMS: 86_400_000,
		},
	} {
		t.Run(args, func(t *testing.T) {
			socket := runSocket(t)
			d := refusing(api.ErrNotGranted)
			d.listen(t, socket)
			p := startRun(t, socket, strings.Fields(args)...)
			want.Resource, want.PID = "ftp", p.Process.Pid
			got := await.Next(t, "what the command does", d.requests)
			got.Asker = nil // which the daemon adds
			assert.Equal(t, want, got)
			assert.Equal(t, cli.ExitNotGranted, p.end(t))
		})
	}
}
