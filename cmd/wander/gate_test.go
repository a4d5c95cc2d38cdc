package main

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
)

// A gate stops at the second signal, also if a hook cannot be killed.
func TestServeGate_HookNeverEnds_SecondSignalStops(t *testing.T) {
	t.Parallel()
	w := gatetest.New(t, 1, nil)
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	floor := uint64(0)
	hangs, release := make(chan struct{}, 1), make(chan struct{})
	g, err := driver.Open(context.Background(), driver.Config{
		Dir: t.TempDir(), Resource: gatetest.Resource, Target: driver.Target{Network: "tcp", Address: "127.0.0.1:1"}, Group: w.Group,
		Certificate: w.Gate.Certificate, Key: w.Gate.Key, Conn: conn, Floor: &floor,
		CloseHook: func(context.Context, driver.Call) core.Result {
			hangs <- struct{}{}
			<-release
			return core.Failed
		},
	})
	require.NoError(t, err)
	await.Next(t, "the close hook of the first start", hangs)
	stop := make(chan os.Signal, 2)
	stop <- os.Interrupt
	stop <- os.Interrupt
	assert.Error(t, serveGate(g, stop, slog.New(slog.DiscardHandler)))
	close(release)
	await.Next(t, "the end of the gate", g.Done())
}

// A gate that has fetched its configuration keeps the revocations of its group file.
func TestCatchUp_GroupFileRevokes_Kept(t *testing.T) {
	w := gatetest.New(t, 2, nil)
	h := gateHome{groups: filepath.Join(t.TempDir(), "group.crt")}
	first, second := w.Revoke(w.Members[0].ID()), w.Revoke(w.Members[1].ID())
	cfg := driver.Config{
		Group: w.Newer(func(x *group.Settings) { x.Resources[0].Gate = group.Gate{} }), Extra: group.Extra{Revocations: [][]byte{first}},
		Certificate: w.Gate.Certificate,
		Sync: func(context.Context, *group.Group, uint64) (driver.News, error) {
			return driver.News{Group: w.Newer(func(x *group.Settings) { x.Version++ }), Revocations: [][]byte{second}}, nil
		},
	}
	h.catchUp(&cfg, slog.New(slog.DiscardHandler))
	_, extra, err := cli.ReadGroup(h.groups)
	require.NoError(t, err)
	assert.Equal(t, [][]byte{first, second}, extra.Revocations)
}

func TestGateTargets_EachForm(t *testing.T) {
	sql, files, plain := driver.Target{Network: "unix", Address: "/run/s=1"}, driver.Target{Network: "tcp", Address: "localhost:873"}, driver.Target{Network: "unix", Address: "/run/s"}
	for text, c := range map[string]struct {
		plain driver.Target
		named map[string]driver.Target
	}{
		"unix:/run/s":                           {plain: plain},
		"unix:/run/s=1":                         {plain: sql}, // a path may have it, too
		"sql=unix:/run/s=1 files=localhost:873": {named: map[string]driver.Target{"sql": sql, "files": files}},
		"files=localhost:873 unix:/run/s":       {plain: plain, named: map[string]driver.Target{"files": files}},
	} {
		var cfg driver.Config
		for _, one := range strings.Fields(text) {
			require.NoError(t, addTarget(&cfg, one), text)
		}
		assert.Equal(t, c.plain, cfg.Target, text)
		assert.Equal(t, c.named, cfg.Targets, text)
	}
	for _, text := range []string{"sql", "sql=", "sql=unix:", "S=localhost:1", "=localhost:1", "a:1 b:1", "x=a:1 x=b:1"} {
		var cfg driver.Config
		var err error
		for _, one := range strings.Fields(text) {
			if err == nil {
				err = addTarget(&cfg, one)
			}
		}
		assert.Error(t, err, text)
	}
}
