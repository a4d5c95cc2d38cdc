//go:build unix

package main

import (
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/window"
)

// resourceFaults bring about what keeps a resource from programs.
var resourceFaults = map[api.Cause]func(f *fault) (socket string){
	explain.Leaving: func(f *fault) (socket string) {
		f.run(f.daemon(at(&socket)))
		f.group = f.w.Newer(func(s *group.Settings) { s.Resources[0].Name = "zebra" })
		f.broken()
		f.daemon(nil)
		return socket
	},
	explain.Running:   func(f *fault) (socket string) { f.run(f.daemon(at(&socket))); f.broken(); return socket },
	explain.TokenHere: func(f *fault) (socket string) { f.daemon(at(&socket)); f.broken(); return socket },
	explain.Idle: func(f *fault) (socket string) {
		a, b := f.pair(&socket)
		f.turn(b) // so that it has seen the token
		f.run(a)
		f.broken()
		return socket
	},
	explain.NoToken: func(f *fault) (socket string) {
		a := f.daemon(func(c *node.Config, _ *certificate.Claims) { c.Found = false; at(&socket)(c, nil) })
		f.wait(a)
		f.broken()
		return socket
	},
	explain.RunsElsewhere: func(f *fault) (socket string) {
		a, b := f.pair(&socket)
		f.run(a)
		f.wait(b)
		f.broken()
		return socket
	},
	explain.GateUnreachable: func(f *fault) (socket string) {
		f.daemon(at(&socket)) // and nobody waits
		f.broken()
		return socket
	},
	explain.RunsLong: func(f *fault) (socket string) {
		a, b := f.pair(&socket)
		f.takeTurns(a, b)
		f.run(a)
		f.broken()
		f.wait(b)
		return socket
	},
	explain.HolderAway: func(f *fault) (socket string) {
		a, b := f.pair(&socket)
		f.meets(f.daemon(nil)) // so that b is not isolated then
		f.runs(a, api.AcquireRequest{AcrossReboot: true})
		f.wait(b)
		await.Until(f, "b knows that the holder will be away", func() bool {
			h := b.Status().Resources[0].Slots[0].Holder
			return h != nil && h.AwayS != nil
		})
		f.broken()
		f.crash(a)
		return socket
	},
	explain.WindowClosed: func(f *fault) (socket string) {
		a := f.daemon(at(&socket))
		f.wait(a)
		f.broken()
		return socket
	},
	explain.VotesMissing: func(f *fault) (socket string) {
		a := f.daemon(at(&socket))
		for range 3 {
			f.daemon(nil)
		}
		await.Until(f, "all know each other", func() bool { return a.Status().Link.Others == 3 && len(a.Status().Peers) == 3 })
		f.wait(a)
		f.crash(f.nodes[1])
		f.crash(f.nodes[2])
		f.broken()
		return socket
	},
	explain.Replacing: func(f *fault) (socket string) {
		a := f.daemon(nil)
		b := f.daemon(at(&socket))
		f.daemon(nil)
		await.Until(f, "all know each other", func() bool { return b.Status().Link.Others == 2 && len(b.Status().Peers) == 2 })
		f.turn(b) // else it may not know that there is a token
		f.run(a)
		f.wait(b)
		f.broken()
		f.crash(a)
		return socket
	},
	explain.NoPlace: func(f *fault) (socket string) {
		f.daemon(nil)
		for range 2 {
			f.meets(f.daemon(func(c *node.Config, _ *certificate.Claims) { c.Listen = "" }))
		}
		f.broken()
		await.Until(f, "one has no place", func() bool {
			for i, n := range f.nodes {
				if n.Status().Resources[0].NoPlace {
					socket = filepath.Join(f.made[i].StateDir, api.SocketName)
				}
			}
			return socket != ""
		})
		return socket
	},
	explain.Next: func(f *fault) (socket string) {
		a, b := f.pair(&socket)
		for range 5 {
			f.turn(a)
			f.turn(b)
		}
		f.run(a)
		f.broken()
		f.wait(b)
		return socket
	},
	explain.Searching: func(f *fault) (socket string) {
		f.change(func(s *group.Settings) { s.Silence = 10 * time.Second }) // so long it waits for the answer of a member that hangs
		line := newLine(f)
		b, c := f.daemon(nil), f.daemon(nil)
		a := f.daemon(func(c *node.Config, _ *certificate.Claims) { c.Listen, c.Conn = "", line }) // so it is no keeper
		await.Until(f, "all know each other", func() bool {
			return b.Status().Link.Others == 2 && len(b.Status().Peers) == 2 && len(c.Status().Peers) == 2
		})
		f.turn(b)
		f.turn(c)
		f.run(a)
		f.wait(b)
		f.wait(c)
		f.broken()
		line.cut.Store(true)
		await.Until(f, "one of them asks", func() bool {
			for i, n := range []*node.Node{b, c} {
				if s := n.Status().Resources[0].Slots[0].Search; s != nil && s.Stage == "asking" {
					socket = filepath.Join(f.made[i].StateDir, api.SocketName)
				}
			}
			return socket != ""
		})
		return socket
	},
	explain.Elsewhere: func(f *fault) (socket string) {
		a, b := f.pair(&socket)
		f.turn(b)
		f.turn(a) // and there the token stays, as nobody else may run for so long
		f.broken()
		f.wait(b)
		return socket
	},
	explain.NoNews: func(f *fault) (socket string) {
		a, b := f.pair(&socket)
		f.turn(b)
		f.run(a)
		await.Until(f, "the receipt", func() bool {
			h := b.Status().Resources[0].Slots[0].Holder
			return h != nil && h.How == api.Proved
		})
		require.NoError(f, b.Close(f.Context()))
		f.broken()
		f.wait(f.open(f.made[1]))
		return socket
	},
	explain.Queued: func(f *fault) (socket string) {
		a, b := f.daemon(nil), f.daemon(at(&socket))
		c := f.daemon(nil)
		await.Until(f, "all know each other", func() bool { return b.Status().Link.Others == 2 && c.Status().Link.Others == 2 })
		f.takeTurns(a, c, b)
		f.turn(c)
		f.turn(b)
		f.run(a)
		f.wait(c)
		f.broken()
		f.wait(b)
		return socket
	},
}

