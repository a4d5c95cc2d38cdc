//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
)

// fault is a group with real daemons in this process, in which a test breaks something.
type fault struct {
	*testing.T
	w     *gatetest.World
	group *group.Group
	nodes []*node.Node
	made  []node.Config // of the nodes
	since time.Time     // when it was broken
}

// programTime is longer than any test: a program that is to run does so until its test ends, however slow the machine is.
const programTime = time.Hour

func newFault(t *testing.T, change func(*group.Resource)) *fault {
	t.Helper()
	f := &fault{T: t}
	f.w = gatetest.New(t, 0, func(r *group.Resource) {
		r.Gate, r.MaxHold, r.Params = group.Gate{}, programTime, policy.Params{OperationTime: 50 * time.Millisecond, MembersMax: 3, MinInterval: time.Millisecond}
		if change != nil {
			change(r)
		}
		*r = r.WithDefaults()
	})
	f.change(func(s *group.Settings) { s.Silence, s.GossipInterval = group.MinSilence, 2*time.Second })
	return f
}

// change has the daemons from now on begin with a newer configuration.
func (f *fault) change(change func(*group.Settings)) {
	f.Helper()
	f.w.Group = f.w.Newer(change)
	f.group = f.w.Group
}

// daemon starts a member that knows those before it; the first one makes the token.
func (f *fault) daemon(change func(*node.Config, *certificate.Claims)) *node.Node {
	f.Helper()
	dir, err := os.MkdirTemp("", "wander") // shorter than t.TempDir's, for sockets
	require.NoError(f, err)
	f.Cleanup(func() { os.RemoveAll(dir) })
	name := string(rune('a' + len(f.nodes)))
	cfg := node.Config{StateDir: dir, Listen: "127.0.0.1:0", Found: len(f.nodes) == 0}
	if len(f.nodes) > 0 && f.nodes[0].Address() != "" {
		cfg.Bootstrap = []string{f.nodes[0].Address()}
	}
	key := gatetest.Key(f)
	p := f.w.Issue(name, key, func(c *certificate.Claims) {
		if change != nil {
			change(&cfg, c)
		}
	})
	cfg.Identity.Group, cfg.Key, cfg.Certificate = f.group, key, p.Certificate
	return f.open(cfg)
}

func (f *fault) open(cfg node.Config) *node.Node {
	f.Helper()
	n, err := node.Open(context.Background(), cfg)
	require.NoError(f, err)
	f.Cleanup(func() { f.crash(n) })
	f.nodes, f.made = append(f.nodes, n), append(f.made, cfg)
	go func() { // as the program does
		<-n.Done()
		f.crash(n)
	}()
	return n
}

// crash ends a daemon without a chance to pass on what it holds.
func (f *fault) crash(n *node.Node) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = n.Close(ctx)
}

// run has a program run at a member until the test ends.
func (f *fault) run(n *node.Node) { f.runs(n, api.AcquireRequest{}) }

// runs is run with what else a request asks for.
func (f *fault) runs(n *node.Node, r api.AcquireRequest) {
	f.Helper()
	r.Resource = gatetest.Resource
	held, err := n.Acquire(f.Context(), r)
	require.NoError(f, err)
	f.Cleanup(func() { held.Release(true, 0) })
}

// wait has a program wait at a member until the test ends, also if it is refused for a moment, as while the member is cut off.
func (f *fault) wait(n *node.Node) {
	go func() {
		for f.Context().Err() == nil && n.Err() == nil {
			if held, err := n.Acquire(f.Context(), api.AcquireRequest{Resource: gatetest.Resource}); err == nil {
				<-f.Context().Done()
				held.Release(true, 0)
			}
		}
	}()
	await.Until(f, "a program waits", func() bool {
		return n.Err() != nil || n.Status().Resources[0].Waiting > 0 || n.Status().Resources[0].Slots[0].Executing
	})
}

// meets waits until two members are connected.
func (f *fault) meets(n *node.Node) {
	f.Helper()
	await.Until(f, "members meet", func() bool { return len(n.Status().Peers) > 0 })
}

// pair starts two members that know each other. The status of the second one is to name the cause.
func (f *fault) pair(socket *string) (a, b *node.Node) {
	f.Helper()
	a = f.daemon(nil)
	b = f.daemon(at(socket))
	f.meets(b)
	return a, b
}

// broken is where the time begins after which the cause is named.
func (f *fault) broken() { f.since = time.Now() }

// at gives where a member's socket is.
func at(to *string) func(*node.Config, *certificate.Claims) {
	return func(c *node.Config, _ *certificate.Claims) { *to = filepath.Join(c.StateDir, api.SocketName) }
}

// firstLine is the first line of `wander status`.
func firstLine(socket string) (line string, code int) {
	code, out, _ := runCommand("", "status", "--socket", socket)
	line, _, _ = strings.Cut(out, "\n")
	return line, code
}

