//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/wander/internal/supervise"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/node/store/faultfs"
	"github.com/wandertoken/wander/protocol/ident"
)

// runHang bounds tests that would otherwise wait without end. Nothing is measured
// against it.
const runHang = 3 * time.Minute

const (
	// programVariable makes the test program the program itself.
	programVariable = "WANDER_TEST_PROGRAM"
	// unreadyVariable makes it one whose guards are never ready in time.
	unreadyVariable = "WANDER_TEST_UNREADY"
	// diskVariable makes it one whose gate has a heldDisk.
	diskVariable = "WANDER_TEST_DISK"
)

func init() {
	supervise.RunGuard()
	if os.Getenv(unreadyVariable) != "" {
		os.Exit(run(&environment{Environment: cli.Process(), guardWait: -time.Nanosecond}, os.Args[1:]))
	}
	if os.Getenv(diskVariable) != "" {
		os.Exit(run(&environment{Environment: cli.Process(), gateDisk: heldDisk{faultfs.Withhold(store.OS())}}, os.Args[1:]))
	}
	if os.Getenv(programVariable) != "" {
		os.Unsetenv(programVariable)
		main()
	}
	// Or with the race detector each program would wait for a second before its end.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
}

// heldDisk is a disk that waits where the file "hold" in the folder of the process says: "disk" before what was written is durable, which is then lost
// with the process, and "synced" behind that. It makes the file "held" when it waits.
type heldDisk struct{ store.FS }

func (d heldDisk) Create(name string) (store.File, error) { return heldFileOf(d.FS.Create(name)) }
func (d heldDisk) Open(name string) (store.File, error)   { return heldFileOf(d.FS.Open(name)) }

type heldFile struct{ store.File }

func heldFileOf(f store.File, err error) (store.File, error) {
	if err != nil {
		return nil, err
	}
	return heldFile{f}, nil
}

func (f heldFile) Sync() error {
	holdDisk("disk")
	defer holdDisk("synced")
	return f.File.Sync()
}

// holdDisk waits as long as the file says so.
func holdDisk(step string) {
	for {
		if text, _ := os.ReadFile("hold"); string(text) != step {
			return
		}
		_ = os.WriteFile("held", nil, 0o600)
		time.Sleep(time.Millisecond)
	}
}

// fakeDaemon is a daemon whose answers the test decides.
type fakeDaemon struct {
	answer   func(context.Context, api.AcquireRequest) (api.HeldGrant, error)
	requests chan api.AcquireRequest
	releases chan api.ReleaseRequest
	checks   []api.Check
	tunnels  func(ident.Grant) (api.Tunnel, error) // nil: there is no session
}

func newFakeDaemon(answer func(context.Context, api.AcquireRequest) (api.HeldGrant, error)) *fakeDaemon {
	return &fakeDaemon{
		answer: answer, requests: make(chan api.AcquireRequest, 16), releases: make(chan api.ReleaseRequest, 16),
	}
}

func (f *fakeDaemon) Acquire(ctx context.Context, r api.AcquireRequest) (api.HeldGrant, error) {
	f.requests <- r
	return f.answer(ctx, r)
}

func (f *fakeDaemon) Release(r api.ReleaseRequest) error {
	f.releases <- r
	return nil
}

func (f *fakeDaemon) Back(string) (int, error) { return 0, nil }

func (f *fakeDaemon) Leave(context.Context) error { return nil }

func (f *fakeDaemon) Renew(context.Context) (api.Renewal, error) { return api.Renewal{}, nil }

func (f *fakeDaemon) Status() api.Status {
	return api.Status{Name: "alpha", Resources: []api.ResourceStatus{{Name: "ftp", Why: api.Why{Cause: explain.Next, Sentence: "token with beta, you are next"}}}}
}

func (f *fakeDaemon) Waiting(string) api.Waiting { return api.Waiting{} }

// Checkup finds one thing to mend.
func (f *fakeDaemon) Checkup(context.Context) []api.Check { return f.checks }

func (f *fakeDaemon) Probe(_ context.Context, r api.ProbeRequest) ([]api.Check, error) {
	return []api.Check{{Name: "reach", Result: api.Fine, Finding: r.Peer + " answers"}}, nil
}

func (f *fakeDaemon) LastHour() []api.ResourceHistory { return nil }
func (f *fakeDaemon) Members() []api.MemberInfo       { return nil }

// listen serves the daemon; the function it returns stops that.
func (f *fakeDaemon) listen(t *testing.T, socket string) (stop func()) {
	t.Helper()
	l, err := api.Listen(socket, api.Access{})
	require.NoError(t, err)
	server := api.NewServer(f, slog.New(slog.DiscardHandler))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), runHang)
		defer cancel()
		assert.NoError(t, server.Shutdown(ctx))
		assert.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	return stop
}

type fakeGrant struct {
	grant api.Grant
	lost  chan api.LostReason
}

func (l *fakeGrant) Grant() api.Grant            { return l.grant }
func (l *fakeGrant) Lost() <-chan api.LostReason { return l.lost }
func (l *fakeGrant) Release(bool, int)           {}

