// Package live_test runs an authority, its service and members together, with
// QUIC, TLS and files: what no part can show alone. Only the wall clock is the
// tests' own, so that months pass at once.
package live_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/ca/service"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/invite"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
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
	inside   atomic.Int32 // operations under way
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
	w := &world{T: t, dir: t.TempDir(), address: "127.0.0.1:0"}
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
			OperationTime: 10 * time.Millisecond, MembersMax: 5, SkipDelay: 20 * time.Millisecond,
			MinInterval: time.Millisecond, RegenerationMean: policy.MaxInterval,
		}}},
		CertificateLifetime: lifetime, GossipInterval: 300 * time.Millisecond,
	}
	change(&s)
	_, err := w.ca.SetConfig(s)
	require.NoError(w, err)
}

// serve starts the service, again at its address after stop.
func (w *world) serve() {
	w.Helper()
	l, err := net.Listen("tcp", w.address)
	require.NoError(w, err)
	w.address = l.Addr().String()
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
	for guard := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(guard) {
			for _, m := range w.machines {
				w.Logf("--- %s %v\n%s", m.name, m.id, m.log.tail())
			}
			require.FailNow(w, "never happened: "+what)
		}
	}
}

// machine is one member with its files.
type machine struct {
	*node.Node
	w         *world
	name, dir string
	id        ident.Member
	listen    string // empty: it only dials out
	peers     []string
	key       *signature.PrivateKey
	log       logBook
	ran       atomic.Int64 // operations
	up        bool
}

// join makes a machine a member, over the network.
func (w *world) join(name string) *machine {
	w.Helper()
	m := &machine{w: w, name: name, dir: w.TempDir(), listen: "127.0.0.1:0"}
	var err error
	m.key, err = signature.Generate(rand.Reader)
	require.NoError(w, err)
	text, err := keyfile.EncodePrivateKey(m.key)
	m.write("member.key", text, err)
	w.rejoin(m)
	w.machines = append(w.machines, m)
	w.Cleanup(m.kill)
	return m
}

// rejoin enrols a machine with the key that it has.
func (w *world) rejoin(m *machine) {
	w.Helper()
	enrolled, err := m.enrol(w.invite(m.name))
	require.NoError(w, err)
	m.id = enrolled.Certificate.Member()
	text, err := keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Certificate, Bytes: enrolled.Certificate.Raw()})
	m.write("member.crt", text, err)
	text, err = keyfile.EncodeBlocks(enrolled.Group.Blocks()...)
	m.write("group.crt", text, err)
}

func (w *world) invite(name string) invite.Invite {
	w.Helper()
	made, err := w.ca.Invite(name, time.Hour)
	require.NoError(w, err)
	by, _, err := w.ca.Signer()
	require.NoError(w, err)
	return invite.Invite{
		Group: w.ca.Group(), Authority: by.ID(), Addresses: []string{w.address},
		ID: made.ID, Secret: made.Secret, Name: made.Name, Expires: made.Expires,
	}
}

func (m *machine) enrol(i invite.Invite) (enrolment.Enrolled, error) {
	r, err := certificate.Request{Name: m.name, Key: m.key.Public().Bytes()}.Sign(m.w.ca.Group(), m.key)
	require.NoError(m.w, err)
	return enrolment.Enrol(context.Background(), i, r, m.w.now)
}

func (m *machine) write(name string, text []byte, err error) {
	m.w.Helper()
	require.NoError(m.w, err)
	require.NoError(m.w, os.WriteFile(m.file(name), text, 0o600))
}

func (m *machine) file(name string) string { return filepath.Join(m.dir, name) }

// identity is what the files say.
func (m *machine) identity() (node.Identity, error) {
	return node.LoadIdentity(m.file("member.crt"), m.file("member.key"), m.file("group.crt"))
}

