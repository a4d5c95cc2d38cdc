package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse_Flags_Read(t *testing.T) {
	o, err := parse([]string{"-cases", "rests,cut", "-presets", "ring", "-modes", "volatile", "-on-silent-holder", "wait,replace", "-silence", "1s", "-runs", "3", "-check"}, nil)
	require.NoError(t, err)
	assert.Equal(t, options{
		Cases: []string{"rests", "cut"}, Presets: []string{"ring"}, Modes: []string{"volatile"}, OnSilent: []string{"wait", "replace"},
		Silence: time.Second, Hold: 8 * time.Second, Members: 5, Runs: 3, Check: true,
	}, o)
}

func TestParse_Invalid_Refused(t *testing.T) {
	for _, args := range [][]string{{"extra"}, {"-cases", "flood"}, {"-presets", "paper"}, {"-members", "3"}, {"-runs", "0"}, {"-max-hold", "1s"}} {
		_, err := parse(args, nil)
		assert.Error(t, err, args)
	}
}

func TestRow_MedianAboveGoal_Missed(t *testing.T) {
	r := row{kase: kase{name: "x", goal: silent}, onSilent: "wait", silence: 4 * time.Second}
	for _, gap := range []time.Duration{time.Second, 5 * time.Second, time.Minute} {
		r.outcomes = append(r.outcomes, outcome{gap: gap})
	}
	assert.False(t, r.missed())
	assert.Contains(t, r.String(), "| 5.00 s | 60.00 s |")
	r.outcomes[0].gap = 6 * time.Second
	assert.True(t, r.missed())
	assert.Contains(t, r.String(), "5.50 s, missed")
}

func TestRow_RunningHolder_GoalIsThatOfTheSetting(t *testing.T) {
	r := row{kase: kase{goal: granted}, onSilent: "wait", silence: 30 * time.Second}
	assert.Equal(t, time.Second, r.limit(), "after the end of the grant")
	r.onSilent = "replace"
	assert.Equal(t, 30*time.Second+grace, r.limit())
}
