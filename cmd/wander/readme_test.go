//go:build linux

package main

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// readmePatience is a guard against hanging, and no measure of speed.
const readmePatience = 300 * time.Second

// TestReadme runs every command of the README as it stands there, from top to
// bottom, in a copy of the source tree. Only the demos are cut short, and the
// tests, which this is one of, are left out.
func TestReadme(t *testing.T) {
	t.Parallel() // it mostly waits
	bash, err := exec.LookPath("bash")
	require.NoError(t, err, "the README's commands are for bash")
	dir := t.TempDir()
	copySource(t, dir)
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	script := "set -m\nset -o pipefail\nfail() { echo \"FAILED: $1\" >&2; kill $(jobs -p); exit 1; }\n"
	for _, block := range shellBlocks(string(text)) {
		script += adapt(block) + "\n[ $? -eq 0 ] || fail " + "'block'" + "\n"
	}
	ctx, cancel := context.WithTimeout(t.Context(), readmePatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, bash, "-c", script)
	cmd.Dir = dir
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Log(string(out))
	require.Contains(t, string(out), "duplicates  0")
	require.Contains(t, string(out), "still exclusive")
	require.Contains(t, string(out), "back again")
	require.Equal(t, []string{"in", "out", "in", "out", "in", "out"}, turns(string(out)))
}

// shellBlocks are the README's commands.
func shellBlocks(text string) []string {
	var blocks []string
	for {
		_, rest, ok := strings.Cut(text, "```sh\n")
		if !ok {
			return blocks
		}
		block, after, _ := strings.Cut(rest, "```")
		blocks, text = append(blocks, block), after
	}
}

// adapt cuts the demos short and leaves out the tests.
func adapt(block string) string {
	lines := strings.Split(strings.TrimSpace(block), "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "go run ./cmd/wander demo"):
			lines[i] = line + " --for 3s"
		case line == "go test ./...":
			lines[i] = "true"
		}
	}
	return strings.Join(lines, "\n")
}

// turns are who came in and went out of the shared resource, in order.
func turns(out string) []string {
	var list []string
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(line, "tape: "); ok {
			list = append(list, strings.Fields(rest)[0])
		}
	}
	return list
}

// copySource copies the files that the program is built from.
func copySource(t *testing.T, dir string) {
	t.Helper()
	root := "../.."
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".git") || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(dir, rel), 0o755)
		}
		if ext := filepath.Ext(path); ext != ".go" && ext != ".mod" && ext != ".sum" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, rel), data, 0o644)
	}))
}