// memberFaults bring about what keeps a member from all resources. Each returns the socket of the member whose status names it.
var memberFaults = map[api.Cause]func(f *fault) (socket string){
	explain.NoDaemon: func(f *fault) string { f.broken(); return filepath.Join(f.TempDir(), "none", api.SocketName) },
	explain.DaemonSilent: func(f *fault) string {
		socket := runSocket(f.T)
		l, err := net.Listen("unix", socket)
		require.NoError(f, err)
		f.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				conn.Close()
			}
		}()
		f.broken()
		return socket
	},
	explain.Revoked: func(f *fault) (socket string) {
		a := f.daemon(at(&socket))
		f.daemon(func(c *node.Config, _ *certificate.Claims) {
			c.Extra.Revocations = [][]byte{f.w.Revoke(a.ID())}
			f.broken()
		})
		return socket
	},
	explain.Left: func(f *fault) (socket string) {
		f.daemon(at(&socket))
		code, _, errs := runCommand("", "leave", "--socket", socket)
		require.Zero(f, code, errs)
		f.broken()
		return socket
	},
	explain.Expired: func(f *fault) (socket string) {
		var ahead atomic.Int64
		f.daemon(func(c *node.Config, _ *certificate.Claims) {
			at(&socket)(c, nil)
			c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		})
		f.broken()
		ahead.Store(int64(2 * time.Hour))
		return socket
	},
	explain.Stopping: func(f *fault) (socket string) {
		a := f.daemon(at(&socket))
		f.meets(f.daemon(nil))
		f.run(a)
		f.broken()
		go a.Close(context.Background())
		return socket
	},
	explain.Recalling: func(f *fault) (socket string) {
		a, b := f.pair(&socket)
		f.run(b)
		f.crash(b)
		f.crash(a)
		f.broken()
		f.open(f.made[1])
		return socket
	},
	explain.NoAddresses: func(f *fault) (socket string) {
		other := f.w.Issue("other", gatetest.Key(f), nil)
		f.daemon(func(c *node.Config, _ *certificate.Claims) {
			c.Listen, c.Bootstrap, c.Found = "", []string{ports.Address(f)}, false
			c.Extra.Certificates = [][]byte{other.Certificate.Raw()}
			at(&socket)(c, nil)
		})
		f.broken()
		return socket
	},
	explain.UDPBlocked: func(f *fault) (socket string) {
		f.daemon(func(c *node.Config, _ *certificate.Claims) {
			for range 2 { // nobody reads there: as if a firewall dropped all
				hole, err := net.ListenPacket("udp", "127.0.0.1:0")
				require.NoError(f, err)
				f.Cleanup(func() { hole.Close() })
				c.Bootstrap = append(c.Bootstrap, hole.LocalAddr().String())
			}
			c.Found = false
			at(&socket)(c, nil)
			f.broken()
		})
		return socket
	},
	explain.Isolated: func(f *fault) (socket string) {
		a, b := f.pair(&socket)
		f.run(a)
		f.wait(b)
		f.broken()
		f.crash(a)
		return socket
	},
	explain.NoAnswer: func(f *fault) (socket string) {
		a, b := f.pair(&socket)
		f.run(a)
		f.wait(b)
		f.broken()
		f.crash(a)
		return socket
	},
	explain.Clock: func(f *fault) (socket string) {
		f.daemon(nil)
		b := f.daemon(func(c *node.Config, _ *certificate.Claims) {
			c.Now = func() time.Time { return time.Now().Add(30 * time.Minute) }
			at(&socket)(c, nil)
		})
		f.meets(b)
		f.broken()
		return socket
	},
	explain.RetiredKey: func(f *fault) (socket string) {
		a := f.daemon(at(&socket))
		f.group = f.w.Rotate()
		b := f.daemon(nil)
		await.Until(f, "the new key is known", func() bool { return a.Status().ConfigurationVersion == f.group.Config().Version() })
		f.group = f.w.Retire()
		f.broken()
		f.daemon(func(c *node.Config, _ *certificate.Claims) { c.Bootstrap = []string{b.Address()} }) // it refuses the other one
		return socket
	},
	explain.Behind: func(f *fault) (socket string) {
		f.daemon(at(&socket))
		f.meets(f.daemon(func(_ *node.Config, c *certificate.Claims) { c.ConfigVersion = 7 }))
		f.broken()
		return socket
	},
}

func allFaults() map[api.Cause]func(*fault) string {
	all := maps.Clone(memberFaults)
	maps.Copy(all, resourceFaults)
	maps.Copy(all, gateFaults)
	return all
}

