package main

import (
	"io"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/cmd/internal/cli"
)

// A process that adopts reaps every child that ends, also those that other tests wait for.
func TestRun_ProcessHasOtherWork_AdoptsNothing(t *testing.T) {
	env := &environment{Environment: cli.Environment{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }, Now: time.Now}}
	run(env, []string{"run", "tape", "--socket", t.TempDir() + "/nowhere.sock", "--", "true"})
	var adopts int32
	require.NoError(t, unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&adopts)), 0, 0, 0))
	require.Zero(t, adopts)
}
