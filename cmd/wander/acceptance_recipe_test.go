//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/internal/whole"
)

// recipeGate is the port of the gate in a recipe.
const recipeGate = 4135

// TestRecipe_PostgreSQL pastes docs/recipe-postgresql.md, with the real database, as a user that is not root.
func TestRecipe_PostgreSQL(t *testing.T) {
	whole.Only(t) // a minute, most of it waiting
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) == 0 {
		if _, err := exec.LookPath("initdb"); err != nil {
			t.Skip("PostgreSQL is not installed")
		}
	}
	text, err := os.ReadFile("../../docs/recipe-postgresql.md")
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "recipe") // short: a socket's path has 107 bytes
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, err := os.Executable()
	require.NoError(t, err)
	data, err := os.ReadFile(program)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "wander-test"), data, 0o755))
	blocks := shellBlocks(string(text))
	build := "mkdir try-gate && go build -o try-gate ./cmd/wander && cd try-gate"
	require.Contains(t, blocks[0], build)
	ours := fmt.Sprintf(`mkdir try-gate && printf '#!/bin/sh\nexec env %s=1 "%s/wander-test" "$@"\n' > try-gate/wander && chmod +x try-gate/wander && cd try-gate`,
		programVariable, dir)
	first := ports.Take(t)
	addresses := strings.NewReplacer(
		build, ours,
		fmt.Sprintf("port=%d", readmeMembers), fmt.Sprintf("port=%d", first),
		fmt.Sprintf("127.0.0.1:%d", readmeService), fmt.Sprintf("127.0.0.1:%d", first),
		fmt.Sprintf("127.0.0.1:%d", recipeGate), fmt.Sprintf("127.0.0.1:%d", first+5))
	script := readmePrelude + "trap 'pg_ctl -D data -m immediate stop; kill -9 $(jobs -p) 2> /dev/null; kill -- -$watch 2> /dev/null' EXIT\n"
	for _, block := range blocks {
		for line := range strings.Lines(addresses.Replace(block)) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasSuffix(line, "&") {
				line = strings.Replace(line, "./wander gate --dir", "./wander gate --until-input-ends --dir", 1)
				line = strings.Replace(line, "./wander node ", "./wander node --until-input-ends ", 1)
				line = strings.Replace(line, "./wander ca serve ", "./wander ca serve --until-input-ends ", 1)
			}
			script += line + "\n"
		}
		script += "[ $? -eq 0 ] || fail 'block'\n"
	}
	ctx := t.Context()
	if end, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-readmeEnd))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = asSomebody(t, dir)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	lifeline, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer lifeline.Close()
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	t.Parallel()
	err = cmd.Run()
	out := output.String()
	require.NoError(t, err, "%s", out)
	t.Log(out)
	for _, m := range []string{"a", "b", "c"} {
		assert.Regexp(t, `(?m)^`+m+`\|[0-9]+\|10$`, out)
	}
	assert.Contains(t, out, "no session, no stream")
	assert.Contains(t, out, "a was stopped")
	assert.Contains(t, out, "notes out of order: 0\n")
	assert.Contains(t, out, "verdict     clean")
	assert.Regexp(t, `before db: 5 sessions of 3 members`, out)
}

// asSomebody lets a command run as a user that is not root, to whom the folder belongs.
func asSomebody(t *testing.T, dir string) *syscall.SysProcAttr {
	t.Helper()
	u, err := user.Lookup("nobody")
	require.NoError(t, err)
	uid, err := strconv.Atoi(u.Uid)
	require.NoError(t, err)
	gid, err := strconv.Atoi(u.Gid)
	require.NoError(t, err)
	require.NoError(t, os.Chown(dir, uid, gid))
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}
