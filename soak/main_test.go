package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/soak/plan"
)

func TestParse_Flags_Read(t *testing.T) {
	o, err := parse([]string{"-for", "30m", "-members", "12", "-seed", "7", "-plan", "calm", "-timing"}, nil)
	require.NoError(t, err)
	assert.Equal(t, options{Plan: "calm", For: 30 * time.Minute, Members: 12, Seed: 7, Silence: plan.DefaultSilence, Timing: true}, o)
}

func TestParse_Invalid_Refused(t *testing.T) {
	for _, args := range [][]string{{"extra"}, {"-for", "soon"}, {"-nothing"}, {"-seed", "-1"}} {
		_, err := parse(args, nil)
		assert.Error(t, err, args)
	}
}

func TestParse_Defaults_MakeAPlan(t *testing.T) {
	o, err := parse(nil, nil)
	require.NoError(t, err)
	p, err := o.makePlan()
	require.NoError(t, err)
	var b strings.Builder
	show(&b, p)
	assert.Contains(t, b.String(), "kill")
}

// The page for operators has a row for each plan.
func TestPlans_Each_InThePage(t *testing.T) {
	page, err := os.ReadFile("../docs/soak.md")
	require.NoError(t, err)
	for _, name := range plan.Names() {
		assert.True(t, strings.Contains(string(page), "\n| `"+name+"` |"), name)
	}
}
