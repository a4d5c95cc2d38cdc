package node_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/fleetlock"
	"github.com/wandertoken/wander/node/store"
)

// asksFleet sends an updater's request, and returns the status of its answer.
func asksFleet(t *testing.T, c *http.Client, base, path string, change func(*http.Request)) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, strings.NewReader(`{"client_params":{"id":"a","group":"default"}}`))
	require.NoError(t, err)
	r.Header.Set("fleet-lock-protocol", "true")
	if change != nil {
		change(r)
	}
	answer, err := c.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	t.Logf("%s: %d %s", path, answer.StatusCode, text)
	return answer.StatusCode
}

// An updater holds the resource over the daemon's restart, asks over TCP and over the socket, and no browser may.
func TestFleetLock_DaemonRestarted_HeldUntilSteady(t *testing.T) {
	address, socket := ports.Address(t), filepath.Join(t.TempDir(), "s")
	long := quick
	long.MaxHold = time.Hour // its grant outlives the test on any machine
	a, dir := newAuthority(t, long), t.TempDir()
	self := a.issue(t, "alone")
	open := func() *node.Node {
		n, _ := openNode(t, self, func(c *node.Config) {
			c.Found, c.StateDir, c.Mode, c.Socket = true, dir, store.Durable, socket
			c.FleetLock = node.FleetLock{Listen: address, Groups: []string{"default=" + resource}}
		})
		return n
	}
	n := open()
	tcp := &http.Client{}
	local := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	base := "http://" + address
	await.Until(t, "that the updater has the resource", func() bool { return asksFleet(t, tcp, base, fleetlock.PreReboot, nil) == http.StatusOK })
	assert.Equal(t, http.StatusOK, asksFleet(t, local, "http://wander", fleetlock.PreReboot, nil))
	assert.Equal(t, http.StatusBadRequest, asksFleet(t, tcp, base, fleetlock.PreReboot, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }))
	assert.Equal(t, http.StatusBadRequest, asksFleet(t, tcp, base, fleetlock.PreReboot, func(r *http.Request) { r.Host = "evil.example" }))
	tcp.CloseIdleConnections()
	require.NoError(t, n.Close(context.Background()))
	n = open()
	assert.True(t, n.Status().Resources[0].Slots[0].Executing, "it is held")
	zero := int64(0)
	_, err := n.Acquire(context.Background(), api.AcquireRequest{Resource: resource, WaitMS: &zero})
	assert.ErrorIs(t, err, api.ErrNotGranted)
	assert.Equal(t, http.StatusOK, asksFleet(t, tcp, base, fleetlock.PreReboot, nil))
	assert.Equal(t, http.StatusOK, asksFleet(t, tcp, base, fleetlock.SteadyState, nil))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	held, err := n.Acquire(ctx, api.AcquireRequest{Resource: resource})
	require.NoError(t, err)
	held.Release(false, 0)
	tcp.CloseIdleConnections()
}

func TestFleetLock_BadSettings_Refused(t *testing.T) {
	id := newAuthority(t, quick).issue(t, "alone")
	some := []string{"default=" + resource}
	for _, f := range []node.FleetLock{
		{Listen: "0.0.0.0:1", Groups: some}, {Listen: "nowhere", Groups: some}, {Listen: "127.0.0.1:0"}, {Groups: []string{"default"}}, {Groups: []string{"default=a b"}},
	} {
		_, err := node.Open(context.Background(), node.Config{Identity: id, StateDir: t.TempDir(), Listen: "127.0.0.1:0", Socket: "-", FleetLock: f})
		var setting *node.SettingError
		assert.ErrorAs(t, err, &setting, "%+v", f)
	}
}
