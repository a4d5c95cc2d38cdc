package node_test

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// entrance is a gate in this process, before a resource that sends back what it gets.
type entrance struct {
	t      *testing.T
	a      *authority
	id     node.Identity
	target net.Listener
	dir    string
	addr   string
	gate   *driver.Gate
	log    logBook
}

// newEntrance makes a group whose resource has a gate. The gate runs from open on.
func newEntrance(t *testing.T, change ...func(*group.Gate)) *entrance {
	t.Helper()
	r := group.Resource{Name: "db", MaxHold: 20 * time.Second, Params: policy.Params{
		OperationTime: 50 * time.Millisecond, MembersMax: 3, SkipDelay: 5 * time.Millisecond, MinInterval: time.Millisecond,
	}}.WithDefaults()
	e := &entrance{t: t, a: newAuthority(t, r), dir: t.TempDir(), addr: ports.Address(t)} // which nobody else has while the gate is away
	key, err := signature.Generate(rand.Reader)
	require.NoError(t, err)
	e.target, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go echo(e.target)
	pub := key.Public().Bytes()
	r.Gate = group.Gate{Member: ident.MemberOf(e.a.group.ID(), pub[:]), Address: e.addr, Settle: 10 * time.Millisecond}
	for _, c := range change {
		c(&r.Gate)
	}
	r.Gate = r.Gate.WithDefaults()
	s := e.a.group.Config().Settings()
	s.Version, s.Resources = 2, []group.Resource{r}
	config, err := s.Sign(e.a.group.ID(), e.a.key)
	require.NoError(t, err)
	e.a.group, err = e.a.group.WithConfig(config)
	require.NoError(t, err)
	e.id = e.a.issueAs(t, "gate", func(c *certificate.Claims) { c.Key, c.Role = pub, certificate.GateRole })
	e.id.Key = key
	gatetest.WriteJournal(t, filepath.Join(e.dir, "journal"), e.a.group.ID(), e.id.Certificate.Member(), 100, 1)
	t.Cleanup(func() {
		e.close()
		e.target.Close()
		if t.Failed() {
			t.Log(e.log.String())
		}
	})
	return e
}

func echo(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			_, _ = io.Copy(c, c)
		}()
	}
}

func (e *entrance) open() {
	e.t.Helper()
	floor := uint64(100)
	conn, err := net.ListenPacket("udp", e.addr)
	require.NoError(e.t, err)
	e.gate, err = driver.Open(context.Background(), driver.Config{
		Dir: e.dir, Resource: "db", Target: driver.Target{Network: "tcp", Address: e.target.Addr().String()}, Group: e.a.group,
		Certificate: e.id.Certificate, Key: e.id.Key, Conn: conn, Floor: &floor, Log: slog.New(slog.NewTextHandler(&e.log, nil)),
	})
	require.NoError(e.t, err)
}

func (e *entrance) close() {
	if e.gate == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	assert.NoError(e.t, e.gate.Close(ctx))
	e.gate = nil
}

// members opens nodes of the group, the first of which makes its token.
func (e *entrance) members(n int) (nodes []*node.Node) {
	e.t.Helper()
	var bootstrap []string
	for i := range n {
		m, book := openNode(e.t, e.a.issue(e.t, string(rune('a'+i))), func(c *node.Config) {
			c.Found, c.Bootstrap = i == 0, append([]string{}, bootstrap...)
		})
		e.t.Cleanup(func() {
			if e.t.Failed() {
				e.t.Log(book.String())
			}
		})
		bootstrap = append(bootstrap, m.Address())
		nodes = append(nodes, m)
	}
	return nodes
}

func (e *entrance) get(n *node.Node, change func(*api.AcquireRequest)) (api.HeldGrant, error) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r := api.AcquireRequest{Resource: "db"}
	if change != nil {
		change(&r)
	}
	return n.Acquire(ctx, r)
}

// TestGate_Programs_OneSessionAfterTheOther: each program has the session that its grant names, and reaches the resource
// through it until it ends.
func TestGate_Programs_OneSessionAfterTheOther(t *testing.T) {
	t.Parallel()
	e := newEntrance(t)
	e.open()
	nodes := e.members(2)
	fence := uint64(100)
	for i := range 4 {
		n := nodes[i%2]
		g, err := e.get(n, nil)
		require.NoError(t, err)
		assert.Greater(t, g.Grant().GateFence, fence)
		fence = g.Grant().GateFence
		stream, err := n.Connect(t.Context(), api.ConnectRequest{Grant: g.Grant().ID})
		require.NoError(t, err)
		_, err = n.Connect(t.Context(), api.ConnectRequest{Grant: g.Grant().ID, Target: "sql"})
		require.ErrorIs(t, err, api.ErrBadRequest)
		assert.ErrorContains(t, err, "it has none with a name")
		_, err = io.WriteString(stream, "ping")
		require.NoError(t, err)
		answer := make([]byte, 4)
		_, err = io.ReadFull(stream, answer)
		require.NoError(t, err)
		assert.Equal(t, "ping", string(answer))
		status := n.Status().Resources[0].Slots[0]
		require.NotNil(t, status.Gate)
		assert.True(t, status.Gate.Reachable)
		assert.Equal(t, fence, status.Gate.Session)
		g.Release(true, 0)
		await.Next(t, "the end of the stream", stream.Done())
		_, err = n.Connect(t.Context(), api.ConnectRequest{Grant: g.Grant().ID})
		assert.ErrorIs(t, err, api.ErrNoSession)
		stream.Close()
	}
}

