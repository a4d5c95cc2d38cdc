package transport

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// testGroup is a group with its CA.
type testGroup struct {
	id  ident.Group
	ca  *signature.PrivateKey
	now time.Time // in the middle of every certificate's life
}

func keyFromSeed(t testing.TB, name string) *signature.PrivateKey {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	key, err := signature.NewPrivateKey(seed[:])
	require.NoError(t, err)
	return key
}

func newGroup(t testing.TB, name string) *testGroup {
	ca := keyFromSeed(t, "ca of "+name)
	pub := ca.Public().Bytes()
	return &testGroup{id: ident.GroupOf(pub[:]), ca: ca, now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}
}

// Key makes the group the authority of its own members.
func (g *testGroup) Key(kid [16]byte) *signature.PublicKey {
	if kid == certificate.AuthorityID(g.ca.Public()) {
		return g.ca.Public()
	}
	return nil
}

// member makes a key and its certificate, which change can alter first.
func (g *testGroup) member(t testing.TB, name string, change func(*certificate.Claims)) (*signature.PrivateKey, certificate.Certificate) {
	t.Helper()
	key := keyFromSeed(t, name)
	serial := sha256.Sum256([]byte(name))
	claims := certificate.Claims{
		Name: name, Serial: binary.BigEndian.Uint64(serial[:]) | 1,
		NotBefore: g.now.Add(-time.Hour), NotAfter: g.now.Add(90 * 24 * time.Hour), IssuedAt: g.now.Add(-time.Hour),
		Key: key.Public().Bytes(), Group: g.id, ConfigVersion: 1,
	}
	if change != nil {
		change(&claims)
	}
	cert, err := claims.Sign(g.ca)
	require.NoError(t, err)
	return key, cert
}

// event is one call of the handler.
type event struct {
	kind string // connected, disconnected, frame, unreachable
	peer ident.Member
	body string
	err  error
	at   time.Time
}

// recorder is a Handler that keeps what it is told, and lets tests wait for it.
type recorder struct {
	mu      sync.Mutex
	changed sync.Cond
	events  []event
	onFrame func(peer ident.Member, body []byte)
	onBatch func() // after frames that came together
	onUp    func(peer ident.Member)
}

func newRecorder() *recorder {
	r := &recorder{}
	r.changed.L = &r.mu
	return r
}

func (r *recorder) add(e event) {
	e.at = time.Now()
	r.mu.Lock()
	r.events = append(r.events, e)
	r.mu.Unlock()
	r.changed.Broadcast()
}

func (r *recorder) Connected(c certificate.Certificate) {
	r.add(event{kind: "connected", peer: c.Member()})
	if r.onUp != nil {
		r.onUp(c.Member())
	}
}

func (r *recorder) Disconnected(m ident.Member, err error) {
	r.add(event{kind: "disconnected", peer: m, err: err})
}

func (r *recorder) Unreachable(m ident.Member, err error) {
	r.add(event{kind: "unreachable", peer: m, err: err})
}

func (r *recorder) Frames(m ident.Member, bodies iter.Seq[[]byte]) {
	for body := range bodies {
		if r.onFrame != nil {
			r.onFrame(m, body)
		} else {
			r.add(event{kind: "frame", peer: m, body: string(body)})
		}
	}
	if r.onBatch != nil {
		r.onBatch()
	}
}

// wait returns the n-th (from 1) event that matches, when it comes. It panics
// when that is not in this time, which is virtual in most tests.
func (r *recorder) wait(match func(event) bool, n int) event {
	const patience = 5 * time.Minute
	var late atomic.Bool
	timer := time.AfterFunc(patience, func() { late.Store(true); r.changed.Broadcast() })
	defer timer.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if late.Load() {
			panic(fmt.Sprintf("never happened; but these have: %+v", r.events))
		}
		seen := 0
		for _, e := range r.events {
			if match(e) {
				if seen++; seen == n {
					return e
				}
			}
		}
		r.changed.Wait()
	}
}

func (r *recorder) count(match func(event) bool) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if match(e) {
			n++
		}
	}
	return n
}

func (r *recorder) all() []event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]event(nil), r.events...)
}

func kind(k string) func(event) bool { return func(e event) bool { return e.kind == k } }

func frame(body string) func(event) bool {
	return func(e event) bool { return e.kind == "frame" && e.body == body }
}

// node is a transport under test.
type node struct {
	*Transport
	*recorder
	cert certificate.Certificate
	log  *safeBuffer
}

// safeBuffer is a log that is read while it is written.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) lines(with string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range bytes.Lines(s.b.Bytes()) {
		if bytes.Contains(line, []byte(with)) {
			n++
		}
	}
	return n
}

// book is where the members of a test find each other.
type book struct {
	mu sync.Mutex
	m  map[ident.Member][]string
}

func newBook() *book { return &book{m: make(map[ident.Member][]string)} }

func (b *book) set(m ident.Member, addresses ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.m[m] = addresses
}

func (b *book) addresses(m ident.Member) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.m[m]
}

func loopback(t testing.TB) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	return conn
}

// open starts a member on conn and enters it into the book.
func (g *testGroup) open(t testing.TB, b *book, conn net.PacketConn, name string, change func(*Config)) *node {
	t.Helper()
	key, cert := g.member(t, name, nil)
	n := &node{recorder: newRecorder(), cert: cert, log: &safeBuffer{}}
	cfg := Config{
		Conn: conn, Group: g.id, Authorities: g, Certificate: cert, Key: key,
		Handler: n.recorder, Addresses: b.addresses, ResetKey: sha256.Sum256([]byte("reset " + name)),
		Now: func() time.Time { return g.now },
		Log: slog.New(slog.NewTextHandler(n.log, nil)),
	}
	if change != nil {
		change(&cfg)
	}
	tr, err := Open(cfg)
	require.NoError(t, err)
	n.Transport = tr
	n.cert = cfg.Certificate
	b.set(tr.Self(), conn.LocalAddr().String())
	t.Cleanup(func() { tr.Close() })
	return n
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return v
}

// disconnect closes the connection with a member, if there is one, with this
// code and without waiting; its queue is dropped.
func (t *Transport) disconnect(member ident.Member, code Code) {
	p := t.lock(member)
	if p == nil {
		return
	}
	defer p.mu.Unlock()
	p.dropAll()
	p.release(code)
	if c := p.current; c != nil {
		c.muted.Store(true)
		p.detach(c)
		c.close(code)
	}
}
