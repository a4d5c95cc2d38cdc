//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// crew is a group whose CA and members are processes.
type crew struct {
	t       *testing.T
	dir     string
	service string
	members []*crewMember
	environ []string // of its programs, besides
}

// crewMember is one machine of a crew.
type crewMember struct {
	name, listen string
	process      *exec.Cmd
	output       bytes.Buffer // to be read after Wait
	client       *api.Client
}

// program is a command of wander as a process of its own.
func (c *crew) program(args ...string) *exec.Cmd {
	self, err := os.Executable()
	require.NoError(c.t, err)
	cmd := exec.Command(self, args...)
	cmd.Dir = c.dir
	cmd.Env = append(append(os.Environ(), programVariable+"=1"), c.environ...)
	return cmd
}

// wander runs a command to its end and returns what it printed.
func (c *crew) wander(args ...string) string {
	c.t.Helper()
	cmd := c.program(args...)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	require.NoError(c.t, err, "%v: %s", args, &failed)
	return strings.TrimSpace(string(out))
}

// start starts a command that goes on.
func (c *crew) start(output *bytes.Buffer, args ...string) *exec.Cmd {
	cmd := c.program(args...)
	cmd.Stdout, cmd.Stderr = output, output
	require.NoError(c.t, cmd.Start())
	c.t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		if text := output.Bytes(); c.t.Failed() {
			c.t.Logf("%v said in the end:\n%s", args, text[max(0, len(text)-lastWords):])
		}
	})
	return cmd
}

// lastWords is how many bytes of a command's output a failed test shows.
const lastWords = 8 << 10

// lastState shows what a member said of itself when a test had failed.
func (c *crew) lastState(m *crewMember) {
	if !c.t.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	st, err := m.client.Status(ctx)
	text, _ := json.Marshal(st)
	c.t.Logf("%s: %s, %v", m.name, text, err)
}

func newCrew(t *testing.T) *crew { return newCrewWith(t, "") }

// newCrewWith is newCrew with more resources.
func newCrewWith(t *testing.T, resources string) *crew {
	t.Helper()
	dir, err := os.MkdirTemp("", "wander") // shorter than t.TempDir's, for sockets
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := &crew{t: t, dir: dir, service: ports.Address(t)}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "group.toml"), []byte(`
gossip_interval = "2s"

[[resource]]
name           = "tape"
operation_time = "200ms"
members_max    = 5
min_interval   = "50ms"
max_hold       = "10s"
`+resources), 0o600))
	c.wander("ca", "init", "--dir", "ca", "--name", "crew", "--no-passphrase")
	c.wander("ca", "config", "--dir", "ca", "group.toml")
	c.start(new(bytes.Buffer), "ca", "serve", "--dir", "ca", "--listen", c.service)
	return c
}

// join makes a machine a member with an invite, and starts its daemon, which
// wants the tape all the time.
func (c *crew) join(name string) *crewMember {
	c.t.Helper()
	m := &crewMember{name: name, listen: ports.Address(c.t), client: api.Dial(filepath.Join(c.dir, name, "state", "wander.sock"))}
	self, err := os.Executable()
	require.NoError(c.t, err)
	invite := c.wander("ca", "invite", "--dir", "ca", "--name", name, "--address", c.service)
	c.wander("join", invite, "--dir", name, "--listen", m.listen, "--resource", "tape", "--", self, "pause", "10ms")
	c.members = append(c.members, m)
	c.run(m)
	return m
}

func (c *crew) run(m *crewMember) {
	args := []string{"node", "--config", filepath.Join(m.name, "wander.toml")}
	if len(c.members) == 1 {
		args = append(args, "--found")
	}
	m.output.Reset()
	m.process = c.start(&m.output, args...)
	c.t.Cleanup(func() { c.lastState(m) })
}

// end waits until a member's daemon has ended, and returns its exit code.
func (c *crew) end(m *crewMember) int {
	c.t.Helper()
	guard := time.AfterFunc(runHang, func() { _ = m.process.Process.Kill() })
	defer guard.Stop()
	var exit *exec.ExitError
	if err := m.process.Wait(); err != nil && !errors.As(err, &exit) {
		require.NoError(c.t, err)
	}
	return m.process.ProcessState.ExitCode()
}

// view is whom a member knows, as "name=state …" in the order of their names;
// empty while its daemon does not answer.
func (m *crewMember) view() string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	list, err := m.client.Members(ctx)
	if err != nil {
		return ""
	}
	known := make(map[string]string)
	for _, info := range list {
		known[info.Name] = info.State
	}
	var b strings.Builder
	for _, name := range []string{"m1", "m2", "m3", "m4", "m5"} {
		if state, ok := known[name]; ok {
			fmt.Fprintf(&b, "%s=%s ", name, state)
		}
	}
	return strings.TrimSpace(b.String())
}

