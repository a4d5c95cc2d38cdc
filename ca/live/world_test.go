// Package live_test runs an authority, its service and members together, with
// QUIC, TLS and files: what no part can show alone. Only the wall clock is the
// tests' own, so that months pass at once.
package live_test

import (
	"context"
	"flag"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/ca/service"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

const (
	// patience is how long a test waits for what must come. It decides nothing
	// but when a hanging test fails.
	patience = 2 * time.Minute
	// lifetime is that of every certificate, on the tests' clock. Some of it pass
	// before the service's own ends, which is looked at now and then only.
	lifetime = time.Hour
	resource = "ftp"
)

// brisk is the default tuning with shorter pauses.
var brisk = func() handoff.Tuning {
	t := handoff.DefaultTuning
	t.OfferTimeout, t.NobodyPause = 100*time.Millisecond, 100*time.Millisecond
	t.RetransmitFirst, t.RetransmitMax = 100*time.Millisecond, 500*time.Millisecond
	return t
}()

// TestMain runs all tests at once, whatever the number of processors: they wait
// for most of their time.
func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "32")
	os.Exit(m.Run())
}

// world is an authority, its service, and the machines that have joined.
type world struct {
	*testing.T
	ahead    atomic.Int64 // how far the clock of all is
	dir      string
	ca       *ca.Authority // as another process has it open
	address  string        // of the service
	stop     func()
	machines []*machine
	inside   atomic.Int32 // operations in progress
	many     bool         // there may be several tokens
}

func newWorld(t *testing.T) *world { return newWorldWith(t, func(*group.Settings) {}) }

// newRegeneratingWorld makes a group in which a token that got lost is soon made anew.
// So there may be two for a while.
func newRegeneratingWorld(t *testing.T) *world {
	w := newWorldWith(t, func(s *group.Settings) {
		p := &s.Resources[0].Params
		p.RegenerationMean, p.SkipDelay = 2*time.Second, 5*time.Millisecond
	})
	w.many = true
	return w
}

func newWorldWith(t *testing.T, change func(*group.Settings)) *world {
	w := &world{T: t, dir: t.TempDir(), address: ports.Address(t)}
	var err error
	w.ca, err = ca.Create(w.dir, ca.CreateOptions{Options: ca.Options{Now: w.now}, Name: "demo"})
	require.NoError(t, err)
	w.configure(change)
	w.serve()
	t.Cleanup(func() { w.stop() })
	return w
}

func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }

func (w *world) skip(d time.Duration) { w.ahead.Add(int64(d)) }

func (w *world) configure(change func(*group.Settings)) {
	w.Helper()
	s := group.Settings{
		Resources: []group.Resource{{Name: resource, MaxHold: 3 * time.Second, Params: policy.Params{
			Preset: wandering.Paper, OperationTime: 10 * time.Millisecond, MembersMax: 5, SkipDelay: 20 * time.Millisecond,
			MinInterval: time.Millisecond, RegenerationMean: policy.MaxInterval,
		}}},
		CertificateLifetime: lifetime, GossipInterval: 300 * time.Millisecond,
	}
	change(&s)
	_, err := w.ca.SetConfig(s)
	require.NoError(w, err)
}

// serve starts the service, at the same address again after stop.
func (w *world) serve() {
	w.Helper()
	l, err := net.Listen("tcp", w.address)
	require.NoError(w, err)
	s, err := service.New(service.Config{
		Open:     func() (*ca.Authority, error) { return ca.Open(w.dir, ca.Options{Now: w.now}) },
		Listener: l, Now: w.now,
	})
	require.NoError(w, err)
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	w.stop = sync.OnceFunc(func() {
		require.NoError(w, s.Shutdown(context.Background()))
		require.NoError(w, <-done)
	})
}

// until waits for what comes sooner or later.
func (w *world) until(what string, holds func() bool) {
	w.Helper()
	if await.Holds(5*time.Millisecond, holds) {
		return
	}
	for _, m := range w.machines {
		w.Logf("--- %s %v\n%s", m.name, m.id, m.log.tail())
	}
	require.FailNow(w, "never happened: "+what)
}

// circulate waits until each of these has operated twice more.
func (w *world) circulate(machines ...*machine) {
	w.Helper()
	for _, m := range machines {
		least := m.ran.Load() + 2
		w.until(m.name+" goes on operating", func() bool { return m.ran.Load() >= least })
	}
}

// agree waits until all of these call another the same.
func (w *world) agree(state string, of *machine, machines ...*machine) {
	w.Helper()
	for _, m := range machines {
		w.until(m.name+" calls "+of.name+" "+state, func() bool { return m.state(of) == state })
	}
}

// audit ends everybody and looks at what the journals prove: no token was ever
// in two places, and all but those that one of these had are there.
func (w *world) audit(mayLose ...*machine) {
	w.Helper()
	for _, m := range w.machines {
		m.kill()
	}
	report := w.report()
	assert.Empty(w, report.Findings)
	alive := 0
	for _, token := range report.Tokens {
		if !token.Fate.Lost() {
			alive++
			continue
		}
		lost := false
		for _, m := range mayLose {
			lost = lost || m.id == token.Last || m.id == token.To
		}
		assert.True(w, lost, "%+v", token)
	}
	if !w.many {
		assert.Len(w, report.Tokens, 1, "no other was made")
		assert.Equal(w, 1, alive)
	}
	w.Logf("%d handoffs, %d tokens", report.Handoffs(), len(report.Tokens))
}

// report is what the journals say now.
func (w *world) report() *audit.Report {
	var journals []audit.Journal
	for _, m := range w.machines {
		journals = append(journals, audit.Journal{Member: m.id, Entries: m.journal()})
	}
	return audit.Check(w.ca.Group(), journals, audit.Options{})
}
