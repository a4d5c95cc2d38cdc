package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
)

// asMain, in the environment, makes the tests' program this one.
const asMain = "HOSTILE_TEST_MAIN"

func TestMain(m *testing.M) {
	runInner()
	if os.Getenv(asMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestHostile_Kinds_Measured runs groups of real members, and sees that the measurement works.
// It does not judge the figures.
func TestHostile_Kinds_Measured(t *testing.T) {
	whole.Only(t) // three groups of real members, a minute
	cmd := exec.Command("/proc/self/exe", "-kinds", "dropper,flood", "-presets", "fair", "-n", "3", "-newcomers", "1", "-for", minFor.String())
	cmd.Env = append(os.Environ(), asMain+"=1")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() == exitUnsupported {
		t.Skipf("it takes root, or namespaces and /dev/net/tun: %s", out)
	}
	require.NoError(t, err, string(out))
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, lines, 5, string(out))
	assert.Contains(t, lines[2], "`nothing`")
	assert.Contains(t, lines[3], "tokens it got")
	assert.Contains(t, lines[4], "half-open handshakes")
	assert.Contains(t, lines[4], "of 1 (dials: ")
}
