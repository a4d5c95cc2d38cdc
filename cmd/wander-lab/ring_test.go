package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
)

func TestRing_Explored_Text(t *testing.T) {
	code, out, errs := runCommand("", "ring", "--processors", "2", "--algorithm", "d", "--published")
	require.Zero(t, code, errs)
	assert.Empty(t, errs)
	assert.Equal(t, `d-published in a ring of 2: 87 states, 194 steps
  two inside:  r0 r1 d1 d0
  nobody stuck
  the last 2 steps without end:  r1 d1 r0 d0 x1 d1 d0 d1 d0 d1 d0
`, out)

	code, out, errs = runCommand("", "ring", "--processors", "2", "--algorithm", "e")
	require.Zero(t, code, errs)
	assert.Contains(t, out, "e in a ring of 2: 10 states, 17 steps\n  never two inside\n  nobody stuck\n")
	assert.Regexp(t, `messages a request +2 `, out)
	assert.Regexp(t, `service traffic, sent +3 `, out)

	code, out, errs = runCommand("", "ring", "--processors", "2", "--algorithm", "e", "--withdrawals")
	require.Zero(t, code, errs)
	assert.Contains(t, out, "e in a ring of 2: 19 states")

	code, out, errs = runCommand("", "ring", "--processors", "3", "--algorithm", "e", "--overtaking", "both")
	require.Zero(t, code, errs)
	assert.Contains(t, out, "left out")
	assert.Contains(t, out, "somebody stuck:")
}

func TestRing_Explored_JSON(t *testing.T) {
	code, out, errs := runCommand("", "ring", "--processors", "5", "-o", "json")
	require.Zero(t, code, errs)
	var r ringReport
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Equal(t, 1, r.V)
	assert.Equal(t, "e", r.Algorithm)
	assert.Equal(t, 8, r.PerRequest.Messages)
	assert.Equal(t, 1, r.PerRequest.Requests)
	require.Len(t, r.Traffic, 4)
	assert.Equal(t, 12, r.Traffic[0].Messages)
	assert.Empty(t, r.Deadlock)
}

func TestRing_Play_Counted(t *testing.T) {
	code, out, errs := runCommand("", "ring", "--processors", "2", "--algorithm", "q", "--published", "--play", "r0 r1 d1 d0", "-o", "json")
	require.Zero(t, code, errs)
	assert.JSONEq(t, `{"v":1,"requests":2,"served":2,"sent":2,"delivered":2,
		"service_traffic_sent":2,"service_traffic_delivered":2,"most_inside":2,"stuck":false}`, out)
	code, out, errs = runCommand("", "ring", "--processors", "2", "--algorithm", "q-deferred", "--play", "r0 r1 d1 x0")
	require.Zero(t, code, errs)
	assert.Regexp(t, `stuck +true`, out)
}

func TestRing_BadFlags_Refused(t *testing.T) {
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{cli.ExitUsage, "2 to 10 can be explored", []string{"--processors", "11"}},
		{cli.ExitUsage, "known are s, q, d, e", []string{"--algorithm", "x"}},
		{cli.ExitUsage, "--published is for algorithms q and d, not for e\n", []string{"--published"}},
		{cli.ExitUsage, "--published is for algorithms q and d, not for q-published\n", []string{"--published", "--algorithm", "q-published"}},
		{cli.ExitUsage, "--algorithm x: unknown ring algorithm", []string{"--algorithm", "x"}},
		{cli.ExitUsage, "the schedule is empty\nhint: write steps", []string{"--play", ""}},
		{cli.ExitUsage, `malformed schedule: "foo"` + "\nhint: write steps", []string{"--play", "foo"}},
		{cli.ExitUsage, "none, requests, token or both", []string{"--overtaking=all"}},
		{cli.ExitUsage, "--memory 0: must be 1 to", []string{"--memory", "0"}},
		{cli.ExitUsage, "--backlog -1: must not be negative", []string{"--backlog", "-1"}},
		{cli.ExitUsage, "text or json", []string{"-o", "xml"}},
		{cli.ExitUsage, "malformed schedule", []string{"--play", "z0"}},
		{cli.ExitUsage, "step 1: impossible step: d0", []string{"--play", "d0"}},
		{cli.ExitFailure, "more --memory", []string{"--processors", "8", "--memory", "1"}},
	} {
		code, out, errs := runCommand("", append([]string{"ring"}, c.args...)...)
		assert.Equal(t, c.code, code, c.args)
		assert.Empty(t, out)
		assert.Contains(t, errs, c.says)
	}
}

// What may overtake is a flag with a value like every other, and capitals, which
// the papers use, name the algorithms, too.
func TestRing_FlagForms_Same(t *testing.T) {
	_, want, _ := runCommand("", "ring", "--processors", "2", "--algorithm", "d", "--overtaking=requests")
	code, out, errs := runCommand("", "ring", "--processors", "2", "--algorithm", "D", "--overtaking", "requests")
	require.Zero(t, code, errs)
	assert.Equal(t, want, out)
	_, fifo, _ := runCommand("", "ring", "--processors", "2", "--algorithm", "d")
	assert.NotEqual(t, want, fifo)
	_, help, _ := runCommand("", "ring", "--help")
	assert.NotContains(t, help, "[=")
}
