package main

import (
	"encoding/json"
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
