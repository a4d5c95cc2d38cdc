package wandertest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/wandertoken/wander"
	"github.com/wandertoken/wander/internal/memnet"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
)

// Member is one machine of a group. All methods are safe for concurrent use.
type Member struct {
	t       *testing.T
	name    string
	address *net.UDPAddr
	network *memnet.Network

	mu     sync.Mutex // held while the member starts or ends
	config node.Config
	socket *memnet.Socket
	run    *run // nil while it does not run
}

// run is a member from its start to its end.
type run struct {
	node   *node.Node
	killed chan struct{} // closed when it is killed
}

// Name is the member's name in the group: m0, m1 and so on.
func (m *Member) Name() string { return m.name }

// Client is what a program on the member's machine uses. It stays the same when the member is stopped and started again.
func (m *Member) Client() *wander.Client { return wander.Of(m) }

// Start starts a member that was stopped or killed, with what its journal says. Of one that runs it does nothing.
func (m *Member) Start() {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.run != nil {
		return
	}
	m.socket = m.network.Open(m.address)
	c := m.config
	c.Conn = m.socket
	n, err := node.Open(context.Background(), c)
	if err != nil {
		m.t.Fatalf("wandertest: %s does not start: %v", m.name, err)
	}
	m.run = &run{node: n, killed: make(chan struct{})}
}

// Stop stops a member as an operator does: it passes on what it holds, and its grants are lost ([wander.ErrLost]).
func (m *Member) Stop() { m.end(func(r *run) { _ = r.node.Close(context.Background()) }) }

// Kill ends a member as SIGKILL does: nobody is told. Programs hear nothing, and their grants end at their deadlines. The group replaces the token that
// the member holds when no program of it can still run, if somebody wants the token.
func (m *Member) Kill() {
	m.end(func(r *run) {
		close(r.killed)
		m.socket.SetCut(true)
		r.node.Abandon()
	})
}

// end ends the member that runs, if one does.
func (m *Member) end(how func(*run)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.run != nil {
		how(m.run)
		m.run = nil
	}
}

// Cut cuts a running member off from all others.
func (m *Member) Cut() { m.setCut(true) }

// Join ends what Cut began.
func (m *Member) Join() { m.setCut(false) }

func (m *Member) setCut(cut bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.run != nil {
		m.socket.SetCut(cut)
	}
}

// Acquire implements [wander.Member]: programs call it through a client.
func (m *Member) Acquire(ctx context.Context, r api.AcquireRequest) (api.HeldGrant, error) {
	m.mu.Lock()
	running := m.run
	m.mu.Unlock()
	if running == nil {
		return nil, fmt.Errorf("%w: %s does not run", api.ErrUnavailable, m.name)
	}
	h, err := running.node.Acquire(ctx, r)
	if err != nil {
		return nil, err
	}
	return newHeld(h, running), nil
}

// held is a grant whose holder hears nothing of the death of its daemon, as over a socket.
type held struct {
	api.HeldGrant
	lost chan api.LostReason
}

func newHeld(g api.HeldGrant, of *run) *held {
	h := &held{g, make(chan api.LostReason, 1)}
	go func() {
		defer close(h.lost)
		reason, lost := <-g.Lost()
		select {
		case <-of.killed:
		default:
			if lost {
				h.lost <- reason
			}
		}
	}()
	return h
}

// Lost implements api.HeldGrant.
func (h *held) Lost() <-chan api.LostReason { return h.lost }
