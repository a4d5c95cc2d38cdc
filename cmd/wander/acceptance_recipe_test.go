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
	"regexp"
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

// recipeService is the port of the gate, or of the service, in a recipe. A service may use the next one too.
const recipeService = 4135

// recipe is a page from nothing to a gated resource, and the folder in which a test pastes its commands.
type recipe struct {
	t      *testing.T
	dir    string
	blocks []string
}

// pageBlocks are the commands of a page.
func pageBlocks(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", page))
	require.NoError(t, err)
	return shellBlocks(string(text))
}

// recipeBuild makes the folder and the program in it, as a reader does.
var recipeBuild = regexp.MustCompile(`mkdir (\S+) && go build -o \S+ \./cmd/wander && cd \S+`)

// newRecipe makes the folder with the program, in which the blocks are to be pasted.
func newRecipe(t *testing.T, blocks []string) *recipe {
	t.Helper()
	dir, err := os.MkdirTemp("", "recipe") // short: a socket's path has 107 bytes
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			for _, name := range []string{"try-gate/gate.log", "try/a.log"} {
				if log, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
					t.Logf("%s:\n%s", name, log)
				}
			}
		}
		os.RemoveAll(dir)
	})
	program, err := os.Executable()
	require.NoError(t, err)
	data, err := os.ReadFile(program)
	require.NoError(t, err)
	writeExecutable(t, filepath.Join(dir, "wander-test"), data, 0o755)
	return &recipe{t, dir, blocks}
}

// script is what the page has a reader paste, but with this program, and with services that end with the test.
func (r *recipe) script(trap string, replacer *strings.Replacer) string {
	require.Regexp(r.t, recipeBuild, r.blocks[0])
	ours := fmt.Sprintf(`mkdir $1 && printf '#!/bin/sh\nexec env %s=1 "%s/wander-test" "$$@"\n' > $1/wander && chmod +x $1/wander && cd $1`,
		programVariable, r.dir)
	script := readmePrelude + trap
	for _, block := range r.blocks {
		for line := range strings.Lines(replacer.Replace(recipeBuild.ReplaceAllString(block, ours))) {
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
	return script
}

// run runs a shell in the folder until its end or the test's, and returns what it has written.
func (r *recipe) run(shell string, args []string, attributes *syscall.SysProcAttr) string {
	t := r.t
	t.Helper()
	ctx := t.Context()
	if end, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-readmeEnd))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, shell, args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "TMPDIR="+r.dir, "HOME="+r.dir)
	cmd.SysProcAttr = attributes
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
	return out
}

// TestRecipe_PostgreSQL pastes docs/recipe-postgresql.md, with the real database, as a user that is not root.
func TestRecipe_PostgreSQL(t *testing.T) {
	whole.Only(t) // a minute, most of it waiting
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) == 0 {
		if _, err := exec.LookPath("initdb"); err != nil {
			t.Skip("PostgreSQL is not installed")
		}
	}
	out := pasteAsSomebody(t, pageBlocks(t, "recipe-postgresql.md"), "pg_ctl -D data -m immediate stop")
	wantLines(t, out, `a\|[0-9]+\|10`, `b\|[0-9]+\|10`, `c\|[0-9]+\|10`, "no session, no stream", ".*: no password supplied", "no way in as superuser", "a was stopped", "notes out of order: 0",
		"verdict     clean.*", "resource    db: 6 operations.*", "gate .* before db: [6-9] sessions of 3 members.*")
}

// A busy machine may take a further session, of which no program made use: so the recipes count operations, and sessions at least.

// wantLines checks that a page's commands have written lines that match each pattern as a whole.
func wantLines(t *testing.T, out string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		assert.True(t, regexp.MustCompile(`(?m)^(?:`+p+`)$`).MatchString(out), "no line is %s", p)
	}
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

// TestRecipe_Nginx pastes docs/recipe-nginx.md, with the real nginx and PHP, as a user that is not root.
func TestRecipe_Nginx(t *testing.T) {
	whole.Only(t) // a minute, most of it waiting
	for _, pattern := range []string{"nginx", "php-fpm*", "curl"} {
		system, _ := filepath.Glob("/usr/sbin/" + pattern)
		others, _ := filepath.Glob("/usr/bin/" + pattern)
		if len(system)+len(others) == 0 {
			t.Skip(pattern + " is not installed")
		}
	}
	out := pasteAsSomebody(t, pageBlocks(t, "recipe-nginx.md"), "kill $nginx $php 2> /dev/null; sleep 0.5")
	wantLines(t, out, "a has uploaded", "b has uploaded", "c has uploaded", "no session, no stream", "a was stopped", "PHP goes on without a",
		"b has uploaded again", "lines of a in b's session: 0", "requests of two sessions at once: 0",
		"verdict     clean.*", "resource    admin: 5 operations.*", "gate .* before admin: [5-9] sessions of 3 members.*")
}

// pasteAsSomebody pastes a page, with ports of this test, as a user that is not root. At the end end ends its services.
func pasteAsSomebody(t *testing.T, blocks []string, end string) string {
	t.Helper()
	r := newRecipe(t, blocks)
	var attributes *syscall.SysProcAttr
	if os.Getuid() == 0 {
		attributes = asSomebody(t, r.dir)
	}
	return r.paste(end, attributes)
}

// paste pastes the page with ports of this test. At the end end ends its services.
func (r *recipe) paste(end string, attributes *syscall.SysProcAttr) string {
	r.t.Helper()
	first := ports.Take(r.t)
	script := r.script("trap '"+end+"; kill -9 $(jobs -p) 2> /dev/null; kill -- -$watch 2> /dev/null' EXIT\n", strings.NewReplacer(
		fmt.Sprintf("port=%d", readmeMembers), fmt.Sprintf("port=%d", first),
		fmt.Sprintf("127.0.0.1:%d", readmeService), fmt.Sprintf("127.0.0.1:%d", first),
		strconv.Itoa(recipeService), strconv.Itoa(first+5), strconv.Itoa(recipeService+1), strconv.Itoa(first+6)))
	return r.run("bash", []string{"-c", script}, attributes)
}
