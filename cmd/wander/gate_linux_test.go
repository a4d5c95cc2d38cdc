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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/ports"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
)

// post is a gate that runs as a process, whose hooks write down what they do.
type post struct {
	*crew
	w       *gatetest.World
	listen  string
	target  net.Listener
	process *exec.Cmd
	output  *bytes.Buffer
}

// The hooks of the tests: each writes a line when it begins and one when it ends, and waits at the step that the file "hold" names. The open hook
// leaves a process behind if "leave" is there.
const (
	openHook  = `echo "open $WANDER_GATE_FENCE" >>hooks; if [ "$(cat hold 2>/dev/null)" = open ]; then touch held; sleep 60; echo "late open" >>hooks; fi; echo "opened $WANDER_GATE_FENCE" >>hooks`
	closeHook = `echo "close $WANDER_GATE_FENCE" >>hooks; if [ "$(cat hold 2>/dev/null)" = close ]; then touch held; sleep 60; echo "late close" >>hooks; fi; echo "closed $WANDER_GATE_FENCE" >>hooks`
)

func newPost(t *testing.T, change func(*group.Resource)) *post {
	t.Helper()
	dir, err := os.MkdirTemp("", "wander") // shorter than t.TempDir's, for sockets
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &post{crew: &crew{t: t, dir: dir}, listen: ports.Address(t)}
	p.w = gatetest.New(t, 3, change)
	p.w.Write(filepath.Join(dir, "g"))
	p.target, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() {
		for {
			c, err := p.target.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(c, c); c.Close() }()
		}
	}()
	t.Cleanup(func() { p.target.Close() })
	return p
}

// up starts the gate, before the post's own target if the arguments name none.
func (p *post) up(args ...string) {
	p.t.Helper()
	if !slices.Contains(args, "--target") {
		args = append(args, "--target", p.target.Addr().String())
	}
	p.output = new(bytes.Buffer)
	p.process = p.start(p.output, append([]string{"gate", "--dir", "g", "--resource", gatetest.Resource, "--listen", p.listen}, args...)...)
}

func (p *post) hooked() {
	p.t.Helper()
	p.up("--floor", "100", "--open", openHook, "--close", closeHook)
}

// kill is kill -9.
func (p *post) kill() {
	p.t.Helper()
	require.NoError(p.t, p.process.Process.Kill())
	_ = p.process.Wait()
}

func (p *post) hold(step string) {
	p.t.Helper()
	if step == "" {
		os.Remove(filepath.Join(p.dir, "hold"))
		return
	}
	os.Remove(filepath.Join(p.dir, "held"))
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, "hold"), []byte(step), 0o600))
}

func (p *post) held() {
	p.t.Helper()
	await.Until(p.t, "the hook waits", func() bool { _, err := os.Stat(filepath.Join(p.dir, "held")); return err == nil })
}

// wrote is what the hooks have written.
func (p *post) wrote() string {
	text, _ := os.ReadFile(filepath.Join(p.dir, "hooks"))
	return string(text)
}

// dial connects a member, as often as it takes: the gate may be about to start.
func (p *post) dial(who int) *client.Conn {
	p.t.Helper()
	var c *client.Conn
	await.Until(p.t, "the gate answers", func() (ok bool) {
		var err error
		c, err = client.Dial(context.Background(), p.w.Client(p.listen, p.w.Members[who]))
		return err == nil
	})
	p.t.Cleanup(func() { c.Close() })
	return c
}

// settled writes the journal of a gate that has served for a while, with nothing open: the first start of one is shut for max_hold.
func (p *post) settled() {
	p.t.Helper()
	gatetest.WriteJournal(p.t, filepath.Join(p.dir, "g", "gate", "journal"), p.w.Group.ID(), p.w.Gate.ID(), 100, 1)
}

