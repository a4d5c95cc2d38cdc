package node_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
)

// Programs are told that their grants are lost, even if the disk takes no last word and never says so.
func TestFail_DiskHangs_GrantLost(t *testing.T) {
	a, dir := newAuthority(t, quick), ""
	n, _ := openNode(t, a.issue(t, "node"), func(c *node.Config) { c.Found, dir = true, c.StateDir })
	held, err := n.Acquire(t.Context(), api.AcquireRequest{Resource: resource})
	require.NoError(t, err)
	file := filepath.Join(dir, "ended.json")
	require.NoError(t, os.Remove(file))
	require.NoError(t, syscall.Mkfifo(file, 0o600)) // nobody reads: who opens it waits
	t.Cleanup(func() {
		f, err := os.OpenFile(file, os.O_RDWR, 0)
		require.NoError(t, err)
		f.Close()
	})
	go n.Fail(node.ErrJournal)
	assert.Equal(t, api.LostStopped, await.Next(t, "the loss", held.Lost()))
	await.Until(t, "the end", func() bool { return n.Err() != nil })
}
