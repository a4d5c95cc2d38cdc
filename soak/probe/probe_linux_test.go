package probe_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/soak/probe"
	"github.com/wandertoken/wander/soak/record"
)

// The protected program is this one, too.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "__probe" {
		os.Exit(m.Run())
	}
	o, err := probe.Parse(os.Args[2:])
	if err == nil {
		err = o.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func TestOrder_Args_Parsed(t *testing.T) {
	o := probe.Order{Observer: "a", Log: "b", Member: "c", Takes: time.Second, Stubborn: true}
	got, err := probe.Parse(o.Args())
	require.NoError(t, err)
	assert.Equal(t, o, got)
	for _, args := range [][]string{nil, {"a", "b", "c", "x", "true"}, {"a", "b", "c", "1s", "x"}} {
		_, err := probe.Parse(args)
		assert.ErrorIs(t, err, probe.ErrArguments)
	}
}

// scene is an observer with one program.
type scene struct {
	observer *probe.Observer
	log      string
	cmd      *exec.Cmd
}

func play(t *testing.T, takes time.Duration, stubborn bool) *scene {
	dir := t.TempDir()
	o := probe.Order{Observer: filepath.Join(dir, "socket"), Log: filepath.Join(dir, "log"), Member: "m1", Takes: takes, Stubborn: stubborn}
	observer, err := probe.Observe(o.Observer, o.Log)
	require.NoError(t, err)
	s := &scene{observer: observer, log: o.Log}
	self, err := os.Executable()
	require.NoError(t, err)
	s.cmd = exec.Command(self, append([]string{"__probe"}, o.Args()...)...)
	s.cmd.Env = append(os.Environ(), "WANDER_RESOURCE=tape", "WANDER_TOKEN=1a2b", "WANDER_HOP=3", "WANDER_FENCE=3",
		"WANDER_DEADLINE="+time.Now().Add(time.Hour).Format(time.RFC3339Nano))
	s.cmd.Stderr = os.Stderr
	require.NoError(t, s.cmd.Start())
	return s
}

// records are what the log has.
func (s *scene) records(t *testing.T) (list []record.Record, kinds map[record.Kind]int) {
	file, err := os.Open(s.log)
	require.NoError(t, err)
	defer file.Close()
	list, err = record.Read(file)
	require.NoError(t, err)
	kinds = make(map[record.Kind]int)
	for _, r := range list {
		kinds[r.Kind]++
	}
	return list, kinds
}

func (s *scene) awaitAlive(t *testing.T) {
	await.Until(t, "the program runs", func() bool {
		_, kinds := s.records(t)
		return kinds[record.Alive] > 0
	})
}

func TestProgram_EndsByItself_AllRecorded(t *testing.T) {
	before := boottime.Now()
	s := play(t, 500*time.Millisecond, false) // long enough for it to say that it lives, on a busy machine, too
	require.NoError(t, s.cmd.Wait())
	await.Until(t, "its end is observed", func() bool { // an observer that is closed sees no program that it has not accepted
		_, kinds := s.records(t)
		return kinds[record.Gone] > 0
	})
	require.NoError(t, s.observer.Close())
	list, kinds := s.records(t)
	assert.Equal(t, 1, kinds[record.Start])
	assert.Positive(t, kinds[record.Alive])
	assert.Equal(t, 1, kinds[record.End])
	assert.Equal(t, 1, kinds[record.Gone])
	last := before.Add(-10 * time.Millisecond) // the unit of the birth
	assert.GreaterOrEqual(t, list[0].Born, last)
	for _, r := range list {
		assert.Equal(t, "tape", r.Resource)
		assert.Equal(t, s.cmd.Process.Pid, r.PID)
		assert.GreaterOrEqual(t, r.At, last, "in order")
		last = r.At
	}
}

func TestProgram_Killed_EndObserved(t *testing.T) {
	s := play(t, time.Hour, false)
	s.awaitAlive(t)
	await.Until(t, "it is observed", func() bool { return s.observer.Running("tape") == "m1" })
	assert.Empty(t, s.observer.Running("other"))
	require.NoError(t, s.cmd.Process.Kill())
	_ = s.cmd.Wait()
	require.NoError(t, s.observer.Close())
	_, kinds := s.records(t)
	assert.Zero(t, kinds[record.End])
	assert.Equal(t, 1, kinds[record.Gone])
	assert.Empty(t, s.observer.Running("tape"))
}

func TestProgram_Stubborn_IgnoresTERM(t *testing.T) {
	s := play(t, time.Hour, true)
	s.awaitAlive(t)
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	_, before := s.records(t)
	await.Until(t, "it still runs", func() bool {
		_, kinds := s.records(t)
		return kinds[record.Alive] > before[record.Alive]+2
	})
	require.NoError(t, s.cmd.Process.Kill())
	_ = s.cmd.Wait()
	require.NoError(t, s.observer.Close())
}
