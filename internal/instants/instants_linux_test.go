package instants

import (
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOf_Shell_EachChangeSeen(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", "set -e; mkdir d; printf one >d/a; printf two >>d/a; chmod 600 d/a; ln d/a d/b; exit 3")
	cmd.Dir = dir
	states, exit, err := Of(cmd, dir)
	require.NoError(t, err)
	require.Equal(t, 3, exit)
	var seen []string
	for _, s := range states {
		seen = append(seen, s["d/a"].Data)
	}
	require.Contains(t, seen, "")
	require.Contains(t, seen, "one")
	require.Equal(t, "onetwo", seen[len(seen)-1])
	again := t.TempDir()
	last := states[len(states)-1]
	require.NoError(t, last.Write(again))
	read, err := stateOf(again)
	require.NoError(t, err)
	require.Equal(t, last["d/a"].Data, read["d/a"].Data)
	require.Equal(t, last["d/a"].Mode, read["d/a"].Mode)
	require.Equal(t, read["d/a"].Inode, read["d/b"].Inode, "two names of one file")
}

// The process that this thread has started before ends while another one is traced.
func TestOf_OtherChildOfTheThread_NotReaped(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	other := exec.Command("cat")
	lifeline, err := other.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	require.NoError(t, lifeline.Close())
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", "while [ -e /proc/$0 ] && ! grep -q '^State:.Z' /proc/$0/status; do :; done", strconv.Itoa(other.Process.Pid))
	_, exit, err := Of(cmd, dir)
	require.NoError(t, err)
	require.Zero(t, exit)
	require.NoError(t, other.Wait(), "nobody else has waited for it")
}
