//go:build unix

package unignore

import (
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestForChildren_IgnoredHere_EndsAChild(t *testing.T) {
	kill := func() error { return exec.Command("/bin/sh", "-c", "kill -HUP $$").Run() }
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	require.NoError(t, kill(), "it ignores the signal")
	ForChildren()
	require.ErrorContains(t, kill(), "hangup")
}
