package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/ident"
)

// book is a resource that writes down what each visitor says first, and when that one is gone.
type book struct {
	listen net.Listener
	mu     sync.Mutex
	lines  []string
}

func newBook(t *testing.T) *book {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := &book{listen: l}
	visited(t, l, b.visit)
	return b
}

func (b *book) visit(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	line, err := in.ReadString('\n')
	if err != nil {
		return
	}
	name := strings.TrimSpace(line)
	b.write(name + " comes")
	_, _ = fmt.Fprintln(c, "written")
	_, _ = in.ReadString(0)
	b.write(name + " goes")
}

func (b *book) write(line string) { b.mu.Lock(); defer b.mu.Unlock(); b.lines = append(b.lines, line) }

func (b *book) read() []string { b.mu.Lock(); defer b.mu.Unlock(); return slices.Clone(b.lines) }

// TestRunAcrossReboot_Gate_NextOneGetsInAfterIt: a gate, and a group that replaces a silent holder's token at once. The holder loses its session while its
// program's stream is open: as its daemon is killed, by the machine's restart, or as the gate is, before that. The gate closes the session, the other member waits, and gets in after the
// release. The resource itself writes down who came and went.
func TestRunAcrossReboot_Gate_NextOneGetsInAfterIt(t *testing.T) {
	for _, fault := range []string{"daemon dies", "gate dies", "daemon dies after the command"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			c := newCrew(t)
			resource := newBook(t)
			address := ports.Address(t)
			text := c.joinGate(acrossGateGroup, address)
			var id ident.Member
			require.NoError(t, id.UnmarshalText([]byte(text)))
			c.settledGate("gate", id)
			up := func() *exec.Cmd {
				return c.start(new(bytes.Buffer), "gate", "--dir", "gate", "--resource", "db", "--target", resource.listen.Addr().String(), "--listen", address)
			}
			gate := up()
			for _, name := range []string{"m1", "m2"} {
				m := &crewMember{name: name, listen: ports.Address(t), client: api.Dial(filepath.Join(c.dir, name, "state", api.SocketName))}
				c.wander("join", c.wander("ca", "invite", "--dir", "ca", "--name", name, "--address", c.service), "--dir", name, "--listen", m.listen)
				c.members = append(c.members, m)
				c.run(m)
			}
			a, b := c.members[0], c.members[1]
			c.agree("m1=valid m2=valid", a, b)
			self, err := os.Executable()
			require.NoError(t, err)
			connect := ` | ` + programVariable + `=1 ` + self + ` gate connect db`
			visit := func(name string) string { return `echo "` + name + ` $WANDER_GATE_FENCE"` + connect }
			socket := func(m *crewMember) string { return filepath.Join(c.dir, m.name, "state", api.SocketName) }

			reboots := []string{"run", "db", "--across-reboot", "--socket", socket(a), "-c"}
			if fault == "daemon dies after the command" {
				out, err := c.program(append(reboots, visit("a"))...).CombinedOutput()
				require.NoError(t, err, "%s", out)
				assert.Contains(t, string(out), fmt.Sprintf("session %d at the gate ends when the machine goes down", c.fenced(resource, 1, "a")))
				assert.True(t, c.gateShows("OPEN"), "until then")
			} else {
				c.start(new(bytes.Buffer), append(reboots, `(echo "a $WANDER_GATE_FENCE"; sleep 600)`+connect)...)
			}
			first := c.fenced(resource, 1, "a")
			if fault == "gate dies" {
				require.NoError(t, gate.Process.Kill())
				_ = gate.Wait()
				up()
			} else {
				require.NoError(t, a.process.Process.Kill())
				_ = a.process.Wait()
			}
			await.Until(t, "the gate has closed the session", func() bool { return c.gateShows("IDLE") })
			want := []string{fmt.Sprintf("a %d comes", first), fmt.Sprintf("a %d goes", first)}
			await.Until(t, "a is gone", func() bool { return len(resource.read()) == 2 })

			other := c.program("run", "db", "--wait", "5m", "--socket", socket(b), "-c", visit("b"))
			require.NoError(t, other.Start())
			t.Cleanup(func() { _ = other.Process.Kill() })
			await.Until(t, "the cause holder_away", func() bool { return c.resource(b, "db").Cause == explain.HolderAway })
			time.Sleep(away) // that is the fault
			assert.Equal(t, want, resource.read(), "b got in while a was away")
			if fault != "gate dies" {
				next := &crewMember{name: a.name, listen: a.listen, client: a.client}
				c.run(next)
				a = next
				c.answers(a)
			}
			assert.True(t, c.resource(a, "db").Slots[0].Executing, "a holds it yet")
			await.Until(t, "status says that it has no session", func() bool {
				return strings.Contains(c.resource(a, "db").Sentence, "without a session at the gate")
			})
			assert.Equal(t, want, resource.read(), "b got in while a holds it")

			assert.Equal(t, "db is released", c.wander("release", "db", "--socket", socket(a)))
			require.NoError(t, other.Wait())
			second := c.fenced(resource, 3, "b")
			assert.Greater(t, second, first)
			await.Until(t, "b is gone", func() bool { return len(resource.read()) == 4 })
			c.wander("run", "db", "--wait", "5m", "--socket", socket(a), "-c", visit("a"))
			assert.Greater(t, c.fenced(resource, 5, "a"), second)
			await.Until(t, "a is gone again", func() bool { return len(resource.read()) == 6 })
			assert.Equal(t, fmt.Sprintf("b %d goes", second), resource.read()[3])
		})
	}
}

// gateShows reports whether wander gate status says something.
func (c *crew) gateShows(what string) bool {
	out, _ := c.program("gate", "status", "--dir", "gate").Output() // none while it starts
	return strings.Contains(string(out), what)
}

// fenced waits for a line of the resource, and returns the number of the session in it.
func (c *crew) fenced(b *book, line int, name string) (session uint64) {
	c.t.Helper()
	await.Until(c.t, name+" comes", func() bool { return len(b.read()) >= line })
	_, err := fmt.Sscanf(b.read()[line-1], name+" %d comes", &session)
	require.NoError(c.t, err, "%v", b.read())
	return session
}

const acrossGateGroup = `
gossip_interval = "2s"

[[resource]]
name             = "db"
operation_time   = "1s"
members_max      = 5
min_interval     = "50ms"
max_hold         = "5m"
on_silent_holder = "replace"
settle           = "50ms"
gate_keep        = "100ms"
`
