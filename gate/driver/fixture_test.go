package driver_test

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/protocol/certificate"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

const resource = "tape"

// Times of the tests' configuration.
const (
	maxHold = 3 * time.Second
	settle  = 100 * time.Millisecond
	keep    = 300 * time.Millisecond

	// hookTime is long: a test on a busy machine is to see no hook time out that it does not make so.
	hookTime = 20 * time.Second
)

// party is one that the CA has certified.
type party struct {
	key  *signature.PrivateKey
	cert certificate.Certificate
}

func (p party) id() ident.Member { return p.cert.Member() }

// world is a group with a CA, some members, and what the tests change of its configuration.
type world struct {
	t       testing.TB
	ca      *signature.PrivateKey
	group   *group.Group
	serial  uint64
	keeper  party // the gate
	members []party
	sequel  uint64 // of geneses
	revoked uint64
}

func generate(t testing.TB) *signature.PrivateKey {
	t.Helper()
	key, err := signature.Generate(rand.Reader)
	require.NoError(t, err)
	return key
}

func newWorld(t testing.TB, members int, change func(*group.Resource)) *world {
	t.Helper()
	w := &world{t: t, ca: generate(t)}
	pub := w.ca.Public().Bytes()
	id := ident.GroupOf(pub[:])
	now := time.Now().Truncate(time.Second)
	authority, err := group.Statement{Name: "test", Group: id, Key: pub, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour)}.Sign(w.ca)
	require.NoError(t, err)
	gateKey := generate(t)
	r := resourceOf(id, gateKey)
	if change != nil {
		change(&r)
	}
	config, err := group.Settings{Version: 1, Name: "test", Issued: now, Resources: []group.Resource{r}}.WithDefaults().Sign(id, w.ca)
	require.NoError(t, err)
	w.group, err = group.New([]group.Authority{authority}, config)
	require.NoError(t, err)
	w.keeper = w.issue("gate", gateKey, asGate)
	for i := range members {
		w.members = append(w.members, w.issue(string(rune('a'+i)), generate(t), nil))
	}
	return w
}

func (w *world) issue(name string, key *signature.PrivateKey, change func(*certificate.Claims)) party {
	w.t.Helper()
	w.serial++
	now := time.Now().Truncate(time.Second)
	claims := certificate.Claims{
		Name: name, Serial: w.serial, NotBefore: now.Add(-time.Minute), NotAfter: now.Add(time.Hour), IssuedAt: now,
		Key: key.Public().Bytes(), Group: w.group.ID(), ConfigVersion: 1,
	}
	if change != nil {
		change(&claims)
	}
	cert, err := claims.Sign(w.ca)
	require.NoError(w.t, err)
	return party{key, cert}
}

// newer signs the next configuration.
func (w *world) newer(change func(*group.Settings)) *group.Group {
	w.t.Helper()
	s := w.group.Config().Settings()
	s.Version++
	change(&s)
	config, err := s.Sign(w.group.ID(), w.ca)
	require.NoError(w.t, err)
	g, err := w.group.WithConfig(config)
	require.NoError(w.t, err)
	return g
}

func (w *world) revoke(m ident.Member) []byte {
	w.t.Helper()
	w.revoked++
	r, err := certificate.Revocation{Version: w.revoked, Member: m, Serial: 1, Reason: "left", Time: uint64(time.Now().UnixMilli())}.Sign(w.group.ID(), w.ca)
	require.NoError(w.t, err)
	return r.Raw()
}

func (w *world) certificates(m ident.Member) []byte {
	for _, p := range w.members {
		if p.id() == m {
			return p.cert.Raw()
		}
	}
	return nil
}

// custody is a title with the one before it.
type custody struct{ title, before token.Title }

// mint makes a token of a member.
func (w *world) mint(by int) custody {
	w.t.Helper()
	w.sequel++
	g, err := token.GenesisBody{
		Resource: resource, Generator: w.members[by].id(), Sequence: w.sequel, Time: uint64(time.Now().UnixMilli()),
	}.Sign(w.group.ID(), w.members[by].key)
	require.NoError(w.t, err)
	return custody{title: token.Title{Genesis: g}}
}

// passed is what a member holds to whom the holder has passed the token.
func (w *world) passed(c custody, from, to int) custody {
	w.t.Helper()
	tr, err := c.title.Next(w.members[to].id(), ident.Reservation{Number: 1}).Sign(w.group.ID(), w.members[from].key)
	require.NoError(w.t, err)
	return custody{title: token.Title{Genesis: c.title.Genesis, Transfer: tr}, before: c.title}
}

// target is a resource that answers each line that it gets, and remembers who is at it.
type target struct {
	t      testing.TB
	listen net.Listener
	mu     sync.Mutex
	got    []byte
	open   int
	linger chan struct{} // not nil: a connection is ended by the target only when this is closed
	wg     sync.WaitGroup
}

func newTarget(t testing.TB) *target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := &target{t: t, listen: l}
	g.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			g.wg.Go(func() { g.serve(c) })
		}
	})
	t.Cleanup(func() { l.Close(); g.wg.Wait() })
	return g
}