// agree waits until all of some members have the same view, and logs how long it took.
func (c *crew) agree(want string, members ...*crewMember) {
	c.t.Helper()
	begin := time.Now()
	for _, m := range members {
		if !await.Holds(20*time.Millisecond, func() bool { return m.view() == want }) {
			require.FailNow(c.t, m.name+" does not agree", "it sees %s instead of %s", m.view(), want)
		}
	}
	c.t.Logf("%v: %s", time.Since(begin).Round(time.Millisecond), want)
}

// operates waits until a member's operation has run, so that tokens circulate.
func (c *crew) operates(m *crewMember) {
	c.t.Helper()
	count := func() uint64 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		st, err := m.client.Status(ctx)
		if err != nil {
			return 0
		}
		return st.Resources[0].Slots[0].Operations
	}
	before, begin := count(), time.Now()
	await.Until(c.t, m.name+" gets a token", func() bool { return count() > before })
	c.t.Logf("%v: %s gets a token", time.Since(begin).Round(time.Millisecond), m.name)
}

// journals are what an auditor reads.
func (c *crew) journals() (g ident.Group, list []audit.Journal, names map[ident.Member]string) {
	names = make(map[ident.Member]string)
	for _, m := range c.members {
		var j audit.Journal
		for f, err := range store.Frames(nil, filepath.Join(c.dir, m.name, "state", "journal")) {
			var torn *journal.TornError
			if errors.As(err, &torn) {
				break // what a kill leaves
			}
			require.NoError(c.t, err)
			g, j.Member = f.Segment.Group, f.Segment.Member
			if f.FromCheckpoint || len(f.Body) == 0 {
				continue
			}
			at, r, err := journal.Decode(f.Body)
			require.NoError(c.t, err)
			j.Entries = append(j.Entries, audit.Entry{At: at, Record: r})
		}
		list, names[j.Member] = append(list, j), m.name
	}
	return g, list, names
}

// TestMembership_JoinRevokeLeave_Followed: five machines join with invites one after the other while
// tokens circulate; one leaves, one is killed, one is revoked; all others come to
// agree; who was revoked cannot come back, who was killed can; and the journals
// show no duplicate, and no token lost but with the one that was revoked.
func TestMembership_JoinRevokeLeave_Followed(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	want := ""
	for i := 1; i <= 5; i++ {
		m := c.join(fmt.Sprintf("m%d", i))
		want = strings.TrimSpace(fmt.Sprintf("%s m%d=valid", want, i))
		c.agree(want, c.members...)
		c.operates(m)
	}
	m1, m2, m3, m4, m5 := c.members[0], c.members[1], c.members[2], c.members[3], c.members[4]

	c.wander("leave", "--socket", filepath.Join(m5.name, "state", "wander.sock"))
	assert.Equal(t, 0, c.end(m5), &m5.output)
	c.agree("m1=valid m2=valid m3=valid m4=valid m5=left", m1, m2, m3, m4)

	require.NoError(t, m4.process.Process.Signal(syscall.SIGKILL))
	c.end(m4)
	c.agree("m1=valid m2=valid m3=valid m4=failed m5=left", m1, m2, m3)

	c.wander("ca", "revoke", "m3", "--dir", "ca")
	assert.Equal(t, 79, c.end(m3), &m3.output)
	c.agree("m1=valid m2=valid m3=revoked m4=failed m5=left", m1, m2)

	for _, gone := range []*crewMember{m3, m5} {
		c.run(gone)
		assert.Equal(t, 79, c.end(gone), &gone.output)
	}
	c.run(m4)
	c.agree("m1=valid m2=valid m3=revoked m4=valid m5=left", m1, m2, m4)
	for _, m := range []*crewMember{m1, m2, m4} {
		c.operates(m)
	}
	for _, m := range []*crewMember{m1, m2, m4} {
		require.NoError(t, m.process.Process.Signal(syscall.SIGTERM))
	}
	for _, m := range []*crewMember{m1, m2, m4} {
		assert.Equal(t, 0, c.end(m), &m.output)
	}

	g, journals, names := c.journals()
	report := audit.Check(g, journals, audit.Options{})
	for _, f := range report.Findings {
		assert.NotContains(t, []audit.Kind{audit.Overlap, audit.Fork, audit.Twice}, f.Kind, f.String())
	}
	for _, token := range report.Tokens {
		if token.Fate.Lost() {
			assert.Contains(t, []string{names[token.Last], names[token.To]}, "m3", "%+v", token)
		}
	}
	t.Logf("%d handoffs, %d tokens", report.Handoffs(), len(report.Tokens))
}
