package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/lab/experiment"
	"github.com/wandertoken/wander/sim/circulation"
)

// runCommand runs a command line with an input, and returns the exit code.
func runCommand(in string, args ...string) (code int, out, errs string) {
	return runCommandAt(time.Now(), in, args...)
}

// runCommandAt is runCommand at a time.
func runCommandAt(now time.Time, in string, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	env := &cli.Environment{In: strings.NewReader(in), Out: &o, Err: &e, Getenv: func(string) string { return "" }, Now: func() time.Time { return now }}
	code = run(env, args)
	return code, o.String(), e.String()
}

// smallScenario takes a moment.
const smallScenario = `
members  = 30
duration = "5000s"
[resource]
operation_time = "4s"
members_max    = 30
skip_delay     = "100ms"
preset         = "paper"
[latency]
passing = "uniform 10ms 30ms"
[faults]
pass_loss = "0.1%"
[measure]
below = ["120s"]
`

func TestScenario_Small_Golden(t *testing.T) {
	for name, args := range map[string][]string{
		"testdata/scenario.txt":  {"scenario", "-", "--seeds", "3"},
		"testdata/scenario.json": {"scenario", "-", "--seeds", "3", "--output", "json", "--parallel", "1"},
	} {
		code, out, errs := runCommand(smallScenario, args...)
		require.Zero(t, code, errs)
		assert.Empty(t, errs)
		if *update {
			require.NoError(t, os.WriteFile(name, []byte(out), 0o644))
		}
		want, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, string(want), out, name)
	}
}

// fullScenario sets everything.
const fullScenario = `
members = 20
tokens  = 2
duration = "1h"
demand = "every 10m"
acquaintances = 4
classes = ["a", "b"]
known = 5
begin = "2026-01-05T00:00:00Z"
[resource]
policy = "wandering"
preset = "paper"
operation_time = "2s"
members_max = 10
skip_delay = "50ms"
min_interval = "10s"
windows = ["Mon 00:00-24:00 UTC"]
[latency]
passing = "exponential 10ms"
reserving = "exponential 5ms"
telling = "quantiles 1ms 2ms 9ms"
operation = "uniform 1s 2s"
[faults]
pass_loss = "1%"
tell_loss = 0.02
loss_every = "10m"
crash_every = "5m"
crash_holder = true
down_for = "1m"
down = "10%"
down_by = "10m"
unstated = true
forgetful = true
recall = true
clock_offset = "3s"
detect_after = "5s"
false_suspicion = "0.1%"
[measure]
warm_up = "5m"
idle_timeout = "30s"
what = ["waits", "counts"]
below = ["10s", "1m"]
bin = "100ms"
limit = "1h"
`

// Every field of the simulator's configuration can be set; only the seed and
// what members know are set for each run.
func TestScenario_Full_SetsEveryField(t *testing.T) {
	s, err := parseScenario("full.toml", []byte(fullScenario))
	require.NoError(t, err)
	for _, of := range []reflect.Value{reflect.ValueOf(s), reflect.ValueOf(s.Config)} {
		for i := range of.NumField() {
			name := of.Type().Field(i).Name
			if name != "Seed" && name != "Directory" {
				assert.False(t, of.Field(i).IsZero(), name)
			}
		}
	}
	assert.Equal(t, circulation.Every(10*time.Minute), s.Demand)
	assert.Equal(t, circulation.Exponential(10*time.Millisecond), s.Passing)
	assert.Equal(t, circulation.Quantiles([]time.Duration{1e6, 2e6, 9e6}), s.Telling)
	assert.Equal(t, circulation.Uniform(time.Second, 2*time.Second), s.Operation)
	assert.InDelta(t, 0.01, s.PassLoss, 1e-12)
	assert.InDelta(t, 0.02, s.TellLoss, 1e-12)

	code, out, errs := runCommand(fullScenario, "scenario", "-", "--seeds", "1")
	require.Zero(t, code, errs)
	assert.Contains(t, out, "waits: share below 60 s")
	assert.NotContains(t, out, "visits: ")
}

// The example of the help works, but for its comments' alternatives.
func TestScenario_Help_IsAScenario(t *testing.T) {
	_, help, _ := runCommand("", "scenario", "--help")
	_, example, _ := strings.Cut(help, "may be\nleft out:")
	example, _, _ = strings.Cut(example, "Usage:")
	_, err := parseScenario("help", []byte(example))
	assert.NoError(t, err)
	assert.Greater(t, strings.Count(example, "="), 25)
}

