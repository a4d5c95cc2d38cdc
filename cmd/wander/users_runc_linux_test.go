package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/gate/gatetest"
)

// containers runs them with runc, which podman, docker and kubernetes use, too. Their images are the host's programs, read-only.
type containers struct {
	t      *testing.T
	bundle string
}

// newContainers skips the test where no container can run: without runc, or in a container that may have none inside.
func newContainers(t *testing.T) *containers {
	t.Helper()
	if _, err := exec.LookPath("runc"); err != nil {
		t.Skip("needs runc; TestUsers_OneDaemon_BothServed has a container of namespaces alone")
	}
	bundle, err := os.MkdirTemp("", "wander")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(bundle) })
	require.NoError(t, os.Chmod(bundle, 0o755))
	r := &containers{t: t, bundle: bundle}
	if out, code := r.run("trial", noGroup, nil, nil, "exit 0"); code != 0 {
		t.Skipf("runc runs no container on this machine: %s", out)
	}
	return r
}

type ociMount struct {
	Destination string   `json:"destination"`
	Type        string   `json:"type"`
	Source      string   `json:"source"`
	Options     []string `json:"options,omitempty"`
}

// run runs a shell script in a container. Root of the container is guestUser outside, in a group.
func (r *containers) run(name string, group int, env []string, volumes map[string]string, script string) (out string, code int) {
	r.t.Helper()
	mounts := []ociMount{{"/proc", "proc", "proc", nil}, {"/dev", "tmpfs", "tmpfs", nil}, {"/tmp", "tmpfs", "tmpfs", nil}}
	for _, folder := range []string{"/usr", "/bin", "/lib", "/lib64"} {
		if _, err := os.Stat(folder); err == nil {
			mounts = append(mounts, ociMount{folder, "bind", folder, []string{"rbind", "ro"}})
		}
	}
	for inside, outside := range volumes {
		mounts = append(mounts, ociMount{inside, "bind", outside, []string{"rbind", "ro"}})
	}
	for _, m := range mounts { // the container may not make them in a folder that is not its own
		require.NoError(r.t, os.MkdirAll(filepath.Join(r.bundle, "rootfs", m.Destination), 0o755))
	}
	type mapping struct {
		ContainerID int `json:"containerID"`
		HostID      int `json:"hostID"`
		Size        int `json:"size"`
	}
	type namespace struct {
		Type string `json:"type"`
	}
	config, err := json.Marshal(map[string]any{
		"ociVersion": "1.0.2", "hostname": name, "mounts": mounts,
		"root": map[string]any{"path": "rootfs", "readonly": true},
		"process": map[string]any{
			"user": map[string]int{"uid": 0, "gid": 0}, "cwd": "/", "noNewPrivileges": true,
			"args": []string{"/bin/sh", "-c", script}, "env": append([]string{"PATH=/usr/bin:/bin"}, env...),
		},
		"linux": map[string]any{
			"namespaces":  []namespace{{"pid"}, {"mount"}, {"ipc"}, {"uts"}, {"network"}, {"user"}},
			"uidMappings": []mapping{{0, guestUser, 1}}, "gidMappings": []mapping{{0, group, 1}},
		},
	})
	require.NoError(r.t, err)
	require.NoError(r.t, os.WriteFile(filepath.Join(r.bundle, "config.json"), config, 0o600))
	cmd := exec.Command("runc", "--root", filepath.Join(r.bundle, "state"), "run", "--bundle", r.bundle, fmt.Sprintf("wander-%s-%d", name, os.Getpid()))
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		require.NoError(r.t, err)
	}
	return text.String(), cmd.ProcessState.ExitCode()
}

// A container with a user namespace and no network runs programs at a daemon of the host, whose socket is mounted into it. The
// group id on the host decides, and not what the container calls it.
func TestUsers_RealContainer_Served(t *testing.T) {
	t.Parallel()
	d := newSharedDaemon(t)
	c := newContainers(t)
	env := []string{programVariable + "=1", "WANDER=/run/wander/wander", socketVariable + "=/run/wander/w.sock"}
	volumes := map[string]string{"/run/wander": d.dir}
	const script = `"$WANDER" run ` + gatetest.Resource + ` -q -c 'echo ran as $(id -u) on $(hostname)' && "$WANDER" status`

	out, code := c.run("guest", daemonGroup, env, volumes, script)
	assert.Zero(t, code, out)
	assert.Contains(t, out, "ran as 0 on guest")

	out, code = c.run("stranger", noGroup, env, volumes, script)
	assert.Equal(t, cli.ExitUnavailable, code, out)
	assert.Contains(t, out, "permission denied")
	assert.Equal(t, []uint32{guestUser}, d.askers())
}
