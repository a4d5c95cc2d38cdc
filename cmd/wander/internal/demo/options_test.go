package demo

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func usual() Options {
	return Options{Policy: "ring", Members: 3, For: time.Second, OperationTime: time.Second}
}

func TestPrepare(t *testing.T) {
	o := usual()
	o.Dir = filepath.Join(t.TempDir(), "new", "folder")
	o, err := Prepare(o)
	require.NoError(t, err)
	assert.Equal(t, "e", o.Preset, "the policy's first")
	assert.DirExists(t, o.Dir)
	_, err = Prepare(o)
	assert.NoError(t, err, "an empty folder")
}

// TestPrepare_Fails_Hint: a mistake is named together with its option.
func TestPrepare_Fails_Hint(t *testing.T) {
	full := t.TempDir()
	file := filepath.Join(full, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, c := range []struct {
		change func(*Options)
		says   string
	}{
		{func(o *Options) { o.Dir = full }, "--dir " + full + ": the folder must be new or empty"},
		{func(o *Options) { o.Dir = filepath.Join(file, "x") }, "name a new or empty folder"},
		{func(o *Options) { o.Loss = 10 }, "write 10% or 0.1"},
		{func(o *Options) { o.Loss = 0.95 }, "must be 0% to 90%"},
		{func(o *Options) { o.Victim = "me" }, "any or holder"},
		{func(o *Options) { o.Away = -1 }, "away for -1ns"},
		{func(o *Options) { o.Crash, o.Away = 10*time.Second, 10*time.Second }, "restart before the next one"},
	} {
		o := usual()
		c.change(&o)
		_, err := Prepare(o)
		require.ErrorIs(t, err, ErrOptions)
		assert.ErrorContains(t, err, c.says)
	}
}
