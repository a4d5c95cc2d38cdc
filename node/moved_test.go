package node_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/wire"
)

// mover is a UDP socket that can get another address: what is sent to the old one is
// lost.
type mover struct {
	net.PacketConn // the first one; LocalAddr goes on to name it

	mu       sync.Mutex
	now      net.PacketConn
	deadline time.Time
	closed   bool
}

func newMover(t testing.TB) *mover {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	return &mover{PacketConn: c, now: c}
}

func (m *mover) move() {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.now
	m.now = c
	_ = c.SetReadDeadline(m.deadline)
	_ = old.Close()
}

func (m *mover) socket() (c net.PacketConn, closed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now, m.closed
}

func (m *mover) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		c, closed := m.socket()
		n, from, err := c.ReadFrom(b)
		if now, _ := m.socket(); now != c && !closed && errors.Is(err, net.ErrClosed) {
			continue
		}
		return n, from, err
	}
}

func (m *mover) WriteTo(b []byte, to net.Addr) (int, error) {
	c, closed := m.socket()
	n, err := c.WriteTo(b, to)
	if !closed && errors.Is(err, net.ErrClosed) {
		return len(b), nil // lost
	}
	return n, err
}

func (m *mover) SetReadDeadline(t time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deadline = t
	return m.now.SetReadDeadline(t)
}

func (m *mover) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return m.now.Close()
}

// moving is a group of four of which one member moves.
type moving struct {
	t       *testing.T
	mover   *mover
	notices bool // its machine shows other addresses when it has moved
	n       *node.Node
	others  []*node.Node

	mu         sync.Mutex
	movedAt    time.Time
	onTransfer bool // it moves when the next TRANSFER has come
}

func (g *moving) move() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mover.move()
	g.movedAt = time.Now()
}

func (g *moving) moved() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.movedAt
}

func (g *moving) addresses() ([]net.Addr, error) {
	ip := net.IPv4(192, 0, 2, 1)
	if g.notices && !g.moved().IsZero() {
		ip = net.IPv4(192, 0, 2, 2)
	}
	return []net.Addr{&net.IPNet{IP: ip, Mask: net.CIDRMask(24, 32)}}, nil
}

// arrivals tells a group what arrives at the member.
type arrivals struct {
	transport.Handler
	g *moving
}

func (a arrivals) Frames(from ident.Member, bodies iter.Seq[[]byte]) {
	a.Handler.Frames(from, func(yield func([]byte) bool) {
		for body := range bodies {
			if m, err := wire.Decode(body); err == nil && m.Type() == wire.TypeTransfer {
				a.g.mu.Lock()
				now := a.g.onTransfer
				a.g.onTransfer = false
				a.g.mu.Unlock()
				if now {
					a.g.move()
				}
			}
			if !yield(body) {
				return
			}
		}
	})
}

func newMoving(t *testing.T, dialsOnly, notices bool) *moving {
	a := newAuthority(t, group.Resource{Name: resource, MaxHold: time.Minute, Params: policy.Params{
		OperationTime: 20 * time.Millisecond, MembersMax: 8, SkipDelay: 5 * time.Millisecond, MinInterval: time.Millisecond,
	}}.WithDefaults())
	g := &moving{t: t, mover: newMover(t), notices: notices}
	var bootstrap []string
	self := 0 // first, so that the others dial it
	if dialsOnly {
		self = 3
	}
	for i := range 4 {
		n, _ := openNode(t, a.issue(t, fmt.Sprintf("m%d", i)), func(c *node.Config) {
			c.Found, c.Bootstrap = i == 0, bootstrap
			if i != self {
				return
			}
			c.SetSocket(g.mover, g.addresses)
			c.SetHandler(func(h transport.Handler) transport.Handler { return arrivals{h, g} })
			if dialsOnly {
				c.Listen = ""
			}
		})
		bootstrap = append(bootstrap, n.Address())
		if i == self {
			g.n = n
		} else {
			g.others = append(g.others, n)
		}
	}
	return g
}

// busy has the other members use the resource in turns, until the test ends.
func (g *moving) busy() {
	ctx, cancel := context.WithCancel(context.Background())
	var tasks sync.WaitGroup
	for _, n := range g.others {
		tasks.Go(func() {
			for ctx.Err() == nil {
				_ = wander.Of(n).Do(ctx, resource, func(context.Context, wander.Grant) error { time.Sleep(2 * time.Millisecond); return nil })
			}
		})
	}
	g.t.Cleanup(func() { cancel(); tasks.Wait() })
}

// granted is one use of the resource by the member that moves.
func (g *moving) granted(during func()) time.Time {
	var at time.Time
	require.NoError(g.t, wander.Of(g.n).Do(context.Background(), resource, func(context.Context, wander.Grant) error {
		at = time.Now()
		during()
		return nil
	}))
	return at
}

// movingAtOnce is how many groups run at once. With many on a machine with little processor time no handshake ends
// before its timeout, and all are begun again and again.
var movingAtOnce = make(chan struct{}, 2)

// TestAddressChange_InEachState_GrantedAgain moves a member while it holds the token,
// waits for it, is idle, or is being sent it; one that only dials out, and one that
// listens, whose machine notices it or, as behind a NAT, does not. The short form has
// each state and each machine, but not each of the one with each of the other.
func TestAddressChange_InEachState_GrantedAgain(t *testing.T) {
	for i, kind := range []struct {
		name               string
		dialsOnly, notices bool
	}{{"dials out", true, false}, {"listens, noticed", false, true}, {"listens, not noticed", false, false}} {
		for j, state := range []string{"holding", "waiting", "idle", "receiving"} {
			if whole.Spares(i+j, 3) {
				continue
			}
			t.Run(kind.name+", "+state, func(t *testing.T) {
				t.Parallel()
				movingAtOnce <- struct{}{}
				t.Cleanup(func() { <-movingAtOnce }) // the last one: its members have ended
				g := newMoving(t, kind.dialsOnly, kind.notices)
				g.busy()
				for range 3 {
					g.granted(func() {})
				}
				next, last := g.strike(state), time.Time{}
				for range 3 {
					last = g.granted(func() {})
				}
				t.Logf("granted after %v, and three times more after %v",
					next.Sub(g.moved()).Round(time.Millisecond), last.Sub(g.moved()).Round(time.Millisecond))
			})
		}
	}
}

// strike moves the member in a state, and returns when it was granted again.
func (g *moving) strike(state string) time.Time {
	switch state {
	case "holding":
		g.granted(g.move)
	case "waiting":
		got := make(chan time.Time, 1)
		require.NoError(g.t, wander.Of(g.others[0]).Do(context.Background(), resource, func(context.Context, wander.Grant) error {
			go func() { got <- g.granted(func() {}) }()
			await.Until(g.t, "it waits", func() bool { return g.n.Status().Resources[0].Waiting > 0 })
			g.move()
			return nil
		}))
		return await.Next(g.t, "its grant", got)
	case "idle":
		g.move()
	case "receiving":
		g.mu.Lock()
		g.onTransfer = true
		g.mu.Unlock()
		for g.moved().IsZero() {
			g.granted(func() {})
		}
	}
	return g.granted(func() {})
}
