package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTimerSlack_Given_InheritedByTheProcessOnly(t *testing.T) {
	var child []byte
	require.NoError(t, withTimerSlack(unitSlack, func() (err error) {
		child, err = exec.Command("cat", "/proc/self/timerslack_ns").Output()
		return err
	}))
	assert.Equal(t, "1000000", strings.TrimSpace(string(child)))
	later, err := exec.Command("cat", "/proc/self/timerslack_ns").Output()
	require.NoError(t, err)
	assert.NotEqual(t, "1000000", strings.TrimSpace(string(later)))
}

// TestTimerSlack_OfTheUnit_WhatIsMeasured: the figures are those of a daemon that runs as
// the packages start it.
func TestTimerSlack_OfTheUnit_WhatIsMeasured(t *testing.T) {
	text, err := os.ReadFile("../../release/systemd/wander.service")
	require.NoError(t, err)
	assert.Contains(t, string(text), "\nTimerSlackNSec="+unitSlack.String()+"\n")
}