func TestScenario_Mistakes_Refused(t *testing.T) {
	const resource = "[resource]\noperation_time = \"4s\"\nmembers_max = 30\n"
	for name, c := range map[string]struct {
		text, says, hint string
	}{
		"unknown key":            {resource + "skipdelay = \"1s\"\n", `-:4:1: unknown key "resource.skipdelay"`, `did you mean "resource.skip_delay"?`},
		"no resource":            {"members = 3\n", "operation_time", ""},
		"unknown policy":         {resource + "policy = \"nonsense\"\n", "nonsense", ""},
		"parameter without use":  {resource + "target_interval = \"1s\"\n", "target_interval", "preset fair of policy wandering uses"},
		"slots":                  {resource + "slots = 2\n", "slots and max_hold must be left out", ""},
		"bare number":            {"duration = 5\n" + resource, "is not a duration", ""},
		"too long":               {"duration = \"36500d\"\n" + resource, "duration is", ""},
		"warm-up to the end":     {"duration = \"1s\"\n" + resource + "[measure]\nwarm_up = \"1s\"\n", "warm_up is 1s", ""},
		"unknown measure":        {resource + "[measure]\nwhat = [\"weather\"]\n", `unknown measure "weather", known are concurrency, tokens`, ""},
		"too fine":               {resource + "[measure]\nbin = \"1ns\"\n", "times bin", ""},
		"odd acquaintances":      {"acquaintances = 3\n" + resource, "acquaintances out of range: 3", ""},
		"latency":                {resource + "[latency]\npassing = \"sometimes 3s\"\n", `"sometimes 3s": must be a distribution`, ""},
		"latency backwards":      {resource + "[latency]\npassing = \"uniform 3s 1s\"\n", "from 3s to 1s", ""},
		"demand":                 {"demand = \"every day\"\n" + resource, `"every day": must be`, ""},
		"share":                  {resource + "[faults]\npass_loss = \"many\"\n", `"many": must be a ratio`, ""},
		"share above one":        {resource + "[faults]\npass_loss = \"101%\"\n", "probability out of range", ""},
		"more tokens than peers": {"tokens = 31\n" + resource, "31 tokens, 30 members", ""},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := runCommand(c.text, "scenario", "-")
			assert.Equal(t, cli.ExitConfiguration, code)
			assert.Empty(t, out)
			assert.Contains(t, errs, c.says)
			assert.Contains(t, errs, c.hint)
			assert.True(t, strings.HasPrefix(errs, "error: -"), errs)
		})
	}
	code, _, errs := runCommand("", "scenario", "/nowhere/x.toml")
	assert.Equal(t, cli.ExitConfiguration, code)
	assert.Contains(t, errs, "/nowhere/x.toml")
}

func TestExperiments_Mistakes_Refused(t *testing.T) {
	for want, args := range map[string][]string{
		`unknown experiment "x"`:                                    {"run", "x"},
		"cannot be combined with others":                            {"run", "all", "slides-setup"},
		"no experiment specified\nhint: wander-lab list shows them": {"run"},
		`hint: did you mean "journal-fig2"?`:                        {"run", "jurnal-fig2"},
		"hint: wander-lab list shows them\n":                        {"run", "zzzzzzzz"},
		"--seeds 0: must be 1 to 10000":                             {"run", "slides-setup", "--seeds", "0"},
		"--first 0: must be 1 to 1000000000":                        {"run", "slides-setup", "--first", "0"},
		"--first 2000000000: must be 1":                             {"sweep", "ring-worst", "--first", "2000000000"},
		"--first -1: ":                                              {"scenario", "x.toml", "--first", "-1"},
		"--parallel -1: must not be negative":                       {"run", "slides-setup", "--parallel", "-1"},
		`--output "xml": must be text or json`:                      {"list", "-o", "xml"},
	} {
		code, out, errs := runCommand("", args...)
		assert.Equal(t, cli.ExitUsage, code, want)
		assert.Empty(t, out)
		assert.Contains(t, errs, want)
	}
}

