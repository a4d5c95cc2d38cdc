package main

import (
	"flag"
	"os"
	"testing"

	"github.com/wandertoken/wander/internal/unignore"
)

// TestMain runs more of the parallel tests at once than there are processors: they wait
// for most of their time.
func TestMain(m *testing.M) {
	unignore.ForChildren()
	flag.Parse()
	_ = flag.Set("test.parallel", "8")
	os.Exit(m.Run())
}
