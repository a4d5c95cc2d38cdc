//go:build unix

package node_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node"
)

// TestOpen_LinkInThePlaceOfTheJournal_Refused: nothing behind a link is read,
// written or taken for this member's memory.
func TestOpen_LinkInThePlaceOfTheJournal_Refused(t *testing.T) {
	id := newAuthority(t, ftp).issue(t, "m")
	open := func(dir string) error {
		n, err := node.Open(context.Background(), node.Config{Identity: id, StateDir: dir, Listen: "127.0.0.1:0", Socket: "-"})
		if err == nil {
			err = n.Close(context.Background())
		}
		return err
	}
	for name, link := range map[string]string{ // what is moved elsewhere, with a link in its place
		"the folder": "journal", "the lock": "journal/lock", "a segment": "journal/0000000000000001.journal",
	} {
		t.Run(name, func(t *testing.T) {
			dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
			require.NoError(t, open(dir))
			link := filepath.Join(dir, link)
			require.NoError(t, os.Rename(link, elsewhere))
			require.NoError(t, os.Symlink(elsewhere, link))
			before, err := os.Lstat(elsewhere)
			require.NoError(t, err)
			require.ErrorIs(t, open(dir), node.ErrLink)
			require.ErrorContains(t, open(dir), link)
			after, err := os.Lstat(elsewhere)
			require.NoError(t, err)
			require.Equal(t, before.ModTime(), after.ModTime())
		})
	}
	t.Run("nothing behind it", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "journal")))
		require.ErrorIs(t, open(dir), node.ErrLink)
	})
	t.Run("state_dir is one", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "link")
		require.NoError(t, os.Symlink(t.TempDir(), dir))
		require.NoError(t, open(dir))
		require.NoError(t, open(dir))
	})
}