// open starts the node from its files.
func (m *machine) open(change func(*node.Config)) error {
	id, err := m.identity()
	if err != nil {
		return err
	}
	cfg := node.Config{
		Identity: id, StateDir: m.file("state"), Listen: m.listen, Bootstrap: m.peers, Authority: []string{m.w.address},
		Found: m == m.w.machines[0], Socket: "-", Tuning: brisk, Now: m.w.now,
		Log:       slog.New(slog.NewTextHandler(&m.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Operation: node.Operation{Resource: resource, Run: m.operate},
	}
	if change != nil {
		change(&cfg)
	}
	n, err := node.Open(context.Background(), cfg)
	if err != nil {
		return err
	}
	m.Node, m.up = n, true
	if m.listen != "" {
		m.listen = n.Address() // it is found there again
	}
	return nil
}

// start opens nodes; each knows the addresses of those before it.
func (w *world) start(machines ...*machine) {
	w.Helper()
	for _, m := range machines {
		m.peers = nil
		for _, o := range w.machines {
			if o != m && o.up && o.listen != "" {
				m.peers = append(m.peers, o.listen)
			}
		}
		require.NoError(w, m.open(nil))
	}
}

// operate is the protected operation: never two at once.
func (m *machine) operate(context.Context, api.Grant) (operated bool, exit int) {
	defer m.w.inside.Add(-1)
	if at := m.w.inside.Add(1); !m.w.many {
		assert.EqualValues(m.w, 1, at, "operations at once")
	}
	m.ran.Add(1)
	return true, 0
}

// kill ends a node without its passing on what it holds.
func (m *machine) kill() {
	if !m.up {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = m.Close(ctx)
	m.up = false
}

// circulate waits until each of these has operated twice more.
func (w *world) circulate(machines ...*machine) {
	w.Helper()
	for _, m := range machines {
		least := m.ran.Load() + 2
		w.until(m.name+" goes on operating", func() bool { return m.ran.Load() >= least })
	}
}

// state is what one member calls another.
func (m *machine) state(of *machine) string {
	for _, info := range m.Members() {
		if info.Member == of.id {
			return info.State
		}
	}
	return "unknown"
}

// expiry is when the certificate of another ends, as far as a machine knows.
func (m *machine) expiry(of *machine) time.Time {
	for _, info := range m.Members() {
		if info.Member == of.id {
			return info.Expires
		}
	}
	return time.Time{}
}

// agree waits until all of these call another the same.
func (w *world) agree(state string, of *machine, machines ...*machine) {
	w.Helper()
	for _, m := range machines {
		w.until(m.name+" calls "+of.name+" "+state, func() bool { return m.state(of) == state })
	}
}

// connected reports whether a machine has a connection with another.
func (m *machine) connected(with *machine) bool {
	return slices.ContainsFunc(m.Status().Peers, func(p api.PeerStatus) bool { return p.Member == with.id })
}

// ends waits for the end of a node, for this reason.
func (m *machine) ends(reason error) {
	m.w.Helper()
	m.w.until(m.name+" ends", func() bool { return m.Err() != nil })
	require.ErrorIs(m.w, m.Err(), reason)
	m.kill()
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

// journal is every record of a machine's journal, oldest first.
func (m *machine) journal() (list []audit.Entry) {
	for f, err := range store.Frames(nil, filepath.Join(m.dir, "state", "journal")) {
		if errors.Is(err, journal.ErrTorn) {
			break
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was never started
		}
		require.NoError(m.w, err)
		if f.Carried || len(f.Body) == 0 {
			continue
		}
		at, r, err := journal.Decode(f.Body)
		require.NoError(m.w, err)
		list = append(list, audit.Entry{At: at, Record: r})
	}
	return list
}

// logBook is the log of a node, which tests read while it is written.
type logBook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// lines counts the lines that contain all of these texts.
func (l *logBook) lines(with ...string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
next:
	for line := range bytes.Lines(l.b.Bytes()) {
		for _, text := range with {
			if !bytes.Contains(line, []byte(text)) {
				continue next
			}
		}
		n++
	}
	return n
}

// tail is the end of the log.
func (l *logBook) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	const most = 3 << 10
	return string(l.b.Bytes()[max(0, l.b.Len()-most):])
}