// Each cause is brought about by a fault, or by the test that is named here.
func TestCauses_Each_Provoked(t *testing.T) {
	elsewhere := map[api.Cause]string{
		explain.DiskFull:      "TestStatus_DiskFull_LastWordShown",
		explain.JournalFailed: "TestStatus_JournalFails_LastWordShown",
		explain.Late:          "TestStatus_DaemonStoodStill_LateNamed",
		explain.OK:            "every other one",
		explain.NotConfigured: "TestWho_NoSuchResource_NotConfigured",
	}
	all := allFaults()
	for _, row := range slices.Concat(explain.OfMember, explain.OfResource) {
		if elsewhere[row.Cause] == "" {
			assert.Contains(t, all, row.Cause)
		}
	}
}

// A daemon says of a resource that the configuration lacks it: by name, as its status can list no such one.
func TestWho_NoSuchResource_NotConfigured(t *testing.T) {
	t.Parallel()
	var socket string
	newFault(t, nil).daemon(at(&socket))
	for _, command := range []string{"who", "eta"} {
		code, _, errs := runCommand("", command, "tap", "--socket", socket)
		assert.Equal(t, cli.ExitNoPermission, code)
		assert.Equal(t, "error: the group's configuration has no resource \"tap\" [not_configured]\nhint: did you mean \"tape\"?\n", errs)
	}
}

// TestStatus_EachCause_FirstLineNames breaks a running group in one way after the other: the first line of `wander
// status` ends with the cause. How long that takes is logged; how soon it has to be is the group's silence, and no clock of this test.
func TestStatus_EachCause_FirstLineNames(t *testing.T) {
	for cause, bring := range allFaults() {
		t.Run(string(cause), func(t *testing.T) {
			t.Parallel()
			f := newFault(t, changes[cause])
			socket := bring(f)
			line, code := "", 0
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("last: %s", line)
				}
			})
			await.Until(t, "the cause "+string(cause), func() bool {
				line, code = firstLine(socket)
				return strings.HasSuffix(line, "["+string(cause)+"]")
			})
			t.Logf("%-16s %5.2f s  %s", cause, time.Since(f.since).Seconds(), line)
			assert.Regexp(t, regexp.MustCompile(`^[a-z]+: .+ \[[a-z_]+\]$`), line)
			assert.Equal(t, explain.IsDown(cause, false), code == cli.ExitUnavailable, "exit code %d", code)
			checks := map[bool]int{explain.IsShut(cause): cli.ExitUnavailable, cause == explain.RunsLong: cli.ExitOK}
			if want, is := checks[true]; is {
				await.Until(t, "the same of status --check", func() bool { // another cause may come between the two for a moment
					code, line, _ := runCommand("", "status", "--check", "--socket", socket)
					return code == want && strings.Contains(line, "["+string(cause)+"]")
				})
			}
		})
	}
}

// A daemon that has ended for want of room has said so before, and status repeats it.
func TestStatus_DaemonEnded_LastWordShown(t *testing.T) {
	dir := t.TempDir()
	word, err := json.Marshal(node.LastWord{At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Cause: explain.DiskFull, Message: "journal: no space left\non device"})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ended.json"), word, 0o600))
	line, code := firstLine(filepath.Join(dir, api.SocketName))
	assert.Equal(t, "wander: the daemon ended at 2026-01-02T03:04:05Z: the disk of its journal is full: journal: no space left on device [disk_full]", line)
	assert.Equal(t, cli.ExitUnavailable, code)
	for _, command := range []string{"status", "who tape", "run tape -- true"} {
		name, rest, _ := strings.Cut(command, " ")
		_, _, errs := runCommand("", append([]string{name, "--socket", filepath.Join(dir, api.SocketName)}, strings.Fields(rest)...)...)
		assert.Contains(t, errs, "hint: wander help disk_full says what to do", command)
	}
}

// On a machine that is no member there is no daemon to start.
func TestStatus_NotJoined_HintNamesJoin(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "wander.toml")
	require.NoError(t, os.WriteFile(file, []byte("state_dir = 'state'\n[identity]\ncertificate = 'member.crt'\n"), 0o600))
	ask := func(command string) (code int, said string) {
		env := environ(map[string]string{configVariable: file})
		var b bytes.Buffer
		env.Out, env.Err, env.Now = &b, &b, time.Now
		code = run(env, strings.Fields(command))
		return code, b.String()
	}
	for _, command := range []string{"status", "who tape", "run tape -- true"} {
		code, errs := ask(command)
		assert.Equal(t, cli.ExitUnavailable, code, command)
		assert.Contains(t, errs, "hint: this machine has joined no group: there is no "+filepath.Join(dir, "member.crt")+", which `wander join` makes", command)
	}
	_, said := ask("doctor")
	assert.Contains(t, said, "→ this machine has joined no group")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "member.crt"), nil, 0o600))
	_, said = ask("status")
	assert.Contains(t, said, "hint: start it with `systemctl start wander` or `wander node`")
}
