package supervise

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/protocol/clock"
)

// The things that a command does, beside not ending by itself. Each line of output but
// "ready" would be a process that was started after the command's end.
var stubborn = map[string]string{
	"plain":       `sleep 1000 & echo ready; wait; sleep 1000`,
	"setsid":      `setsid sleep 1000 & echo ready; wait; sleep 1000`,
	"double fork": `(setsid sh -c '(sleep 1000 &)' &); echo ready; sleep 1000`,
	"deaf": `trap '' TERM HUP; setsid sh -c '(setsid sleep 1000 &); while :; do sleep 1000; done' &
		echo ready; while :; do wait; sleep 1000; done`,
}

// Who has to enforce the deadline.
const (
	theRunner = iota
	upperGuard
	lowerGuard
	enforcers
)

// strike is what befalls the enforcers, in this order.
type strike struct {
	name   string
	killed []int
	frozen []int
	// code is the runner's when it has been woken; -1 if it was killed.
	code int
	// early says that the command is stopped at once, and not at its deadline.
	early bool
}

var strikes = []strike{
	{name: "none", code: codeDeadline},
	{name: "runner killed", killed: []int{theRunner}, code: -1, early: true},
	{name: "upper guard killed", killed: []int{upperGuard}, code: codeDeadline},
	{name: "lower guard killed", killed: []int{lowerGuard}, code: codeUnguarded, early: true},
	{name: "runner, upper guard killed", killed: []int{theRunner, upperGuard}, code: -1, early: true},
	{name: "upper guard, runner killed", killed: []int{upperGuard, theRunner}, code: -1, early: true},
	{name: "runner, lower guard killed", killed: []int{theRunner, lowerGuard}, code: -1, early: true},
	{name: "lower guard, runner killed", killed: []int{lowerGuard, theRunner}, code: -1, early: true},
	{name: "lower, upper guard killed", killed: []int{lowerGuard, upperGuard}, code: codeUnguarded, early: true},
	{name: "upper, lower guard killed", killed: []int{upperGuard, lowerGuard}, code: codeUnguarded, early: true},
	{name: "runner frozen", frozen: []int{theRunner}, code: codeDeadline},
	{name: "upper guard frozen", frozen: []int{upperGuard}, code: codeDeadline},
	{name: "lower guard frozen", frozen: []int{lowerGuard}, code: codeDeadline},
	{name: "runner, upper guard frozen", frozen: []int{theRunner, upperGuard}, code: codeDeadline},
	{name: "runner, lower guard frozen", frozen: []int{theRunner, lowerGuard}, code: codeDeadline},
	{name: "guards frozen", frozen: []int{upperGuard, lowerGuard}, code: codeDeadline},
	{name: "runner frozen, upper guard killed", frozen: []int{theRunner}, killed: []int{upperGuard}, code: codeDeadline},
	{name: "lower guard frozen, runner killed", frozen: []int{lowerGuard}, killed: []int{theRunner}, code: -1, early: true},
	{name: "upper guard frozen, runner killed", frozen: []int{upperGuard}, killed: []int{theRunner}, code: -1, early: true},
	{name: "lower guard frozen, upper guard killed", frozen: []int{lowerGuard}, killed: []int{upperGuard}, code: codeDeadline},
}

// TestRun_AnyTwoEnforcersLost_NothingOutlivesDeadline: whoever is killed or
// frozen, in whatever order, and whatever the command does, everything that it
// has started ends, and the runner, if it lives, says why. That is seen while who
// was frozen is so still.
func TestRun_AnyTwoEnforcersLost_NothingOutlivesDeadline(t *testing.T) {
	var cases sync.WaitGroup
	room := make(chan struct{}, 8) // they mostly wait
	run := func(c strike, what string, cgroup bool) {
		cases.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			t.Run(fmt.Sprintf("%s/%s/cgroup=%v", c.name, what, cgroup), func(t *testing.T) {
				c.befall(t, stubborn[what], cgroup)
			})
		})
	}
	for i, c := range strikes {
		run(c, "deaf", false)
		run(c, "double fork", false)
		switch i % 3 { // each costs four processes
		case 0:
			run(c, "plain", false)
		case 1:
			run(c, "setsid", false)
		default:
			run(c, "deaf", true)
		}
	}
	cases.Wait()
}

