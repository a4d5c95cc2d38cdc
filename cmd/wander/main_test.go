package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/unignore"
)

// runCommand runs a command line with an input, and returns the exit code. A plan costs little.
func runCommand(in string, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	env := &environment{Environment: cli.Environment{In: strings.NewReader(in), Out: &o, Err: &e, Getenv: func(string) string { return "" }, Now: time.Now}, planEvents: 1_000_000}
	code = run(env, args)
	return code, o.String(), e.String()
}

// TestMain runs more of the parallel tests at once than there are processors: they wait
// for most of their time.
func TestMain(m *testing.M) {
	unignore.ForChildren()
	flag.Parse()
	_ = flag.Set("test.parallel", "8")
	os.Exit(m.Run())
}
