package node_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"iter"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

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

// lines counts the warnings that contain all of these texts.
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

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// openNode starts a node in this process.
func openNode(t testing.TB, id node.Identity, change func(*node.Config)) (*node.Node, *logBook) {
	t.Helper()
	book := &logBook{}
	cfg := node.Config{
		Identity: id, StateDir: t.TempDir(), Listen: "127.0.0.1:0", Socket: "-", Tuning: brisk,
		Log: slog.New(slog.NewTextHandler(book, nil)),
	}
	if change != nil {
		change(&cfg)
	}
	n, err := node.Open(context.Background(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { closeNow(n) })
	return n, book
}

// closeNow ends a node without waiting for others to take what it holds.
func closeNow(n *node.Node) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = n.Close(ctx)
}

// peer is a member that does what a test tells it and nothing else: transport
// and keys without a node.
type peer struct {
	*transport.Transport
	t           testing.TB
	id          node.Identity
	incarnation ident.Incarnation
	messages    chan wire.Message
	ends        chan error
}

// openPeer starts a peer with a certificate of the group.
func (a *authority) openPeer(t testing.TB, id node.Identity) *peer {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	p := &peer{t: t, id: id, messages: make(chan wire.Message, 4096), ends: make(chan error, 4096)}
	_, err = io.ReadFull(rand.Reader, p.incarnation[:])
	require.NoError(t, err)
	p.Transport, err = transport.Open(transport.Config{
		Conn: conn, Group: a.group.ID(), Authorities: a.group, Certificate: id.Certificate, Key: id.Key, Handler: p,
	})
	require.NoError(t, err)
	t.Cleanup(func() { p.Close() })
	return p
}

func (p *peer) Connected(certificate.Certificate)      {}
func (p *peer) Disconnected(_ ident.Member, err error) { p.ends <- err }
func (p *peer) Unreachable(_ ident.Member, err error)  { p.ends <- err }

func (p *peer) Frames(_ ident.Member, bodies iter.Seq[[]byte]) {
	for body := range bodies {
		m, err := wire.Decode(body)
		if err != nil {
			p.t.Errorf("a node says %x: %v", body, err)
			return
		}
		p.messages <- m
	}
}

// meet connects with a node and greets it.
func (p *peer) meet(n *node.Node) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	id, err := p.DialAddress(ctx, n.Address())
	require.NoError(p.t, err)
	require.Equal(p.t, n.ID(), id)
	p.say(n, &wire.Hello{
		Versions: [2]uint64{1, 1}, Incarnation: p.incarnation, MaxFrame: wire.MaxFrame,
		Configuration: 1, Time: uint64(time.Now().UnixMilli()),
	})
}

func (p *peer) say(n *node.Node, m wire.Message) {
	p.t.Helper()
	body, err := wire.Encode(m)
	require.NoError(p.t, err)
	p.Send(n.ID(), transport.Custody, body)
}

// hear waits for a message of this type and skips all others.
func hear[M wire.Message](p *peer) M {
	p.t.Helper()
	var want M
	for {
		if m, ok := await.Next(p.t, want.Type().String(), p.messages).(M); ok {
			return m
		}
	}
}

// groupFile writes a group file with revocations and returns its name.
func (a *authority) groupFile(t testing.TB, revocations ...[]byte) string {
	t.Helper()
	blocks := a.group.Blocks()
	for _, raw := range revocations {
		blocks = append(blocks, keyfile.Block{Type: keyfile.Revocation, Bytes: raw})
	}
	text, err := keyfile.EncodeBlocks(blocks...)
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "group.crt")
	require.NoError(t, os.WriteFile(name, text, 0o600))
	return name
}

func request(resource string) api.AcquireRequest { return api.AcquireRequest{Resource: resource} }
