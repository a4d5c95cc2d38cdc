package main

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestResourcesScript_FewResources_Measured runs the script with three daemons.
func TestResourcesScript_FewResources_Measured(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the script reads /proc")
	}
	t.Parallel() // it mostly waits
	c := exec.Command("./resources.sh", "5")
	c.Env = append(os.Environ(), "SETTLE=0", "WINDOW=1")
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	require.NoError(t, err, "%s", &errs)
	for _, what := range []string{
		"wander ca config", "signed configuration", "all members have it after", "each resource has a token after",
		"resident memory of each member", "processor time of each member", "handoffs a second",
	} {
		assert.Regexp(t, what+` +[0-9.]+`, string(out))
	}
	assert.Empty(t, errs.String())
}