func TestExperiments_ListAndRun_Printed(t *testing.T) {
	code, out, _ := runCommand("", "list")
	assert.Zero(t, code)
	known := append(experiment.All(), experiment.Beyond()...)
	for _, e := range known {
		assert.Contains(t, out, e.Name)
	}
	var list, ran listing
	_, out, _ = runCommand("", "list", "--output", "json")
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	assert.Equal(t, 1, list.V)
	assert.Len(t, list.Experiments, len(known))

	code, out, errs := runCommand("", "run", "slides-setup", "slides-setup", "--seeds", "2")
	require.Zero(t, code, errs)
	assert.Equal(t, 1, strings.Count(out, "slides-setup:"))
	assert.Contains(t, out, "slides-saturation  200 Mbps accommodate up to 300 subscribers of 650 Kbps")
	assert.Empty(t, errs, "progress is for terminals")

	dir := t.TempDir()
	code, out, errs = runCommand("", "run", "slides-setup", "--seeds", "2", "--first", "7", "--out", dir+"/new", "--output", "json")
	require.Zero(t, code, errs)
	require.NoError(t, json.Unmarshal([]byte(out), &ran))
	assert.Equal(t, 2, ran.Seeds)
	assert.EqualValues(t, 7, ran.First)
	assert.Equal(t, experiment.Arithmetic, ran.Experiments[0].Rows[0].Kind)
	assert.Equal(t, experiment.Reproduced, ran.Experiments[0].Rows[0].Verdict)
	assert.FileExists(t, dir+"/new/data/slides-setup-claims.csv")
	page, err := os.ReadFile(dir + "/new/reproduction.md")
	require.NoError(t, err)
	assert.Contains(t, string(page), "go run ./cmd/wander-lab run slides-setup --seeds 2 --first 7 --out docs\n")
}

// --against names the samples that an earlier run saved with the same seeds and that the runs do not give any more.
func TestRun_Against_StaleSamplesNamed(t *testing.T) {
	dir := t.TempDir()
	code, _, errs := runCommand("", "run", "slides-setup", "--seeds", "1", "--against", dir)
	assert.Equal(t, cli.ExitFailure, code)
	assert.Contains(t, errs, "hint: --against names the folder that an earlier run wrote with --out")
	code, _, _ = runCommand("", "run", "slides-setup", "--seeds", "1", "--out", dir)
	require.Equal(t, cli.ExitOK, code)
	code, out, _ := runCommand("", "run", "slides-setup", "--seeds", "2", "--against", dir)
	assert.Equal(t, cli.ExitOK, code)
	assert.Contains(t, out, ", 0 differ from those in "+dir)

	name := filepath.Join(dir, "data", "slides-setup-claims.csv")
	saved, err := os.ReadFile(name)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(saved), "\n")
	row, _, _ := strings.Cut(lines[1], ",")
	lines[1] = strings.TrimRight(lines[1], "0123456789.e+-\n") + "-1\n"
	require.NoError(t, os.WriteFile(name, []byte(strings.Join(lines, "")), 0o600))
	code, out, errs = runCommand("", "run", "slides-setup", "--seeds", "1", "--against", dir)
	assert.Equal(t, cli.ExitFailure, code)
	assert.Contains(t, out, ", 1 differ from those in "+dir+"\n  "+row+", seed 1: saved -1, now ")
	assert.Contains(t, errs, "samples in "+dir+" that are out of date: 1, of experiment slides-setup first")
	code, _, errs = runCommand("", "run", "slides-setup", "--seeds", "1", "--output", "json", "--against", dir)
	assert.Equal(t, cli.ExitFailure, code)
	assert.Contains(t, errs, "out of date")
}

// Few seeds decide nothing, which is said once, and only where it explains something.
func TestRun_FewerThanSixSeeds_WhyOpen(t *testing.T) {
	const why = "open: fewer than 6 seeds decide no random claim; run with --seeds 6 or more\n"
	var last bytes.Buffer
	row := func(v experiment.Verdict) experiment.Result {
		return experiment.Result{Rows: []experiment.Row{{Verdict: v}, {Verdict: v}}}
	}
	for name, c := range map[string]struct {
		seeds   int
		verdict experiment.Verdict
		times   int
	}{
		"too few":         {experiment.MinSeeds - 1, experiment.Open, 1},
		"enough":          {experiment.MinSeeds, experiment.Open, 0},
		"nothing to toss": {1, experiment.Reproduced, 0},
	} {
		t.Run(name, func(t *testing.T) {
			last.Reset()
			require.NoError(t, runFlags{seeds: c.seeds}.print(&last, []experiment.Result{row(c.verdict), row(c.verdict)}))
			assert.Equal(t, c.times, strings.Count(last.String(), why), last.String())
		})
	}
}

// runInterrupted runs a command that gets Ctrl-C again and again, as it may come before
// the command listens to it. Each one has been delivered before the next is sent, and
// so none is on its way any more when another command begins.
func runInterrupted(t *testing.T, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot send itself Ctrl-C")
	}
	self, err := os.FindProcess(os.Getpid())
	require.NoError(t, err)
	delivered := make(chan os.Signal, 1)
	signal.Notify(delivered, os.Interrupt) // nor does one end the tests
	defer signal.Stop(delivered)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		again := time.NewTicker(20 * time.Millisecond)
		defer again.Stop()
		for {
			select {
			case <-again.C:
				_ = self.Signal(os.Interrupt)
				<-delivered
			case <-done:
				return
			}
		}
	}()
	defer func() {
		close(done)
		<-ended
	}()
	return runCommand(in, args...)
}

