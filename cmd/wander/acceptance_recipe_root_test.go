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
	"sh", "-c", `mount -t tmpfs none /run && mkdir /run/netns && ip link set lo up && exec bash -c "$0"`,
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
	wantLines(t, out, "a has copied", "b has copied", "c has copied", "no session, no ssh", "a was stopped", "index goes on without a",
		"b has copied again", "two at once: 0", "lines out of order: 0")
	wantLines(t, out, "verdict     clean.*", "gate .* before files: 5 sessions of 3 members.*")
}

// TestRecipe_FTP pastes docs/recipe-ftp.md, with the real vsftpd, nft and WireGuard.
func TestRecipe_FTP(t *testing.T) {
	whole.Only(t) // two minutes, most of them waiting
	out := pasteAsRoot(t, "recipe-ftp.md", "vsftpd", "nft", "ss", "conntrack", "wg", "wireguard-go", "curl", "findmnt")
	wantLines(t, out, "a has uploaded", "b has uploaded", "no session, no server", "paused upload: [1-9][0-9]* bytes before, and 0 after",
		"paused download: 0 bytes after", "both have failed", "a was stopped", "shut without a gate", "b has uploaded again")
	assert.NotRegexp(t, `OK UPLOAD: .*"/in/paused"`, out)
	wantLines(t, out, "verdict     clean.*", "gate .* before ftp: 7 sessions of 2 members.*")
}
