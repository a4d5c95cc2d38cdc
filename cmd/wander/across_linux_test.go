package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
)

// away is for how long the daemon of the machine that restarts is gone: longer than the group waits for a silent holder.
const away = 8 * time.Second

// TestRunAcrossReboot_DaemonKilled_NobodyElseRuns: the group replaces a silent holder's token at once. The daemon is killed, as by the
// machine's restart, and comes back. The test judges by a file to which each program writes, not by what members say.
func TestRunAcrossReboot_DaemonKilled_NobodyElseRuns(t *testing.T) {
	t.Parallel()
	c := newCrewWith(t, acrossResources)
	a, b := c.join("m1"), c.join("m2")
	c.agree("m1=valid m2=valid", a, b)
	ran := filepath.Join(c.dir, "ran")
	socket := func(m *crewMember) string { return filepath.Join(c.dir, m.name, "state", api.SocketName) }
	c.wander("run", "reboot", "--across-reboot", "--socket", socket(a), "-c", "echo a began >>"+ran)
	require.NoError(t, a.process.Process.Kill())
	_ = a.process.Wait()
	other := c.program("run", "reboot", "--wait", "5m", "--socket", socket(b), "-c", "echo b ran >>"+ran)
	require.NoError(t, other.Start())
	await.Until(t, "the cause holder_away", func() bool {
		return c.resource(b, "reboot").Cause == explain.HolderAway
	})
	t.Log(c.resource(b, "reboot").Sentence)
	time.Sleep(away) // that is the fault
	c.run(a)
	c.answers(a)
	text, err := os.ReadFile(ran)
	require.NoError(t, err)
	assert.Equal(t, "a began\n", string(text), "b ran while a was away")
	assert.True(t, c.resource(a, "reboot").Slots[0].Executing, "a holds it yet")
	t.Log(c.resource(a, "reboot").Sentence)
	f, err := os.OpenFile(ran, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, _ = f.WriteString("a is back\n")
	require.NoError(t, f.Close())
	assert.Equal(t, "reboot is released", c.wander("release", "reboot", "--socket", socket(a)))
	require.NoError(t, other.Wait())
	text, err = os.ReadFile(ran)
	require.NoError(t, err)
	assert.Equal(t, "a began\na is back\nb ran\n", string(text))
	assert.Equal(t, "reboot was not held across a restart", c.wander("release", "reboot", "--socket", socket(a)))
}

// TestRunAcrossReboot_Command_DecidesWhetherItIsHeld: a command that fails does not restart the machine, so nothing is held. One that SIGTERM
// stops was stopped by the machine on its way down.
func TestRunAcrossReboot_Command_DecidesWhetherItIsHeld(t *testing.T) {
	t.Parallel()
	c := newCrewWith(t, acrossResources)
	m := c.join("alone")
	c.answers(m)
	socket := filepath.Join(c.dir, m.name, "state", api.SocketName)
	for command, held := range map[string]bool{
		"exit 3":        false,
		"kill -KILL $$": false,
		"kill -TERM $$": true,
		":":             true,
	} {
		cmd := c.program("run", "reboot", "--across-reboot", "--socket", socket, "-c", command)
		out, _ := cmd.CombinedOutput()
		said := "the command has failed, and the machine does not restart: reboot is released"
		released := "reboot was not held across a restart"
		if held {
			said, released = "this member holds reboot across the restart of the machine", "reboot is released"
		}
		assert.Contains(t, string(out), said, command)
		assert.Equal(t, held, c.resource(m, "reboot").Slots[0].Executing, command)
		assert.Equal(t, released, c.wander("release", "reboot", "--socket", socket), command)
	}
}

// resource is what a member says of a resource.
func (c *crew) resource(m *crewMember, name string) (found api.ResourceStatus) {
	c.t.Helper()
	st, err := m.client.Status(context.Background())
	require.NoError(c.t, err)
	i := slices.IndexFunc(st.Resources, func(r api.ResourceStatus) bool { return r.Name == name })
	require.GreaterOrEqual(c.t, i, 0)
	return st.Resources[i]
}

const acrossResources = `
[[resource]]
name             = "reboot"
operation_time   = "1s"
members_max      = 5
min_interval     = "50ms"
max_hold         = "5m"
on_silent_holder = "replace"
`
