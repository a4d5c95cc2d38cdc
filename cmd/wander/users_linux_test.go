package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/certificate"
)

// The users and groups of the test, which no machine has by chance.
const (
	daemonGroup = 61000
	firstUser   = 61001 // the socket's group is its primary one
	secondUser  = 61002 // it is in the socket's group as well
	guestUser   = 61003 // root of a container
	thirdUser   = 61004 // not in the group
	noGroup     = 61009
)

// sharedDaemon is a daemon whose socket a group may use, and a program that every user can execute.
type sharedDaemon struct {
	*fault
	node         *node.Node
	socket, self string
	dir          string // for the socket; every user can enter it
}

func newSharedDaemon(t *testing.T) *sharedDaemon {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be other users")
	}
	d := &sharedDaemon{fault: newFault(t, nil)}
	dir, err := os.MkdirTemp("", "wander")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "inside"), 0o755))
	d.dir, d.socket, d.self = dir, filepath.Join(dir, "w.sock"), filepath.Join(dir, "wander")
	access, err := api.ParseAccess(fmt.Sprint(daemonGroup), "")
	require.NoError(t, err)
	d.node = d.daemon(func(cfg *node.Config, _ *certificate.Claims) { cfg.Socket, cfg.Access = d.socket, access })
	program, err := os.Executable()
	require.NoError(t, err)
	text, err := os.ReadFile(program)
	require.NoError(t, err)
	writeExecutable(t, d.self, text, 0o755)
	return d
}

// as runs a shell script as another user, with a program of which $WANDER is the name, and returns what it wrote.
func (d *sharedDaemon) as(attr *syscall.SysProcAttr, script string) (out string, code int) {
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir, cmd.SysProcAttr = d.dir, attr
	cmd.Env = append(os.Environ(), programVariable+"=1", "WANDER="+d.self, socketVariable+"="+d.socket, "HOME=/", "TMPDIR=/tmp")
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); !exited {
		require.NoError(d, err)
	}
	return text.String(), cmd.ProcessState.ExitCode()
}

func asUser(user, group uint32, also ...uint32) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: group, Groups: also}}
}

// container is root of a namespace of users and mounts: outside, guestUser in a group.
func container(group int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: guestUser, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: group, Size: 1}},
		Credential:  &syscall.Credential{NoSetGroups: true},
	}
}

// Two users and a container run programs at one daemon, and each may do no more than that. A user who is not in the
// group may not. The journal says who asked.
func TestUsers_OneDaemon_BothServed(t *testing.T) {
	t.Parallel()
	d := newSharedDaemon(t)
	const run = `"$WANDER" run ` + gatetest.Resource + ` -q -c 'echo ran as $(id -u)' && "$WANDER" status`
	// A container sees files of the host in its own tree: here one folder, at another place.
	inside := `set -e; mount --bind . inside; cd inside; export WANDER_SOCKET=$PWD/w.sock WANDER=$PWD/wander; ` + run
	for _, c := range []struct {
		name   string
		attr   *syscall.SysProcAttr
		user   uint32 // as it is outside
		script string
		says   string
		code   int
	}{
		{"first", asUser(firstUser, daemonGroup), firstUser, run, "ran as 61001", 0},
		{"second", asUser(secondUser, noGroup, daemonGroup), secondUser, run, "ran as 61002", 0},
		{"container", container(daemonGroup), guestUser, inside, "ran as 0", 0},
		{"third", asUser(thirdUser, noGroup), 0, run, "permission denied", cli.ExitUnavailable},
		{"container without the group", container(noGroup), 0, inside, "permission denied", cli.ExitUnavailable},
		{"first, to leave", asUser(firstUser, daemonGroup), 0, `"$WANDER" leave`, "user 61001 of this machine may use resources, and no more", cli.ExitNoPermission},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, code := d.as(c.attr, c.script)
			assert.Equal(t, c.code, code, out)
			assert.Contains(t, out, c.says)
		})
	}

	assert.Equal(t, []uint32{firstUser, secondUser, guestUser}, d.askers())
}

// askers are the users for whom programs have run, as the journal says.
func (d *sharedDaemon) askers() (users []uint32) {
	d.Helper()
	code, out, errs := runCommand("", "inspect", "-o", "json", filepath.Join(d.made[0].StateDir, "journal"))
	require.Zero(d, code, errs)
	for line := range strings.Lines(out) {
		var record struct{ Object struct{ Asker *api.Asker } }
		require.NoError(d, json.Unmarshal([]byte(line), &record), line)
		if a := record.Object.Asker; a != nil {
			users = append(users, a.User)
			assert.Positive(d, a.Process)
		}
	}
	return users
}
