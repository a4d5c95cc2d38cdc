//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/whole"
)

// recipeNamespaces begins a shell whose network, processes and /run are its own, so that a page may use fixed ports and names. All that it has
// started ends with it.
var recipeNamespaces = []string{
	"unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
	"sh", "-c", `mount -t tmpfs none /run && ip link set lo up && exec bash -c "$0"`,
}

// pasteAsRoot pastes a page into a shell of root with namespaces of its own. It skips where there is no root, or no such program.
func pasteAsRoot(t *testing.T, page string, programs ...string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	for _, name := range append(programs, "unshare", "ip") {
		if _, err := exec.LookPath(name); err != nil {
			if _, err := os.Stat(filepath.Join("/usr/sbin", name)); err != nil {
				t.Skip(name + " is not installed")
			}
		}
	}
	if out, err := exec.Command(recipeNamespaces[0], append(recipeNamespaces[1:len(recipeNamespaces):len(recipeNamespaces)], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no namespaces here: %s", out)
	}
	r := newRecipe(t, page)
	group := filepath.Base(r.dir) // names of control groups are the machine's
	t.Cleanup(func() {
		left, _ := filepath.Glob("/sys/fs/cgroup/*/" + group + ".*")
		more, _ := filepath.Glob("/sys/fs/cgroup/" + group + ".*")
		for _, dir := range append(left, more...) {
			_ = os.Remove(dir)
		}
	})
	script := r.script("trap 'kill -9 $(jobs -p) 2> /dev/null; kill -- -$watch 2> /dev/null' EXIT\n", strings.NewReplacer("try-gate.XXXX", group+".XXXX"))
	args := append(recipeNamespaces[1:len(recipeNamespaces):len(recipeNamespaces)], script)
	return r.run(recipeNamespaces[0], args, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL})
}

// TestRecipe_SSH pastes docs/recipe-ssh.md, with the real sshd and rsync.
func TestRecipe_SSH(t *testing.T) {
	whole.Only(t) // a minute, most of it waiting
	out := pasteAsRoot(t, "recipe-ssh.md", "sshd", "rsync", "rrsync", "socat", "findmnt")
	for _, m := range []string{"a", "b", "c"} {
		assert.Contains(t, out, m+" has copied\n")
	}
	assert.Contains(t, out, "no session, no ssh\n")
	assert.Contains(t, out, "a was stopped\n")
	assert.Contains(t, out, "index goes on without a\n")
	assert.Contains(t, out, "b has copied again\n")
	assert.Contains(t, out, "two at once: 0\n")
	assert.Contains(t, out, "lines out of order: 0\n")
	assert.Contains(t, out, "verdict     clean")
	assert.Contains(t, out, "before files: 5 sessions of 3 members")
}
