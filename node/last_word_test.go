package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node"
)

// The file keeps its room, and a daemon starts without it.
func TestPrepareLastWord_FileThere_RoomKept(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "ended.json")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat(" ", 4096)), 0o600))
	require.NoError(t, node.PrepareLastWord(dir))
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.EqualValues(t, 4096, info.Size(), "a full disk would not give it back")

	a := newAuthority(t, quick)
	_, book := openNode(t, a.issue(t, "node"), func(c *node.Config) {
		require.NoError(t, os.MkdirAll(filepath.Join(c.StateDir, "ended.json"), 0o700))
	})
	assert.Contains(t, book.String(), "why this daemon has ended")
}
