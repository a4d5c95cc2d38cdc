//go:build unix

package main

import (
	"context"
	"net"
	"path/filepath"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
)

// gateFaults are those of a gate that answers.
var gateFaults = map[api.Cause]func(f *fault) (socket string){
	explain.GateStuck: func(f *fault) (socket string) {
		g := f.gate(nil)
		gatetest.WriteJournal(f, filepath.Join(g.Dir, "journal"), f.group.ID(), f.w.Gate.ID(), *g.Floor, 1)
		g.CloseHook = func(_ context.Context, c driver.Call) core.Result {
			if c.Session > *g.Floor { // that of a program
				return core.Failed
			}
			return core.Succeeded
		}
		f.serve(g)
		a := f.daemon(at(&socket))
		f.lets(a)
		f.turn(a)
		f.broken()
		f.wait(a)
		return socket
	},
	explain.GateRefuses: func(f *fault) (socket string) {
		g := f.gate(func(g *group.Gate) { g.RevocationMaxAge = group.MinRevocationAge })
		g.Sync = func(context.Context, *group.Group, uint64) (driver.News, error) {
			return driver.News{}, context.DeadlineExceeded
		}
		f.serve(g)
		a := f.daemon(at(&socket))
		f.lets(a)
		f.broken()
		f.wait(a)
		return socket
	},
	explain.GateBusy: func(f *fault) (socket string) {
		f.serve(f.gate(nil)) // without a journal: there may have been a session
		a := f.daemon(at(&socket))
		f.lets(a)
		f.broken()
		f.wait(a)
		return socket
	},
}

// gate puts a gate before the resource, from the next daemon on.
func (f *fault) gate(change func(*group.Gate)) *driver.Config {
	f.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(f, err)
	f.change(func(s *group.Settings) {
		g := &s.Resources[0].Gate
		*g = group.Gate{Member: f.w.Gate.ID(), Address: conn.LocalAddr().String(), Settle: time.Millisecond}
		if change != nil {
			change(g)
		}
		*g = g.WithDefaults()
	})
	floor := uint64(100)
	return &driver.Config{
		Dir: f.TempDir(), Resource: gatetest.Resource, Target: driver.Target{Network: "tcp", Address: ports.Address(f)},
		Group: f.group, Certificate: f.w.Gate.Certificate, Key: f.w.Gate.Key, Conn: conn, Floor: &floor,
	}
}

// serve starts a gate.
func (f *fault) serve(cfg *driver.Config) {
	f.Helper()
	g, err := driver.Open(context.Background(), *cfg)
	require.NoError(f, err)
	f.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = g.Close(ctx)
	})
}

// lets waits until a member has a connection with the gate.
func (f *fault) lets(n *node.Node) {
	f.Helper()
	await.Until(f, "a connection with the gate", func() bool {
		g := n.Status().Resources[0].Slots[0].Gate
		return g != nil && g.Reachable
	})
}
