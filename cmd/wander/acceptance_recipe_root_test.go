//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// inNamespaces is the command that runs a script there.
func inNamespaces(script string) []string {
	return append(slices.Clone(recipeNamespaces), script)
}

// recipeGroup fails where no control group of version 2 can be made, or killed. It prints where they are.
const recipeGroup = `at=$(findmnt -nro TARGET -t cgroup2 | head -n 1) && test -n "$at" && probe=$(mktemp -d "$at/recipe-probe.XXXX") && test -e "$probe/cgroup.kill"
code=$?; rmdir "$probe"; echo "$at"; exit $code`

// pasteAsRoot pastes a page into a shell of root with namespaces of its own. It skips where there is no root, where a program is missing, or where the system does not permit
// what the page needs, which probe finds out.
func pasteAsRoot(t *testing.T, page, probe string, programs ...string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	for _, name := range append(programs, "unshare", "ip", "findmnt") {
		if _, err := exec.LookPath(name); err != nil {
			if _, err := os.Stat(filepath.Join("/usr/sbin", name)); err != nil {
				t.Skip(name + " is not installed")
			}
		}
	}
	for _, script := range []string{"true", probe} {
		command := inNamespaces(script)
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Skipf("not permitted here: %s: %s", script, out)
		}
	}
	groups, err := exec.Command("sh", "-c", recipeGroup).Output()
	if err != nil {
		t.Skip("no control groups of version 2 here")
	}
	r := newRecipe(t, pageBlocks(t, page))
	name := filepath.Base(r.dir) // names of control groups are the machine's
	t.Cleanup(func() {
		left, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(groups)), name+".*"))
		for _, dir := range left {
			_ = os.Remove(dir)
		}
	})
	command := inNamespaces(r.script("trap 'kill -9 $(jobs -p) 2> /dev/null; kill -- -$watch 2> /dev/null' EXIT\n", strings.NewReplacer("try-gate.XXXX", name+".XXXX")))
	return r.run(command[0], command[1:], &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL})
}

// TestRecipe_SSH pastes docs/recipe-ssh.md, with the real sshd and rsync.
func TestRecipe_SSH(t *testing.T) {
	whole.Only(t) // a minute, most of it waiting
	out := pasteAsRoot(t, "recipe-ssh.md", "true", "sshd", "rsync", "rrsync", "socat")
	wantLines(t, out, "a has copied", "b has copied", "c has copied", "no session, no ssh", "a was stopped", "index goes on without a",
		"b has copied again", "two at once: 0", "lines out of order: 0")
	wantLines(t, out, "verdict     clean.*", "gate .* before files: 5 sessions of 3 members.*")
}

// TestRecipe_FTP pastes docs/recipe-ftp.md, with the real vsftpd, nft and WireGuard.
func TestRecipe_FTP(t *testing.T) {
	whole.Only(t) // two minutes, most of them waiting
	out := pasteAsRoot(t, "recipe-ftp.md", "test -c /dev/net/tun && nft add table inet probe", "vsftpd", "nft", "ss", "conntrack", "wg", "wireguard-go", "curl")
	wantLines(t, out, "a has uploaded", "b has uploaded", "no session, no server", "paused upload: [1-9][0-9]* bytes before, and 0 after",
		"paused download: 0 bytes after", "both have failed", "a was stopped", "shut without a gate", "b has uploaded again")
	assert.NotRegexp(t, `OK UPLOAD: .*"/in/paused"`, out)
	wantLines(t, out, "verdict     clean.*", "gate .* before ftp: 7 sessions of 2 members.*")
}
