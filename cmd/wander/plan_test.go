package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/sim/plan"
)

// quickPlan is a group that takes a moment to simulate.
var quickPlan = []string{"plan", "--members", "10", "--operation-time", "4s", "--seeds", "2", "--policy", "uncoordinated"}

func TestPlanText(t *testing.T) {
	t.Parallel()
	code, out, errs := runCommand("", append(quickPlan, "--every", "10m")...)
	require.Zero(t, code, errs)
	assert.Empty(t, errs, "progress is for a terminal")
	for _, says := range []string{
		"10 members, operations of 4s, who want to run again 10m after an operation",
		"policy uncoordinated, preset journal",
		"wait          p50 ", "between runs  p50 ", "idle          ", "two at once   ", "more at once  ",
		"messages      0 an hour from each member", "per operation 0 messages, 0 of them between policies; ", "simulated     2 runs of ", " from seed 1 on",
	} {
		assert.Contains(t, out, says)
	}
}

func TestPlanJSON(t *testing.T) {
	t.Parallel()
	code, out, errs := runCommand("", append(quickPlan, "--output", "json")...)
	require.Zero(t, code, errs)
	assert.Empty(t, errs)
	var p plan.Report
	require.NoError(t, json.Unmarshal([]byte(out), &p))
	assert.Equal(t, 1, p.V)
	assert.Equal(t, 10, p.Members)
	assert.Equal(t, 2, p.Seeds)
	assert.Positive(t, p.Wait.P99)
	assert.NotNil(t, p.Hints)

	_, again, _ := runCommand("", append(quickPlan, "--output", "json")...)
	assert.Equal(t, out, again)
}

// TestPlanMistakes: what is wrong on the command line is said, with what to do.
func TestPlanMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"nothing":        {[]string{"plan"}, "required flags missing: --members, --operation-time"},
		"argument":       {append(quickPlan, "x"), `unexpected argument "x"`},
		"members":        {append(quickPlan, "--members", "1"), "members out of range: 1, permitted are 2 to 1000000"},
		"span":           {append(quickPlan, "--every", "5"), `"5" is not a duration`},
		"loss":           {append(quickPlan, "--loss", "x%"), `--loss "x%": must be a ratio`},
		"all lost":       {append(quickPlan, "--loss", "100%"), "loss out of range"},
		"policy":         {append(quickPlan, "--policy", "x"), `"x", known are`},
		"preset":         {append(quickPlan, "--preset", "x"), `"x", known are journal, report`},
		"not its own":    {append(quickPlan, "--target-interval", "1h"), "does not use target_interval"},
		"target":         {append(quickPlan, "--policy", "multitoken"), "hint: add --target-interval DUR"},
		"output":         {append(quickPlan, "--output", "xml"), "text or json"},
		"operation time": {append(quickPlan, "--operation-time", "0s"), "operation_time is 0s"},
		"down":           {append(quickPlan, "--down-for", "1m"), "--down-for has no effect without --crash"},
		"volatile":       {append(quickPlan, "--volatile"), "--volatile has no effect without --crash"},
		"members max":    {append(quickPlan, "--members-max", "0"), "--members-max 0: must be greater than 0"},
		"crashes":        {append(quickPlan, "--crash", "1ns"), "crash is 1ns, permitted are 12s and more"},
		"set nothing":    {append(quickPlan, "--set", "x"), "write NAME=VALUE"},
		"set unknown":    {append(quickPlan, "--set", "x=1"), `unknown parameter "x"; known are operation_time, members_max`},
		"set unused":     {append(quickPlan, "--set", "queue_capacity=3"), "preset journal does not use queue_capacity"},
		"set twice":      {append(quickPlan, "--set", "min_interval=1s", "--set", "min_interval=2s"), "set twice"},
		"set by a flag":  {append(quickPlan, "--set", "operation_time=1s"), "already set by --operation-time"},
		"set no span":    {append(quickPlan, "--set", "min_interval=5"), `"5" is not a duration`},
		"set too fine":   {append(quickPlan, "--set", "min_interval=1500us"), "whole number of milliseconds"},
		"set negative":   {append(quickPlan, "--set", "min_interval=-1s"), "min_interval is -1s, permitted are 0 (derived) and 1ms"},
		"set to nothing": {append(quickPlan, "--set", "min_interval=0s"), "leave it out"},
		"set no ratio":   {append(quickPlan, "--set", "growth_factor=x"), `"x": must be a number`},
		"set no count":   {append(quickPlan, "--set", "queue_capacity=1.5"), "must be a whole number"},
		"set no choice":  {append(quickPlan, "--set", "on_silent_holder=run"), `"run": must be one of wait, replace`},
		"set no flag":    {append(quickPlan, "--set", "generator_rests=1"), "must be true or false"},
		"set too large":  {append(quickPlan, "--set", "min_interval=36500d"), "min_interval is"},
		"windows":        {append(quickPlan, "--windows", "Mon 22:00 UTC"), `--windows: invalid window: "22:00" is not a span`},
		"zone":           {append(quickPlan, "--windows", "Mon 22:00-23:00 Nowhere/None"), `--windows: unknown time zone: `},
		"short window":   {append(quickPlan, "--windows", "Mon 22:00-22:01 UTC", "--operation-time", "2m"), "is shorter than operation_time, 2m0s, in windows\nhint: give at most 8 windows"},
		"nine windows":   {append(quickPlan, slices.Repeat([]string{"--windows", "Mon 22:00-23:00 UTC"}, 9)...), "windows has 9, permitted are 8"},
		"begin":          {append(quickPlan, "--windows", "Mon 22:00-23:00 UTC", "--begin", "monday"), `--begin monday: "monday" is not a moment: write for example "2026-01-05" (midnight UTC)`},
		"begin alone":    {append(quickPlan, "--begin", "2026-01-05"), "--begin has no effect without windows"},
		"early begin":    {append(quickPlan, "--windows", "Mon 22:00-23:00 UTC", "--begin", "1969-01-05"), "begin out of range"},
		"resource":       {append(quickPlan, "--resource", "ftp"), "--resource has no effect without --group FILE.toml"},
		"no members":     {[]string{"plan", "--group", "x.toml"}, "required flags missing: --members\n"},
		"first":          {append(quickPlan, "--first", "0"), "the first is 0, permitted are 1 to 1000000000"},
		"seeds":          {append(quickPlan, "--seeds", "0"), "seeds out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := runCommand("", c.args...)
			assert.Equal(t, cli.ExitUsage, code)
			assert.Empty(t, out)
			assert.Contains(t, errs, c.says)
		})
	}
}

