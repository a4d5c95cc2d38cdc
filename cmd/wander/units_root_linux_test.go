package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/protocol/group"
)

// systemdBoot starts systemd with the units of a folder and no others, as process 1 of namespaces of its own. Its /run is the folder's, so that sockets there can be reached
// from outside.
const systemdBoot = `echo $$ >"$CG/cgroup.procs" && exec unshare --pid --fork --mount --mount-proc --cgroup --ipc --uts sh -c '
mount --make-rprivate / && mount --bind "$DIR/run" /run && { umount -R /sys/fs/cgroup || umount -l /sys/fs/cgroup; } && mount -t cgroup2 cgroup2 /sys/fs/cgroup &&
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_UNIT_PATH="$DIR/units" /lib/systemd/systemd --system --unit=test.target --log-target=console --show-status=0'`

// bootSystemd returns the process of systemd, or skips the test where that cannot run.
func bootSystemd(t *testing.T, dir string, files map[string]string) (pid string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	for _, name := range []string{"/lib/systemd/systemd", "/usr/sbin/sshd", "ssh", "ssh-keygen", "unshare", "nsenter", "findmnt"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(name + " is not installed")
		}
	}
	root, err := exec.Command("sh", "-c", "findmnt -nro TARGET -t cgroup2 | head -n 1").Output()
	if err != nil || len(root) == 0 {
		t.Skip("no control groups of version 2 here")
	}
	cg := filepath.Join(strings.TrimSpace(string(root)), filepath.Base(dir))
	if err := os.Mkdir(cg, 0o755); err != nil {
		t.Skipf("no control group can be made here: %v", err)
	}
	for _, name := range []string{"run/sshd", "units"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	files["test.target"] = "[Unit]\nDefaultDependencies=no\nWants=gated-ssh.socket\nAfter=gated-ssh.socket\n"
	for name, text := range files {
		if !strings.Contains(text, "DefaultDependencies") { // there are no other units to depend on
			text = "[Unit]\nDefaultDependencies=no\n" + text
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "units", name), []byte(text), 0o600))
	}
	log, err := os.Create(filepath.Join(dir, "systemd.log"))
	require.NoError(t, err)
	boot := exec.Command("sh", "-c", systemdBoot)
	boot.Env, boot.Stdout, boot.Stderr = append(os.Environ(), "CG="+cg, "DIR="+dir), log, log
	require.NoError(t, boot.Start())
	t.Cleanup(func() {
		if n, err := strconv.Atoi(pid); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL) // and all in its namespace
		}
		_ = boot.Process.Kill()
		_ = boot.Wait()
		log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("systemd: %s", text)
		}
		await.Until(t, "its control groups are empty", func() bool {
			_ = exec.Command("find", cg, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";").Run()
			_, err := os.Stat(cg)
			return err != nil
		})
	})
	await.Until(t, "systemd listens", func() bool {
		_, err := os.Stat(filepath.Join(dir, "run/gated-ssh/socket"))
		return err == nil
	})
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", boot.Process.Pid, boot.Process.Pid))
	require.NoError(t, err)
	pid = strings.TrimSpace(string(children))
	require.NotEmpty(t, pid)
	return pid
}

var closeBlock = regexp.MustCompile("(?s)```text\n(#!/bin/sh\ncg=.*?)```")

// tcpDoor is a port of this machine that leads through a session.
func tcpDoor(t *testing.T, s *client.Session) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	visited(t, l, through(s))
	_, port, err = net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}

// TestUnits_SSH_CloseEndsWhatTheyStarted: sessions go through the gate and the units of docs/recipe-ssh.md, which a real systemd runs. Each process that a session has started is dead when the close
// hook of that page has confirmed, and the next member gets in.
func TestUnits_SSH_CloseEndsWhatTheyStarted(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/recipe-ssh.md")
	require.NoError(t, err)
	hook := closeBlock.FindStringSubmatch(string(page))
	require.NotNil(t, hook)
	found := units(string(page))
	p := newPost(t, func(r *group.Resource) { r.MaxHold = 30 * time.Second; r.Gate.CloseTimeout = 10 * time.Second })
	require.Contains(t, found["gated-ssh@.service"], "/etc/wander/sshd_config")
	found["gated-ssh@.service"] = strings.Replace(found["gated-ssh@.service"], "/etc/wander/sshd_config", p.dir+"/sshd_config", 1)
	systemd := bootSystemd(t, p.dir, found)
	write := func(name, text string) { writeExecutable(t, filepath.Join(p.dir, name), []byte(text), 0o700) }
	write("close-ssh", hook[1])
	write("serve", "#!/bin/sh\ntrap '' HUP\nfor i in $(seq 600); do echo x; sleep 0.05; done >> "+p.dir+"/served.log 2>&1\n")
	for _, key := range []string{"host_key", "member_key"} {
		require.NoError(t, exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(p.dir, key)).Run())
	}
	public, err := os.ReadFile(filepath.Join(p.dir, "member_key.pub"))
	require.NoError(t, err)
	write("keys", fmt.Sprintf("restrict,command=%q %s", p.dir+"/serve", public))
	write("sshd_config", fmt.Sprintf("HostKey %s/host_key\nAuthorizedKeysFile %s/keys\nAuthenticationMethods publickey\nPermitRootLogin forced-commands-only\nStrictModes no\nPidFile none\n", p.dir, p.dir))
	served := func() int {
		text, _ := os.ReadFile(filepath.Join(p.dir, "served.log"))
		return len(text)
	}
	logIn := func(s *client.Session) {
		c := exec.Command("ssh", "-p", tcpDoor(t, s), "-i", filepath.Join(p.dir, "member_key"), "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
			"-o", "BatchMode=yes", "root@127.0.0.1", "index")
		require.NoError(t, c.Start())
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	}
	p.settled()
	p.up("--target", "unix:"+p.dir+"/run/gated-ssh/socket", "--close", fmt.Sprintf("nsenter -t %s -m -p -C sh %s/close-ssh", systemd, p.dir), "--floor", "100")
	held := p.w.Mint(0)
	first := p.w.SignIn(p.dial(0), held, 30*time.Second)
	gatetest.Opened(t, first)
	logIn(first)
	await.Until(t, "the session works", func() bool { return served() > 10 })
	closed, err := first.SignOut(context.Background())
	require.NoError(t, err)
	assert.True(t, closed.Confirmed)
	after := served()
	next := p.w.SignIn(p.dial(1), p.w.Passed(held, 0, 1), 30*time.Second)
	gatetest.Opened(t, next)
	assert.Equal(t, after, served(), "nothing of the first one writes")
	logIn(next)
	await.Until(t, "the next one works", func() bool { return served() > after })
}