func testGrant(hold time.Duration) *fakeGrant {
	return &fakeGrant{lost: make(chan api.LostReason, 1), grant: api.Grant{
		ID: ident.Grant{1}, Resource: "ftp", Member: ident.Member{2}, Name: "alpha", Token: ident.Token{3},
		Hop: 41, Fence: 41, Deadline: time.Now().Add(hold).Round(0),
		DeadlineBoot: boottime.Now().Add(hold), BootID: boottime.ID(),
	}}
}

func granting(l api.HeldGrant) *fakeDaemon {
	return newFakeDaemon(func(context.Context, api.AcquireRequest) (api.HeldGrant, error) { return l, nil })
}

// grantingFor grants from the demand on.
func grantingFor(hold time.Duration) *fakeDaemon {
	return newFakeDaemon(func(context.Context, api.AcquireRequest) (api.HeldGrant, error) { return testGrant(hold), nil })
}

func refusing(err error) *fakeDaemon {
	return newFakeDaemon(func(context.Context, api.AcquireRequest) (api.HeldGrant, error) { return nil, err })
}

// hesitating neither grants nor refuses.
func hesitating() *fakeDaemon {
	return newFakeDaemon(func(ctx context.Context, _ api.AcquireRequest) (api.HeldGrant, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
}

func runSocket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wander") // shorter than t.TempDir's
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, api.SocketName)
}

// program is `wander run` as a process of its own.
type program struct {
	*exec.Cmd
	stdin  *os.File // what the command reads
	stdout *bufio.Scanner
	pipe   *os.File
	stderr safeBuffer
	report string // the file
}

// safeBuffer may be read while it is written.
type safeBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// heed lets programs that are started from now on end at a signal, even if these
// tests run where it is ignored, as under nohup.
func heed(t *testing.T, s os.Signal) {
	t.Helper()
	c := make(chan os.Signal, 1)
	signal.Notify(c, s) // who has a handler leaves its children the default
	t.Cleanup(func() { signal.Stop(c) })
}

func startRun(t *testing.T, socket string, args ...string) *program {
	t.Helper()
	return startProgram(t, programVariable, socket, args...)
}

// startProgram starts the test program as what the variable makes of it.
func startProgram(t *testing.T, variable, socket string, args ...string) *program {
	t.Helper()
	return startCommand(t, variable, socket, "run", args...)
}

// startCommand is startProgram with another command that reports.
func startCommand(t *testing.T, variable, socket, command string, args ...string) *program {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	in, feed, err := os.Pipe()
	require.NoError(t, err)
	out, sink, err := os.Pipe()
	require.NoError(t, err)
	p := &program{stdin: feed, stdout: bufio.NewScanner(out), pipe: out, report: filepath.Join(t.TempDir(), "report")}
	p.Cmd = exec.Command(self, append([]string{command, "--socket", socket, "--report", p.report}, args...)...)
	p.Env = append(os.Environ(), variable+"=1", "WANDER_FENCE=outer", "WANDER_DEADLINE=outer", "WANDER_RETURN_S=outer", "WANDER_RETURN_P95_S=outer")
	p.Stdin, p.Stdout, p.Stderr = in, sink, &p.stderr
	heed(t, syscall.SIGHUP)
	require.NoError(t, p.Start())
	in.Close()
	sink.Close()
	t.Cleanup(func() { feed.Close(); out.Close(); p.Process.Kill() })
	return p
}

func (p *program) expect(t *testing.T, line string) {
	t.Helper()
	require.NoError(t, p.pipe.SetReadDeadline(time.Now().Add(runHang)))
	require.True(t, p.stdout.Scan(), "%q did not come: %v", line, p.stdout.Err())
	require.Equal(t, line, p.stdout.Text())
}

func (p *program) expectAllDead(t *testing.T) {
	t.Helper()
	require.NoError(t, p.pipe.SetReadDeadline(time.Now().Add(runHang)))
	for p.stdout.Scan() {
		assert.Fail(t, "unexpected output", p.stdout.Text())
	}
	require.NoError(t, p.stdout.Err(), "a process still holds the pipe")
}

// end waits for the exit code.
func (p *program) end(t *testing.T) int {
	t.Helper()
	timer := time.AfterFunc(runHang, func() { p.Process.Kill() })
	defer timer.Stop()
	_ = p.Wait()
	return p.ProcessState.ExitCode()
}

func (p *program) readReport(t *testing.T) (r runReport) {
	t.Helper()
	text, err := os.ReadFile(p.report)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &r), "%s", text)
	assert.Equal(t, 1, bytes.Count(text, []byte("\n")))
	return r
}

func pointer[T any](v T) *T { return &v }

func (f *fakeDaemon) Connect(_ context.Context, r api.ConnectRequest) (api.Tunnel, error) {
	if f.tunnels == nil {
		return nil, api.ErrNoSession
	}
	return f.tunnels(r.Grant)
}