// TestGate_KilledAtEachStep_NextHolderGetsIn is `kill -9` of a gate at each step of a session, and at once its start: what was open is closed before
// anything opens, no hook of the killed one goes on, and the next holder gets in.
func TestGate_KilledAtEachStep_NextHolderGetsIn(t *testing.T) {
	t.Parallel()
	p := newPost(t, func(r *group.Resource) { r.Gate.OpenTimeout, r.MaxHold = time.Minute, time.Minute })
	p.settled()
	p.hooked()
	fence := uint64(100 + core.MaxAhead) // each start passes over numbers
	for _, step := range []string{"open", "session", "close", "settled"} {
		p.hold(step)
		held := p.w.Mint(0)
		first := p.w.SignIn(p.dial(0), held, time.Minute)
		fence++
		switch step {
		case "open":
			p.held()
		case "session":
			gatetest.Opened(t, first)
			stream, err := first.Connect(context.Background())
			require.NoError(t, err)
			_, err = stream.Write([]byte("x"))
			require.NoError(t, err)
			_, err = stream.Read(make([]byte, 1))
			require.NoError(t, err)
		case "close":
			gatetest.Opened(t, first)
			go first.SignOut(context.Background())
			p.held()
		case "settled":
			gatetest.Opened(t, first)
			_, err := first.SignOut(context.Background())
			require.NoError(t, err)
		}
		p.kill()
		p.hold("")
		began := time.Now()
		p.up("--open", openHook, "--close", closeHook)
		next := p.w.SignIn(p.dial(1), p.w.Passed(held, 0, 1), time.Minute)
		open := gatetest.Opened(t, next)
		took := time.Since(began)
		t.Logf("killed at %s: the next holder is in %v after the start", step, took)
		before := fence
		fence += core.MaxAhead + 1
		assert.Equal(t, fence, open.Session, "%s: numbers go on", step)
		closed := strings.Index(p.wrote(), fmt.Sprintf("closed %d\n", before))
		opened := strings.Index(p.wrote(), fmt.Sprintf("open %d\n", fence))
		assert.Greater(t, closed, -1, "%s: what was open was closed\n%s", step, p.wrote())
		assert.Less(t, closed, opened, "%s: before the next one opened\n%s", step, p.wrote())
		_, err := next.SignOut(context.Background())
		require.NoError(t, err)
	}
	assert.NotContains(t, p.wrote(), "late", "no hook of a killed gate goes on")
}

// A hook that hangs makes the slot stuck, is killed with all that it has started, and wander gate clear runs it again.
func TestGate_CloseHookHangs_StuckUntilCleared(t *testing.T) {
	t.Parallel()
	p := newPost(t, func(r *group.Resource) {
		r.Gate.CloseTimeout = 5 * time.Second // a shell that does not hang ends before that also on a busy machine
		r.Gate.OpenTimeout, r.MaxHold = time.Minute, time.Minute
	})
	p.settled()
	p.hooked()
	p.hold("close")
	first := p.w.SignIn(p.dial(0), p.w.Mint(0), time.Minute)
	gatetest.Opened(t, first)
	closed, err := first.SignOut(context.Background())
	require.NoError(t, err)
	assert.False(t, closed.Confirmed)
	out := p.wander("gate", "status", "--dir", "g")
	assert.Contains(t, out, "STUCK")
	assert.Contains(t, out, "alarm: stuck")
	waiting := p.w.SignIn(p.dial(1), p.w.Mint(1), time.Minute)
	assert.True(t, gatetest.Said[core.BusyAnswer](t, waiting).Stuck)
	p.hold("")
	assert.Equal(t, "slot 0: the close hook runs again", p.wander("gate", "clear", "0", "--dir", "g"))
	gatetest.Opened(t, p.w.SignIn(p.dial(1), p.w.Mint(1), time.Minute))
	assert.NotContains(t, p.wrote(), "late")
	failed := p.program("gate", "clear", "0", "--dir", "g")
	text, err := failed.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, cli.ExitFailure, failed.ProcessState.ExitCode())
	assert.Contains(t, string(text), driver.ErrNotStuck.Error())
	require.NoError(t, p.process.Process.Signal(os.Interrupt))
	require.NoError(t, p.process.Wait(), p.output)
	assert.Contains(t, p.wrote(), fmt.Sprint("closed ", 102+core.MaxAhead), "a gate that stops closes its session")
}
