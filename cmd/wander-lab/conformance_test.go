package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/spec/vector"
)

// someVectors is a folder with one vector that comes out as given.
func someVectors(t *testing.T, outcome string) string {
	t.Helper()
	dir := t.TempDir()
	keys, err := os.ReadFile("../../spec/vectors/keys.json")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "keys.json"), keys, 0o600))
	class := vector.ClassInvalid
	if outcome == vector.Valid {
		class = vector.ClassValid
	}
	text := `{"v":1,"about":"","vectors":[{"name":"one/more","class":"` + class + `","object":"cbor","outcome":"` + outcome + `","input":"0000"}]}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cbor.json"), []byte(text), 0o600))
	index := `{"v":1,"about":"","files":{"cbor.json":{"vectors":1},"keys.json":{}}}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, vector.IndexFile), []byte(index), 0o600))
	return dir
}

func TestVectors_AsTheyShould_Pass(t *testing.T) {
	dir := someVectors(t, "canonical.ErrTrailing")
	code, out, errs := runCommand("", "conformance", "--vectors", dir)
	assert.Zero(t, code)
	assert.Equal(t, "1 vectors: 0 valid, 1 refused, 0 scenarios; 0 hashes over 0 cases; 0 failed\n", out)
	assert.Empty(t, errs)

	code, out, _ = runCommand("", "conformance", "--vectors", dir, "--full", "-o", "json")
	assert.Zero(t, code)
	var report vector.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	assert.Equal(t, vector.Report{V: 1, Vectors: 1, Refused: 1, Failures: []vector.Failure{}}, report)
}

// Whoever deletes a file of vectors hears of it, and of the index itself.
func TestVectors_FileMissing_Refused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../spec/vectors")))
	require.NoError(t, os.Remove(filepath.Join(dir, "transfer.json")))
	code, out, errs := runCommand("", "conformance", "--vectors", dir)
	assert.Equal(t, cli.ExitConfiguration, code)
	assert.Empty(t, out)
	assert.Contains(t, errs, "index.json lists transfer.json, which is not here\nhint: ")

	dir = someVectors(t, "canonical.ErrTrailing")
	require.NoError(t, os.Remove(filepath.Join(dir, vector.IndexFile)))
	code, _, errs = runCommand("", "conformance", "--vectors", dir)
	assert.Zero(t, code)
	assert.Equal(t, "warning: "+dir+" has no index.json: missing files are not detected\n", errs)
}

// What comes out otherwise is one line each, and exit code 1.
func TestVectors_OtherOutcome_Fail(t *testing.T) {
	dir := someVectors(t, "valid")
	code, out, errs := runCommand("", "conformance", "--vectors", dir)
	assert.Equal(t, cli.ExitFailure, code)
	assert.Equal(t, 2, strings.Count(out, "\n"), out)
	assert.True(t, strings.HasPrefix(out, "cbor.json: one/more: refused with canonical.ErrTrailing, and not with valid"), out)
	assert.Equal(t, "error: 1 of 1 vectors and hashes failed\n", errs)

	code, out, _ = runCommand("", "conformance", "--vectors", dir, "--output", "json")
	assert.Equal(t, cli.ExitFailure, code)
	assert.Contains(t, out, `"failures":[{"file":"cbor.json","name":"one/more"`)
}

func TestConformance_Mistakes_Refused(t *testing.T) {
	garbled := someVectors(t, "valid")
	require.NoError(t, os.WriteFile(filepath.Join(garbled, "cbor.json"), []byte("{\n\x1b[2J"), 0o600))
	keyless := someVectors(t, "valid")
	require.NoError(t, os.WriteFile(filepath.Join(keyless, "keys.json"), []byte(`{"v":1}`), 0o600))
	for name, c := range map[string]struct {
		code int
		says string
		args []string
	}{
		"peer's flag":       {cli.ExitUsage, "--check can be combined with --peer only", []string{"--vectors", "nowhere", "--check", "x"}},
		"vectors' flag":     {cli.ExitUsage, "--full can be combined with --vectors only", []string{"--peer", "192.0.2.1:1", "--full"}},
		"nothing to run":    {cli.ExitUsage, "no test specified", nil},
		"an argument":       {cli.ExitUsage, "unexpected argument", []string{"spec/vectors"}},
		"no folder":         {cli.ExitConfiguration, "nowhere: no such file", []string{"--vectors", "nowhere"}},
		"a file":            {cli.ExitConfiguration, "is not a folder", []string{"--vectors", "main.go"}},
		"an empty folder":   {cli.ExitConfiguration, "no vectors here", []string{"--vectors", t.TempDir()}},
		"garbled":           {cli.ExitConfiguration, "cbor.json: not a file of vectors: line 2", []string{"--vectors", garbled}},
		"keys without keys": {cli.ExitConfiguration, "unusable keys", []string{"--vectors", keyless}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := runCommand("", append([]string{"conformance"}, c.args...)...)
			assert.Equal(t, c.code, code, errs)
			assert.Empty(t, out)
			assert.Contains(t, errs, c.says)
			assert.NotContains(t, errs, "\x1b")
			assert.Contains(t, errs, "\nhint: ")
		})
	}
}