// TestPlan_Windows_Shown: the text and the JSON say what the windows come to.
func TestPlan_Windows_Shown(t *testing.T) {
	t.Parallel()
	args := append(quickPlan, "--every", "10m", "--windows", "Mon-Sun 08:00-14:00 UTC", "--windows", "Mon-Sun 14:00-20:00 UTC")
	code, out, errs := runCommand("", append(args, "--begin", "2026-01-05T01:00:00+01:00")...)
	require.Zero(t, code, errs)
	assert.Regexp(t, `
windows Mon-Sun 08:00-14:00 UTC; Mon-Sun 14:00-20:00 UTC: open 50 % of the time from 2026-01-05T00:00:00Z on

wait          p50 .*
wait if open  p50 .*
between runs  p50 .*
idle          .* % of the open time; although somebody waits .* % of the open time
two at once   .* % of the open time
more at once  .* % of the open time
messages      .*
open hour     [0-9.]+ operations in each
`, out)
	code, out, errs = runCommand("", append(args, "--output", "json")...)
	require.Zero(t, code, errs)
	var p plan.Report
	require.NoError(t, json.Unmarshal([]byte(out), &p))
	require.NotNil(t, p.Hours)
	assert.Equal(t, "Mon-Sun 08:00-14:00 UTC; Mon-Sun 14:00-20:00 UTC", p.Hours.Text)
	assert.Equal(t, plan.DefaultBegin, p.Hours.Begin)
	assert.InDelta(t, 0.5, p.Hours.Open, 1e-9)
	assert.Greater(t, p.Wait.P99, 11*3600., "whoever asks in the evening")
	assert.Less(t, p.Hours.Wait.P99, 3600.)

	code, out, errs = runCommand("", append(args, "--compare")...)
	require.Zero(t, code, errs)
	assert.Contains(t, out, "no crash\nwindows Mon-Sun 08:00-14:00 UTC; Mon-Sun 14:00-20:00 UTC: open 50 % of the time from 2026-01-05T00:00:00Z on\n\npreset ")
}

