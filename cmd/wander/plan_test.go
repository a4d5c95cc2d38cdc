package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/sim/plan"
)

// quickPlan is a group that takes a moment to simulate.
var quickPlan = []string{"plan", "--members", "10", "--operation-time", "4s", "--seeds", "2", "--policy", "uncoordinated"}

func TestPlanText(t *testing.T) {
	code, out, errs := runCommand("", append(quickPlan, "--every", "10m")...)
	require.Zero(t, code, errs)
	assert.Empty(t, errs, "progress is for a terminal")
	for _, says := range []string{
		"10 members, operations of 4s, who want to run again 10m0s after an operation",
		"policy uncoordinated, preset journal",
		"wait          p50 ", "between runs  p50 ", "idle          ", "two at once   ", "more at once  ",
		"messages      0 an hour from each member", "simulated     2 runs of ",
	} {
		assert.Contains(t, out, says)
	}
}

func TestPlanJSON(t *testing.T) {
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
		"nothing":        {[]string{"plan"}, `required flag(s) "members", "operation-time" not set`},
		"argument":       {append(quickPlan, "x"), `unknown command "x" for "wander plan"`},
		"members":        {append(quickPlan, "--members", "1"), "members out of range: 1, permitted are 2 to 1000000"},
		"span":           {append(quickPlan, "--every", "5"), `"5" is not a duration`},
		"loss":           {append(quickPlan, "--loss", "x%"), `--loss "x%": write a share`},
		"all lost":       {append(quickPlan, "--loss", "100%"), "loss out of range"},
		"policy":         {append(quickPlan, "--policy", "x"), `"x", known are`},
		"preset":         {append(quickPlan, "--preset", "x"), `"x", known are journal, report`},
		"not its own":    {append(quickPlan, "--target-interval", "1h"), "does not use target_interval"},
		"target":         {append(quickPlan, "--policy", "multitoken"), "hint: add --target-interval DUR"},
		"output":         {append(quickPlan, "--output", "xml"), "text or json"},
		"operation time": {append(quickPlan, "--operation-time", "0s"), "operation_time is 0s"},
		"seeds":          {append(quickPlan, "--seeds", "0"), "seeds out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := runCommand("", c.args...)
			assert.Equal(t, exitUsage, code)
			assert.Empty(t, out)
			assert.Contains(t, errs, c.says)
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
