package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
)

// Which settings doctor goes by: a file, the defaults, and what the environment sets instead.
func TestDoctor_Settings_OriginSaid(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wander.toml")
	variables := map[string]string{}
	env := &environment{Environment: cli.Environment{Getenv: func(name string) string { return variables[name] }, Now: time.Now}}
	require.NoFileExists(t, defaultConfigFile)
	assert.Equal(t, "defaults, as there is no "+defaultConfigFile, settingsOrigin(env, ""))
	variables[configVariable] = file
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	assert.Equal(t, "from "+file, settingsOrigin(env, ""))
	assert.Equal(t, "from doctor.go", settingsOrigin(env, "doctor.go"), "the flag goes first")
	variables["WANDER_STATE_DIR"], variables["WANDER_LOG_LEVEL"] = "/x", "warn"
	assert.Equal(t, "from "+file+"; in the environment: WANDER_LOG_LEVEL, WANDER_STATE_DIR", settingsOrigin(env, ""))
}
