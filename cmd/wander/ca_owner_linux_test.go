package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
)

func TestCheckOwner_RootInAnothersFolder_Refused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := t.TempDir()
	require.NoError(t, checkOwner(dir))
	require.NoError(t, checkOwner(filepath.Join(dir, "absent")), "another error says so")
	require.NoError(t, os.Chown(dir, 54321, 54321))
	err := checkOwner(dir)
	var exit *cli.Error
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, cli.ExitConfiguration, exit.Code)
	assert.Contains(t, exit.Hint, "runuser -u 54321 -- wander ca")
}
