package instants

import (
	"os/exec"
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
	read, err := StateOf(again)
	require.NoError(t, err)
	require.Equal(t, last["d/a"].Data, read["d/a"].Data)
	require.Equal(t, last["d/a"].Mode, read["d/a"].Mode)
	require.Equal(t, read["d/a"].Inode, read["d/b"].Inode, "two names of one file")
}