// withoutCgroups makes this a system without cgroups, for the guards that this
// process starts too.
func withoutCgroups() {
	mayDivide = func(string) bool { return false }
	levelEnviron = append(levelEnviron, cgroupVariable+"=false")
}

func (c strike) befall(t *testing.T, text string, cgroup bool) {
	hold := time.Second / 2
	if c.early {
		hold = time.Hour
	}
	for !c.strikeBefore(t, text, cgroup, hold) { // a busy machine let the deadline pass first
		hold *= 2
	}
}

// strikeBefore reports whether the command ran when the strike came.
func (c strike) strikeBefore(t *testing.T, text string, cgroup bool, hold time.Duration) bool {
	s := newFIFOScript(t, text)
	runner := startRunner(t, s, "50ms", holdVariable+"="+hold.String(), fmt.Sprint(cgroupVariable, "=", cgroup))
	ended := make(chan *os.ProcessState, 1)
	go func() {
		state, _ := runner.Wait()
		s.write.Close() // before the command came to open its end
		ended <- state
	}()
	defer runner.Kill()
	if !s.lines.Scan() {
		return false
	}
	s.write.Close()
	all := enforcersOf(runner.Pid)
	if all == nil {
		return false
	}
	for _, e := range c.frozen {
		_ = syscall.Kill(all[e].PID, syscall.SIGSTOP)
	}
	for _, e := range c.killed {
		_ = syscall.Kill(all[e].PID, syscall.SIGKILL)
	}
	s.expectAllDead(t)
	for _, e := range c.frozen {
		_ = syscall.Kill(all[e].PID, syscall.SIGCONT)
	}
	code := await.Next(t, "the runner's end", ended).ExitCode()
	if len(c.killed) > 1 && c.killed[0] == lowerGuard && code == codeUnguarded {
		code = c.code // the runner had ended before it could be killed
	}
	assert.Equal(t, c.code, code)
	for _, g := range all[1:] {
		await.Until(t, "no guard is left", func() bool {
			now := statOf(strconv.Itoa(g.PID))
			return now.start != g.Start || now.ended()
		})
	}
	return true
}

// newFIFOScript is a script whose output only the command's tree holds, not the
// runner, which may be frozen.
func newFIFOScript(t *testing.T, text string) *script {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, unix.Mkfifo(path, 0o600))
	s := newScript(t, `exec >'`+path+`'; `+text)
	read, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	require.NoError(t, err)
	t.Cleanup(func() { read.Close() })
	s.read, s.lines = read, bufio.NewScanner(read)
	s.write, err = os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	return s
}

// enforcersOf are a runner and its guards, or nil when one has ended already.
func enforcersOf(runner int) []identity {
	all := []identity{identityOf(runner)}
	for len(all) < enforcers {
		above := all[len(all)-1]
		for _, m := range (&tree{roots: all[len(all)-1:]}).members(false) {
			if isGuard(m.PID) && parentOf(m.PID) == above.PID {
				all = append(all, m.identity)
				break
			}
		}
		if all[len(all)-1] == above {
			return nil
		}
	}
	return all
}

// TestSignal_NumberUsedAgain_HitsNobody: a process that has the number of one that
// is gone is a stranger.
func TestSignal_NumberUsedAgain_HitsNobody(t *testing.T) {
	s := newScript(t, `echo ready; read line; exit 4`)
	in, feed, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	s.streams.Stdin = in
	g := s.guard(t)
	done := s.runUnder(g, Options{Deadline: clock.Never})
	s.expect(t, "ready")
	gone := g.tree.leader
	gone.Start--
	member{identity: gone, group: gone.PID}.signal(unix.SIGKILL)
	assert.ErrorIs(t, signalGroup(gone, -1, unix.SIGKILL), unix.ESRCH)
	require.NoError(t, feed.Close())
	assert.Equal(t, Result{Exit: 4}, await.Next(t, "the end of it", done).result)
}

// TestStat_FirstThreadEnded_Runs: the system shows such a process as a zombie.
func TestStat_FirstThreadEnded_Runs(t *testing.T) {
	assert.True(t, stat{state: 'Z', threads: 1}.ended())
	assert.False(t, stat{state: 'Z', threads: 2}.ended())
	assert.False(t, stat{state: 'T', threads: 1}.ended())
}
