package cluster

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the garbage grow: a run makes much of it and keeps little, and a sixth of the
// time would go into collecting it.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