func (g *target) serve(c net.Conn) {
	defer c.Close()
	g.add(1)
	defer g.add(-1)
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		g.mu.Lock()
		g.got = append(g.got, buf[:n]...)
		linger := g.linger
		g.mu.Unlock()
		if err != nil {
			if linger != nil {
				<-linger
			}
			return
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (g *target) add(n int) { g.mu.Lock(); g.open += n; g.mu.Unlock() }

func (g *target) inside() int { g.mu.Lock(); defer g.mu.Unlock(); return g.open }

func (g *target) received() string { g.mu.Lock(); defer g.mu.Unlock(); return string(g.got) }

// asGate gives a gate's certificate its role.
func asGate(c *certificate.Claims) { c.Role = certificate.GateRole }

// resourceOf is the tests' resource with its gate.
func resourceOf(id ident.Group, key *signature.PrivateKey) group.Resource {
	pub := key.Public().Bytes()
	return group.Resource{
		Name: resource, MaxHold: maxHold, Params: policy.Params{OperationTime: maxHold, MembersMax: 3},
		Gate: group.Gate{
			Member: ident.MemberOf(id, pub[:]), Address: "127.0.0.1:4135", Settle: settle, Keep: keep, OpenTimeout: hookTime, CloseTimeout: hookTime,
		},
	}.WithDefaults()
}

// station is a gate that runs in this process.
type station struct {
	*driver.Gate
	w      *world
	dir    string
	target *target
	log    *testLog
}

type testLog struct {
	mu    sync.Mutex
	lines []byte
}

func (l *testLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, p...)
	return len(p), nil
}

func (l *testLog) String() string { l.mu.Lock(); defer l.mu.Unlock(); return string(l.lines) }

func (w *world) config(dir string, to *target, log io.Writer) driver.Config {
	w.t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(w.t, err)
	floor := uint64(100)
	return driver.Config{
		Dir: dir, Resource: resource, Target: driver.Target{Network: "tcp", Address: to.listen.Addr().String()}, Group: w.group,
		Certificate: w.keeper.cert, Key: w.keeper.key, Conn: conn, Floor: &floor, Log: slog.New(slog.NewTextHandler(log, nil)),
	}
}

// open starts a gate whose journal says that nothing is open.
func (w *world) open(change func(*driver.Config)) *station {
	w.t.Helper()
	s := &station{w: w, dir: w.t.TempDir(), target: newTarget(w.t), log: &testLog{}}
	settled(w.t, w, filepath.Join(s.dir, "journal"))
	s.start(change)
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(w.t, s.Close(ctx))
		if w.t.Failed() {
			w.t.Log(s.log.String())
		}
	})
	return s
}

func (s *station) start(change func(*driver.Config)) {
	s.w.t.Helper()
	cfg := s.w.config(s.dir, s.target, s.log)
	if change != nil {
		change(&cfg)
	}
	var err error
	s.Gate, err = driver.Open(context.Background(), cfg)
	require.NoError(s.w.t, err)
}

// dial connects a member with the gate.
func (s *station) dial(who int) *client.Conn {
	s.w.t.Helper()
	return s.dialAs(s.w.members[who], func(*client.Config) {})
}

func (s *station) dialAs(p party, change func(*client.Config)) *client.Conn {
	s.w.t.Helper()
	c, err := s.tryAs(p, change)
	require.NoError(s.w.t, err)
	s.w.t.Cleanup(func() { require.NoError(s.w.t, c.Close()) })
	return c
}

func (s *station) tryAs(p party, change func(*client.Config)) (*client.Conn, error) {
	cfg := client.Config{
		Address: s.Addr(), Resource: resource, Gate: s.w.keeper.id(), Group: func() *group.Group { return s.w.group }, Certificate: p.cert, Key: p.key,
	}
	change(&cfg)
	return client.Dial(context.Background(), cfg)
}

func (w *world) signIn(c *client.Conn, held custody, length time.Duration) *client.Session {
	w.t.Helper()
	s, err := c.SignIn(held.title, held.before, w.certificates, length)
	require.NoError(w.t, err)
	return s
}

// said is the next answer of a session, of a kind.
func said[A core.Answer](t testing.TB, s *client.Session) A {
	t.Helper()
	a := await.Next(t, "an answer", s.Answers())
	require.False(t, a.IsZero(), "the session has ended")
	require.IsType(t, *new(A), a.Body().Answer)
	return a.Body().Answer.(A)
}

// opened waits for OPEN, through any BUSY.
func opened(t testing.TB, s *client.Session) core.OpenAnswer {
	t.Helper()
	for {
		a := await.Next(t, "an answer", s.Answers())
		require.False(t, a.IsZero(), "the session has ended")
		if open, ok := a.Body().Answer.(core.OpenAnswer); ok {
			return open
		}
		require.IsType(t, core.BusyAnswer{}, a.Body().Answer)
	}
}

// ended waits for the last answer of a session.
func ended(t testing.TB, s *client.Session) core.Answer {
	t.Helper()
	var last wire.SignedAnswer
	for {
		a := await.Next(t, "the last answer", s.Answers())
		if a.IsZero() {
			break
		}
		last = a
	}
	if last.IsZero() {
		return nil
	}
	return last.Body().Answer
}

func connect(t testing.TB, s *client.Session) *client.Stream {
	t.Helper()
	c, err := s.Connect(context.Background())
	require.NoError(t, err)
	return c
}

// echoes sends a line to the target and reads it back.
func echoes(t testing.TB, c *client.Stream, line string) {
	t.Helper()
	_, err := c.Write([]byte(line))
	require.NoError(t, err)
	got := make([]byte, len(line))
	_, err = io.ReadFull(c, got)
	require.NoError(t, err)
	require.Equal(t, line, string(got))
}

func exists(name string) bool { _, err := os.Stat(name); return err == nil }

// shortClose has a close hook be late soon.
func shortClose(r *group.Resource) { r.Gate.CloseTimeout = 500 * time.Millisecond }