// Ctrl-C ends a simulation of years at once.
func TestScenario_Interrupted_Ends(t *testing.T) {
	long := strings.Replace(smallScenario, `"5000s"`, `"3650d"`, 1)
	code, out, errs := runInterrupted(t, long, "scenario", "-", "--seeds", "1")
	assert.Equal(t, 130, code)
	assert.Empty(t, out)
	assert.Equal(t, "error: interrupted\n", errs)
}

// What was to be written is not there, nor a folder made for it.
func TestRun_Interrupted_WritesNothing(t *testing.T) {
	dir := t.TempDir()
	code, out, errs := runInterrupted(t, "", "run", "journal-fig2", "--seeds", "10000", "--out", filepath.Join(dir, "new", "papers"))
	assert.Equal(t, 130, code)
	assert.Empty(t, out)
	assert.Equal(t, "error: interrupted before anything was written\n", errs)
	assert.NoDirExists(t, filepath.Join(dir, "new"))
	assert.DirExists(t, dir, "it was there before")

	code, _, _ = runInterrupted(t, "", "run", "journal-fig2", "--seeds", "10000", "--out", dir)
	assert.Equal(t, 130, code)
	assert.DirExists(t, dir, "it was there before")
}

// What is saved becomes pages, and what is not is named.
func TestPage_Saved_Pages(t *testing.T) {
	dir := t.TempDir()
	code, out, errs := runCommand("", "page", dir)
	assert.Equal(t, cli.ExitFailure, code)
	assert.Empty(t, out)
	assert.Contains(t, errs, "hint: wander-lab run all --out "+dir)

	require.NoError(t, os.CopyFS(filepath.Join(dir, "data"), os.DirFS("../../docs/data")))
	code, out, errs = runCommand("", "page", dir)
	assert.Zero(t, code, errs)
	for _, name := range []string{"reproduction.md", "beyond.md", "register.md", "data/claims.csv", "data/constants.csv"} {
		assert.Contains(t, out, filepath.Join(dir, filepath.FromSlash(name)))
	}
	assert.Empty(t, errs)

	walk := filepath.Join(dir, "data", "beyond-walk.json")
	require.NoError(t, os.Remove(walk))
	code, _, errs = runCommand("", "page", dir)
	assert.Zero(t, code)
	assert.Equal(t, "warning: omitted from the pages, because no result is saved: beyond-walk\n", errs)

	require.NoError(t, os.WriteFile(walk, []byte("{"), 0o600))
	code, _, errs = runCommand("", "page", dir)
	assert.Equal(t, cli.ExitFailure, code)
	assert.Contains(t, errs, "beyond-walk.json")
	assert.Contains(t, errs, "hint: measure it again")
}

// A sweep prints each row with each value, and saves it for the pages.
func TestSweep_RingWorst_PrintedAndSaved(t *testing.T) {
	dir := t.TempDir()
	code, _, errs := runCommand("", "run", "ring-worst", "--seeds", "1", "--out", dir)
	require.Zero(t, code, errs)
	register := func() string {
		text, err := os.ReadFile(filepath.Join(dir, "data", "constants.csv"))
		require.NoError(t, err)
		return string(text)
	}
	assert.Regexp(t, `far requests,20,.*,ring-worst,10; 40,,not run\n`, register())

	code, out, errs := runCommand("", "sweep", "ring-worst", "--first", "3", "--out", dir)
	require.Zero(t, code, errs)
	assert.Empty(t, errs)
	assert.Regexp(t, `far requests +10 +ring-lower-messages/q +64 +64 to 64 +reproduced\n`, out)
	assert.Regexp(t, `far requests,20,.*,ring-worst,10; 40,,none\n`, register())

	code, out, errs = runCommand("", "sweep", "ring-worst", "--seeds", "1", "--first", "3", "--output", "json")
	require.Zero(t, code, errs)
	var swept sweepReport
	require.NoError(t, json.Unmarshal([]byte(out), &swept))
	assert.Equal(t, [3]int{1, 1, 3}, [3]int{swept.V, swept.Seeds, int(swept.First)})
	assert.NotEmpty(t, swept.Rows)

	code, _, errs = runCommand("", "sweep", "nonesuch")
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs, "unknown experiment")
}
