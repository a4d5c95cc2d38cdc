//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/internal/whole"
)

// readmeEnd is how long before go test gives up the script is ended, so that its
// output is shown.
const readmeEnd = 20 * time.Second

// TestReadme runs every command of the README as it stands there, from top to
// bottom, in a copy of the source tree. Only the demos are cut short, the tests,
// which this is one of, are left out, and the ports are free ones. A program in
// the background ends with the script, and with this process, however it ends, and
// all that it leaves is in the test's folders.
//
// Packages are built without the path of the copy, which is another one each time:
// go then takes those that have not changed from its cache.
//
// The script mostly waits: it runs beside all other tests, those too that are not
// parallel. So this file is the first one.
func TestReadme(t *testing.T) {
	whole.Only(t) // half a minute of a processor
	bash, err := exec.LookPath("bash")
	require.NoError(t, err, "the README's commands are for bash")
	dir := t.TempDir()
	copySource(t, dir)
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	script, addresses := readmePrelude, ownPorts(t)
	for _, block := range shellBlocks(string(text)) {
		script += addresses.Replace(adapt(block)) + "\n[ $? -eq 0 ] || fail " + "'block'" + "\n"
	}
	ctx := t.Context()
	if end, ok := t.Deadline(); ok { // a guard against hanging, and no measure of speed
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-readmeEnd))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, bash, "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -trimpath"))
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	lifeline, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer lifeline.Close()
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	require.NoError(t, cmd.Start())
	t.Parallel()
	err = cmd.Wait()
	out := output.Bytes()
	require.NoError(t, err, "%s", out)
	t.Log(string(out))
	require.Contains(t, string(out), "duplicates  0")
	require.Contains(t, string(out), "still exclusive")
	require.Contains(t, string(out), "back again")
	require.Equal(t, []string{"in", "out", "in", "out", "in", "out"}, turns(string(out)))
}

// readmePrelude stands before the README's commands. The standard input is a
// lifeline: it ends with the process that runs the script. Then the script ends,
// and with it, whatever the reason, its jobs.
const readmePrelude = `set -m
set -o pipefail
fail() { echo "FAILED: $1" >&2; exit 1; }
{ cat > /dev/null; kill -TERM $$; } &
watch=$!
disown
trap 'kill -9 $(jobs -p) 2> /dev/null; kill -- -$watch 2> /dev/null' EXIT
trap 'exit 1' TERM
`

// The ports that the README has its members and its service listen on.
const (
	readmeMembers = 4140 // and the five behind it
	readmeService = 4134
)

// ownPorts gives the README's commands ports that are this test's: the service's, and
// those of up to six members.
func ownPorts(t *testing.T) *strings.Replacer {
	t.Helper()
	first := ports.Take(t)
	return strings.NewReplacer(
		fmt.Sprintf("port=%d", readmeMembers), fmt.Sprintf("port=%d", first),
		fmt.Sprintf("127.0.0.1:%d", readmeService), fmt.Sprintf("127.0.0.1:%d", first))
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

// adapt cuts the demos short, leaves out the tests, and lets what runs in the
// background end with the lifeline.
func adapt(block string) string {
	lines := strings.Split(strings.TrimSpace(block), "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "go run ./cmd/wander demo"):
			lines[i] = line + " --for 3s"
		case strings.HasSuffix(line, "&") && (strings.Contains(line, "./wander node ") || strings.Contains(line, "./wander ca serve ")):
			line = strings.Replace(line, "./wander node ", "./wander node --until-input-ends ", 1)
			lines[i] = strings.Replace(line, "./wander ca serve ", "./wander ca serve --until-input-ends ", 1)
		case line == "go test ./...":
			lines[i] = "true"
		}
	}
	return strings.Join(lines, "\n")
}

// turns are who came in and went out of the shared resource, in order. Status begins a line with the resource's name, too.
func turns(out string) []string {
	var list []string
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(line, "tape: "); ok && strings.Contains(rest, " hop ") {
			list = append(list, strings.Fields(rest)[0])
		}
	}
	return list
}

// sourceKinds are the files that the program is built from, embedded ones too.
var sourceKinds = []string{".go", ".mod", ".sum", ".md", ".html", ".css", ".js", ".svg"}

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
		if !slices.Contains(sourceKinds, filepath.Ext(path)) || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, rel), data, 0o644)
	}))
}
