package driver

import (
	"flag"
	"os"
	"testing"
)

// TestMain runs more of the parallel tests at once than there are processors: they wait
// for most of their time.
func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8")
	os.Exit(m.Run())
}
