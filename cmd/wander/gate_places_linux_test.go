package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/node/api"
)

// hall is a resource that takes two members at once. It counts who is inside, and keeps each visitor for a while.
type hall struct {
	listen net.Listener
	mu     sync.Mutex
	inside int
	most   int
	visits int
}

// hallTime is how long the hall keeps a visitor: the work of a program.
const hallTime = 150 * time.Millisecond

func newHall(t *testing.T) *hall {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	h := &hall{listen: l}
	visited(t, l, h.visit)
	return h
}

func (h *hall) visit(c net.Conn) {
	h.step(1)
	_ = c.SetReadDeadline(time.Now().Add(hallTime)) // a connection that breaks ends it
	for buf := make([]byte, 64); ; {
		if _, err := c.Read(buf); err != nil {
			break
		}
	}
	h.step(-1)
	c.Close()
}

func (h *hall) step(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inside += n
	h.most = max(h.most, h.inside)
	h.visits += max(0, n)
}

func (h *hall) now() (inside, most, visits int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.inside, h.most, h.visits
}

// joinGate makes the crew's gate a machine, names it in the group's file, and returns its id.
func (c *crew) joinGate(groupFile, address string) (id string) {
	c.t.Helper()
	c.wander("join", c.wander("ca", "invite", "--dir", "ca", "--name", "gate", "--gate", "--address", c.service), "--dir", "gate")
	for line := range strings.Lines(c.wander("ca", "list", "--dir", "ca")) {
		if f := strings.Fields(line); id == "" && len(f) > 3 && f[1] == "gate" && f[2] == "gate" {
			id = f[3]
		}
	}
	require.NotEmpty(c.t, id)
	groupFile += fmt.Sprintf("gate = %q\ngate_address = %q\n", id, address)
	require.NoError(c.t, os.WriteFile(filepath.Join(c.dir, "group.toml"), []byte(groupFile), 0o600))
	c.wander("ca", "config", "--dir", "ca", "group.toml")
	return id
}

// TestGate_TwoPlaces_NeverThree: four daemons at a resource for two at a time, as two slots, or as one slot with two places. Two sessions are open at once and
// never three, also when the gate is killed with both of them open.
func TestGate_TwoPlaces_NeverThree(t *testing.T) {
	for name, resource := range map[string]string{
		"two slots":  "slots = 2\n",
		"two places": "policy = \"multitoken\"\ntarget_interval = \"600ms\"\ngate_sessions = 2\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCrew(t)
			h := newHall(t)
			address := ports.Address(t)
			c.joinGate(`
gossip_interval = "2s"

[[resource]]
name           = "tape"
operation_time = "200ms"
members_max    = 4
max_hold       = "4s"
settle         = "50ms"
gate_keep      = "100ms"
`+resource, address)
			up := func(args ...string) *exec.Cmd {
				return c.start(new(bytes.Buffer), append([]string{
					"gate", "--dir", "gate", "--resource", "tape", "--target", h.listen.Addr().String(), "--listen", address,
				}, args...)...)
			}
			gate := up("--floor", "0")
			ctx, cancel := context.WithCancel(context.Background())
			var programs sync.WaitGroup
			defer programs.Wait()
			defer cancel()
			for _, name := range []string{"a", "b", "c", "d"} {
				m := &crewMember{name: name, listen: ports.Address(t), client: api.Dial(filepath.Join(c.dir, name, "state", "wander.sock"))}
				invite := c.wander("ca", "invite", "--dir", "ca", "--name", name, "--address", c.service)
				c.wander("join", invite, "--dir", name, "--listen", m.listen)
				c.members = append(c.members, m)
				c.run(m)
			}
			for _, m := range c.members {
				c.answers(m)
				programs.Go(func() { m.visits(ctx) })
			}
			both := func() bool { inside, _, _ := h.now(); return inside == 2 }
			await.Until(t, "two members inside", both)
			require.NoError(t, gate.Process.Kill())
			_ = gate.Wait()
			_, _, before := h.now()
			up()
			await.Until(t, "two members inside again", both)
			await.Until(t, "they go on", func() bool { _, _, visits := h.now(); return visits >= before+12 })
			_, most, visits := h.now()
			assert.Equal(t, 2, most, "members inside at once")
			t.Logf("%d visits, at most %d at once", visits, most)
		})
	}
}

// visits has a member's programs go through the gate one after the other, until ctx ends. The programs are within this process: a test on a busy
// machine is to wait for the group, and not for its shells.
func (m *crewMember) visits(ctx context.Context) {
	for ctx.Err() == nil {
		held, err := m.client.Acquire(ctx, api.AcquireRequest{Resource: "tape", Label: "visit"})
		if err != nil {
			continue // the gate is away
		}
		if way, err := m.client.Connect(ctx, api.ConnectRequest{Grant: held.Grant().ID}); err == nil {
			_, _ = io.Copy(io.Discard, way) // until the hall has had enough, or the session is over
			way.Close()
		}
		_ = m.client.Release(ctx, api.ReleaseRequest{Grant: held.Grant().ID})
		held.Close()
	}
}