// line is a member's way to the others, which can be cut so that nobody notices but by silence.
type line struct {
	net.PacketConn
	cut atomic.Bool
}

func newLine(f *fault) *line {
	f.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(f, err)
	return &line{PacketConn: conn}
}

func (l *line) ReadFrom(p []byte) (n int, from net.Addr, err error) {
	for {
		if n, from, err = l.PacketConn.ReadFrom(p); err != nil || !l.cut.Load() {
			return n, from, err
		}
	}
}

func (l *line) WriteTo(p []byte, to net.Addr) (int, error) {
	if l.cut.Load() {
		return len(p), nil
	}
	return l.PacketConn.WriteTo(p, to)
}

// turn has a member run a program once.
func (f *fault) turn(n *node.Node) {
	if held, err := n.Acquire(f.Context(), api.AcquireRequest{Resource: gatetest.Resource}); assert.NoError(f, err) {
		held.Release(true, 0)
	}
}

// takeTurns has members run programs at the same time, until the last one knows how long turns take.
func (f *fault) takeTurns(nodes ...*node.Node) {
	var all sync.WaitGroup
	var known atomic.Bool
	for _, n := range nodes {
		all.Go(func() {
			for !known.Load() {
				f.turn(n)
			}
		})
	}
	await.Until(f, "turns", func() bool { return nodes[len(nodes)-1].Status().Resources[0].Slots[0].Eta != nil })
	known.Store(true)
	all.Wait()
}

// changes are the resources of faults that need another one.
var changes = map[api.Cause]func(*group.Resource){
	explain.GateUnreachable: func(r *group.Resource) {
		r.Gate = group.Gate{Member: ident.Member{1}, Address: "127.0.0.1:1"}.WithDefaults()
	},
	explain.Elsewhere: func(r *group.Resource) { r.Preset, r.MinInterval = wandering.Light, time.Hour },
	explain.NoNews: func(r *group.Resource) { // nobody makes a token while the test looks
		r.Preset, r.RegenerationMean = wandering.Paper, policy.MaxInterval
	},
	explain.WindowClosed: func(r *group.Resource) { // a day that is two days away for an hour at least
		local := time.Now().UTC()
		r.Windows = window.Windows{{Days: 1 << ((int(local.Weekday()) + 8) % 7), Begin: 0, End: 0, Name: "UTC"}}
	},
	explain.VotesMissing: func(r *group.Resource) { r.OnIsolated, r.MembersMax = policy.Majority, 5 },
	explain.NoPlace:      func(r *group.Resource) { r.Policy, r.MinInterval = catalog.Ring, 0 },
}