// TestPlan_Group_TakesTheResource: --group takes what the file says, a flag prevails.
func TestPlan_Group_TakesTheResource(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "group.toml")
	require.NoError(t, os.WriteFile(file, []byte(`
[[resource]]
name = "ftp"
operation_time = "30s"
members_max = 4
slots = 2
policy = "uncoordinated"
preset = "report"
min_interval = "5m"
windows = ["Mon-Sun 08:00-20:00 UTC"]

[[resource]]
name = "backup"
operation_time = "10m"
members_max = 4
weights = "big=3, small=1"
`), 0o600))
	args := []string{"plan", "--members", "4", "--seeds", "1", "--group", file}
	code, out, errs := runCommand("", append(args, "--resource", "ftp", "--every", "1h")...)
	require.Zero(t, code, errs)
	for _, says := range []string{
		"4 members, operations of 30s, ", "policy uncoordinated, preset report, min_interval 5m\n", "windows Mon-Sun 08:00-20:00 UTC: open 50 % of the time",
		"hint: ftp has 2 slots, each with a token of its own; one of them was simulated",
	} {
		assert.Contains(t, out, says)
	}
	code, out, errs = runCommand("", append(args, "--resource", "ftp", "--every", "1h", "--operation-time", "20s", "--preset", "journal", "--min-interval", "6m",
		"--windows", "Mon-Sun 00:00-06:00 UTC")...)
	require.Zero(t, code, errs)
	assert.Contains(t, out, "4 members, operations of 20s, ")
	assert.Contains(t, out, "preset journal, min_interval 6m\n")
	assert.Contains(t, out, "windows Mon-Sun 00:00-06:00 UTC: open 25 % of the time")
	code, out, errs = runCommand("", append(args, "--resource", "backup")...)
	require.Zero(t, code, errs)
	assert.Contains(t, out, "policy wandering, preset fair\n")
	assert.Contains(t, out, "weight 3      2 members: ")
	assert.NotContains(t, out, "windows")

	other := func(name, text string) []string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return []string{"--group", path}
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"several":  {nil, cli.ExitUsage, "has several resources: name one with --resource, of backup, ftp"},
		"none":     {[]string{"--resource", "x"}, cli.ExitUsage, `--resource "x" is not in ` + file + ", which has backup, ftp"},
		"few":      {[]string{"--resource", "backup", "--members", "1"}, cli.ExitUsage, "weights out of range: 2 weights"},
		"no file":  {[]string{"--group", file + ".none"}, cli.ExitConfiguration, "group.toml.none"},
		"bad file": {other("bad.toml", "[[resource]]\nname = 1\n"), cli.ExitConfiguration, "bad.toml:2"},
		"empty":    {other("empty.toml", "name = \"a\"\n"), cli.ExitConfiguration, "resource"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := runCommand("", append(args, c.args...)...)
			assert.Equal(t, c.code, code)
			assert.Empty(t, out)
			assert.Contains(t, errs, c.says)
		})
	}
}

// TestPlanSet: each parameter can be set, and the answer repeats what was asked.
func TestPlanSet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"span":   {[]string{"--set", "min_interval=1m"}, "policy uncoordinated, preset journal, min_interval 1m\n0s one way, no loss, no crash\n"},
		"choice": {[]string{"--policy", "wandering", "--set", "on_silent_holder=replace", "--members", "2"}, "preset fair, on_silent_holder replace\n"},
		"flag and factor": {
			[]string{"--policy", "wandering", "--preset", "report", "--set", "growth_factor=2.5", "--set", "max_interval=10m", "--set", "generator_rests=true"},
			"preset report, max_interval 10m, growth_factor 2.5, generator_rests true\n",
		},
		"count": {[]string{"--policy", "multitoken", "--preset", "jittered", "--target-interval", "1m", "--set", "queue_capacity=3"}, "target_interval 1m, queue_capacity 3\n"},
		"faults": {
			[]string{"--loss", "1%", "--latency", "20ms", "--crash", "1m", "--down-for", "30s", "--volatile"},
			"20ms one way, 1 % of the handoffs lose the token, a crash of a volatile member every 1m on average, down for 30s\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := runCommand("", append(append(quickPlan, "--seeds", "1"), c.args...)...)
			require.Zero(t, code, errs)
			assert.Contains(t, out, c.says)
		})
	}
}

func TestShortTimes(t *testing.T) {
	for s, want := range map[float64]string{
		0: "0s", 0.0123456: "12.3ms", 1.23456: "1.23s", 12.3456: "12.3s", 123.456: "2m3s", 7384.5: "2h3m5s",
	} {
		assert.Equal(t, want, inSeconds(s))
	}
	assert.Equal(t, "12.3 %", percent(0.12345))
	assert.Equal(t, "0 %", percent(0))
}

// All presets of a policy are in one table, but those that do not use what was
// set.
func TestPlanCompare(t *testing.T) {
	t.Parallel()
	code, out, errs := runCommand("", append(quickPlan, "--compare")...)
	require.Zero(t, code, errs)
	assert.Contains(t, out, "10 members, operations of 4s, who want to run again at once, policy uncoordinated\n")
	assert.Regexp(t, `\npreset +idle +two or more .* messages per operation +with gossip\njournal +.* 0 +[0-9.]+\nreport +.* 0 +[0-9.]+\n`, out)

	code, out, errs = runCommand("", append(quickPlan, "--compare", "--output", "json")...)
	require.Zero(t, code, errs)
	var all planComparison
	require.NoError(t, json.Unmarshal([]byte(out), &all))
	require.Len(t, all.Plans, 2)
	assert.Equal(t, "report", all.Plans[1].Preset)

	many := []string{"plan", "--members", "3", "--operation-time", "4s", "--seeds", "1", "--policy", "multitoken", "--target-interval", "12s"}
	code, out, errs = runCommand("", append(many, "--compare", "--set", "interval_factor=4")...)
	require.Zero(t, code, errs)
	assert.Contains(t, out, "hint: preset t3gj is omitted: it does not use a parameter that was set\n")
	code, _, errs = runCommand("", append(quickPlan, "--compare", "--set", "max_interval=1h")...)
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs, "does not use max_interval; leave it out")
	code, _, errs = runCommand("", append(quickPlan, "--compare", "--preset", "report")...)
	assert.NotZero(t, code)
	assert.Contains(t, errs, "--compare and --preset cannot be combined")
}
