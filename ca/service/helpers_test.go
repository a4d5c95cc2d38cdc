package service

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/invite"
	"github.com/wandertoken/wander/protocol/policy"
)

// clock stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// journal is a log that a test reads while others write.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// bench is an authority with its service on loopback.
type bench struct {
	t       testing.TB
	dir     string
	clock   *clock
	log     journal
	ca      *ca.Authority // as another process has it open
	server  *Server
	address string
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), clock: &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}}
	b.create()
	b.serve()
	return b
}

func (b *bench) create() {
	b.t.Helper()
	a, err := ca.Create(b.dir, ca.CreateOptions{Options: ca.Options{Now: b.clock.Now}, Name: "demo"})
	require.NoError(b.t, err)
	b.ca = a
	b.configure("ftp")
}

func (b *bench) open() (*ca.Authority, error) { return ca.Open(b.dir, ca.Options{Now: b.clock.Now}) }

func (b *bench) configure(resource string) {
	b.t.Helper()
	_, err := b.ca.SetConfig(group.Settings{Resources: []group.Resource{{
		Name: resource, Params: policy.Params{OperationTime: 4 * time.Second, MembersMax: 100},
	}}})
	require.NoError(b.t, err)
}

// serve starts a service, again after stop.
func (b *bench) serve() {
	b.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b.t, err)
	b.address = l.Addr().String()
	s, err := New(Config{
		Open: b.open, Listener: l, Now: b.clock.Now,
		Log: slog.New(slog.NewTextHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	require.NoError(b.t, err)
	b.server = s
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	b.t.Cleanup(func() {
		require.NoError(b.t, s.Shutdown(context.Background()))
		require.NoError(b.t, <-done)
	})
}

func (b *bench) stop() { require.NoError(b.t, b.server.Shutdown(context.Background())) }

func (b *bench) group() ident.Group { return b.ca.Group() }

// invite makes one for the service.
func (b *bench) invite(name string) invite.Invite {
	b.t.Helper()
	made, err := b.ca.Invite(name, time.Hour)
	require.NoError(b.t, err)
	by, _, err := b.ca.Signer()
	require.NoError(b.t, err)
	return invite.Invite{
		Group: b.group(), Authority: by.ID(), Addresses: []string{b.address},
		ID: made.ID, Secret: made.Secret, Name: made.Name, Expires: made.Expires,
	}
}

func newKey(t testing.TB) *signature.PrivateKey {
	t.Helper()
	key, err := signature.Generate(rand.Reader)
	require.NoError(t, err)
	return key
}

func (b *bench) request(name string, key *signature.PrivateKey) certificate.SignedRequest {
	b.t.Helper()
	r, err := certificate.Request{Name: name, Key: key.Public().Bytes()}.Sign(b.group(), key)
	require.NoError(b.t, err)
	return r
}

// member is somebody who has joined.
type member struct {
	*bench
	key      *signature.PrivateKey
	enrolled enrolment.Enrolled
}

func (b *bench) join(name string) *member {
	b.t.Helper()
	m := &member{bench: b, key: newKey(b.t)}
	var err error
	m.enrolled, err = enrolment.Enrol(b.t.Context(), b.invite(name), b.request(name, m.key), b.clock.Now)
	require.NoError(b.t, err, b.log.String())
	return m
}

func (m *member) id() ident.Member { return m.enrolled.Certificate.Member() }

func (m *member) client() enrolment.Client {
	return enrolment.Client{
		Addresses: []string{m.address}, Group: m.enrolled.Group, Certificate: m.enrolled.Certificate, Key: m.key, Now: m.clock.Now,
	}
}

func (m *member) endpoint(sequence uint64, addresses ...string) []byte {
	m.t.Helper()
	e := certificate.Endpoint{Member: m.id(), Sequence: sequence, Mode: certificate.Reachable, Addresses: addresses}
	if len(addresses) == 0 {
		e.Mode = certificate.DialsOut
	}
	signed, err := e.Sign(m.group(), m.key)
	require.NoError(m.t, err)
	return signed.Raw()
}

func (m *member) leave() []byte {
	m.t.Helper()
	signed, err := certificate.Leave{Member: m.id(), Time: 1}.Sign(m.group(), m.key)
	require.NoError(m.t, err)
	return signed.Raw()
}