// TestGate_OnlyObserves_DelaysNobody: the next program runs, and reaches the resource, while the gate would have it wait for settle.
func TestGate_OnlyObserves_DelaysNobody(t *testing.T) {
	e := newEntrance(t, func(g *group.Gate) { g.Mode, g.Settle = group.Observe, group.MaxSettle })
	e.open()
	n := e.members(1)[0]
	await.Until(t, "a connection with the gate", func() bool { return n.Status().Resources[0].Slots[0].Gate.Reachable })
	for _, said := range []string{"open", "busy"} {
		g, err := e.get(n, nil)
		require.NoError(t, err)
		assert.Zero(t, g.Grant().GateFence, "there is no session")
		stream, err := n.Connect(t.Context(), api.ConnectRequest{Grant: g.Grant().ID})
		require.NoError(t, err)
		_, err = io.WriteString(stream, "ping")
		require.NoError(t, err)
		answer := make([]byte, 4)
		_, err = io.ReadFull(stream, answer)
		require.NoError(t, err)
		await.Until(t, "what the gate has said", func() bool { return n.Status().Resources[0].Slots[0].Gate.Said == said })
		g.Release(true, 0)
		await.Next(t, "the end of the stream", stream.Done())
		stream.Close()
	}
}

// TestGate_Gone_ProgramLostAndOthersWait: the program is killed, and others wait until the gate is back.
func TestGate_Gone_ProgramLostAndOthersWait(t *testing.T) {
	t.Parallel()
	e := newEntrance(t)
	e.open()
	n := e.members(1)[0]
	g, err := e.get(n, nil)
	require.NoError(t, err)
	stream, err := n.Connect(t.Context(), api.ConnectRequest{Grant: g.Grant().ID})
	require.NoError(t, err)
	e.close()
	_, err = stream.Read(make([]byte, 1))
	require.ErrorIs(t, err, api.ErrNoSession)
	assert.Equal(t, api.LostGate, await.Next(t, "the loss", g.Lost()))
	g.Release(true, 0)
	// The gate tells of the session's end before it closes the connection.
	await.Until(t, "the end of the connection", func() bool { return !n.Status().Resources[0].Slots[0].Gate.Reachable })
	wait := int64(100)
	_, err = e.get(n, func(r *api.AcquireRequest) { r.WaitMS = &wait })
	require.ErrorIs(t, err, api.ErrNotGranted)
	var said *api.Error
	require.ErrorAs(t, err, &said)
	assert.Equal(t, "cannot be reached", said.Gate)
	e.open()
	again, err := e.get(n, nil)
	require.NoError(t, err)
	assert.Greater(t, again.Grant().GateFence, g.Grant().GateFence)
	again.Release(true, 0)
}

// TestGate_AnotherAnswers_StatusSays: where another gate answers than the configuration names, people need not look at the log for it.
func TestGate_AnotherAnswers_StatusSays(t *testing.T) {
	t.Parallel()
	e := newEntrance(t)
	e.open()
	s := e.a.group.Config().Settings()
	s.Version, s.Resources[0].Gate.Member = 3, ident.Member{7}
	config, err := s.Sign(e.a.group.ID(), e.a.key)
	require.NoError(t, err)
	e.a.group, err = e.a.group.WithConfig(config)
	require.NoError(t, err)
	n := e.members(1)[0]
	var st api.ResourceStatus
	await.Until(t, "what the dial has found", func() bool {
		st = n.Status().Resources[0]
		return st.Slots[0].Gate.Unreached != ""
	})
	assert.Contains(t, st.Slots[0].Gate.Unreached, "another gate answered: "+e.id.Certificate.Member().String())
	assert.Equal(t, explain.GateUnreachable, st.Cause)
	assert.Contains(t, st.Sentence, "another gate answered")
}

func TestConnect_NoGate_NoSession(t *testing.T) {
	a := newAuthority(t, group.Resource{Name: "ftp", Params: policy.Params{OperationTime: time.Second, MembersMax: 3}}.WithDefaults())
	n, _ := openNode(t, a.issue(t, "a"), func(c *node.Config) { c.Found = true })
	g, err := n.Acquire(t.Context(), request("ftp"))
	require.NoError(t, err)
	assert.Zero(t, g.Grant().GateFence)
	_, err = n.Connect(t.Context(), api.ConnectRequest{Grant: g.Grant().ID})
	assert.ErrorIs(t, err, api.ErrNoSession)
	assert.Nil(t, n.Status().Resources[0].Slots[0].Gate)
	g.Release(true, 0)
}
