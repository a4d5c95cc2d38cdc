package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/store"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
)

// revokedWithin is within what time a gate cuts a session whose member is revoked, if it reaches the CA: it asks that each 45 seconds.
const revokedWithin = time.Minute

// statusLook is between two looks at a gate's status, each of which is a process.
const statusLook = 100 * time.Millisecond

// slotIs reports whether wander gate status shows a slot in a state.
func (c *crew) slotIs(state string) bool {
	out, _ := c.program("gate", "status", "--dir", "g").Output() // none while it starts
	return strings.Contains(string(out), state)
}

// TestGate_RevokedWhileOpen_CutWithinAMinute: the CA, a gate and a member are processes. The operator revokes the member in its session, and nobody but the CA tells the
// gate of it.
func TestGate_RevokedWhileOpen_CutWithinAMinute(t *testing.T) {
	whole.Only(t) // up to a minute of waiting
	t.Parallel()
	c := newCrew(t)
	target, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { target.Close() })
	listen := ports.Address(t)
	c.wander("join", c.wander("ca", "invite", "--dir", "ca", "--name", "gate-tape", "--gate", "--address", c.service), "--dir", "g")
	var id ident.Member
	for line := range strings.Lines(c.wander("ca", "list", "--dir", "ca")) {
		if f := strings.Fields(line); id.IsZero() && len(f) > 3 && f[1] == "gate-tape" && f[2] == "gate" {
			require.NoError(t, id.UnmarshalText([]byte(f[3])))
		}
	}
	text, err := os.ReadFile(filepath.Join(c.dir, "group.toml"))
	require.NoError(t, err)
	file := strings.Replace(string(text), `max_hold       = "10s"`, `max_hold       = "10m"`, 1) + "gate = \"" + id.String() + "\"\ngate_address = \"" + listen + "\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "group.toml"), []byte(file), 0o600))
	c.wander("ca", "config", "--dir", "ca", "group.toml")
	c.settledGate("g", id)
	c.start(new(bytes.Buffer), "gate", "--dir", "g", "--resource", "tape", "--target", target.Addr().String(), "--listen", listen, "--close", "true")
	m := &crewMember{name: "m1", listen: ports.Address(t), client: api.Dial(filepath.Join(c.dir, "m1", "state", "wander.sock"))}
	self, err := os.Executable()
	require.NoError(t, err)
	c.wander("join", c.wander("ca", "invite", "--dir", "ca", "--name", "m1", "--address", c.service), "--dir", "m1", "--listen", m.listen,
		"--resource", "tape", "--", self, "pause", "9m")
	alone := filepath.Join(c.dir, "m1", "wander.toml") // it does not reach the CA: an honest member that hears of its revocation ends by itself
	text, err = os.ReadFile(alone)
	require.NoError(t, err)
	require.Contains(t, string(text), c.service)
	require.NoError(t, os.WriteFile(alone, []byte(strings.ReplaceAll(string(text), c.service, ports.Address(t))), 0o600))
	c.members = append(c.members, m)
	c.run(m)
	require.True(t, await.Holds(statusLook, func() bool { return c.slotIs("OPEN,") }), "the session opens")
	began := time.Now()
	c.wander("ca", "revoke", "m1", "--dir", "ca")
	for c.slotIs("OPEN,") {
		require.Less(t, time.Since(began), 2*revokedWithin)
		time.Sleep(statusLook)
	}
	took := time.Since(began)
	t.Logf("cut %v after the operator's command began: %s", took.Round(10*time.Millisecond), c.wander("gate", "status", "--dir", "g", "--output", "json"))
	assert.LessOrEqual(t, took, revokedWithin)
}

// settledGate writes the journal of a gate with nothing open: the first start of one is shut for max_hold.
func (c *crew) settledGate(dir string, gate ident.Member) {
	c.t.Helper()
	g, _, err := cli.ReadGroup(filepath.Join(c.dir, dir, "group.crt"))
	require.NoError(c.t, err)
	st, _, err := store.Open(filepath.Join(c.dir, dir, "gate", "journal"), store.Options{Group: g.ID(), Member: gate})
	require.NoError(c.t, err)
	for _, r := range []core.Record{&core.BeginRecord{}, &core.ClosedRecord{Reason: core.ByRestart}} {
		body, err := core.Encode(1, r)
		require.NoError(c.t, err)
		_, err = st.Append(body)
		require.NoError(c.t, err)
	}
	require.NoError(c.t, st.Close())
}
