package node

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
)

// TestTunnelError_Each_SaysHow: a program that copies learns whether its session has ended, in whatever way.
func TestTunnelError_Each_SaysHow(t *testing.T) {
	for _, err := range []error{client.ErrNotOpen, client.ErrStreamCut, client.ErrLost, &quic.IdleTimeoutError{}, &quic.ApplicationError{}, &quic.StatelessResetError{}} {
		assert.ErrorIs(t, tunnelError(err), api.ErrNoSession, err)
	}
	assert.ErrorIs(t, tunnelError(client.ErrNoTarget), api.ErrBadRequest)
	for _, err := range []error{client.ErrTarget, client.ErrTooManyCon, context.DeadlineExceeded, os.ErrDeadlineExceeded} {
		assert.ErrorIs(t, tunnelError(err), api.ErrUnavailable, err)
	}
}

// TestUnreached_TextOfAnother_Plain: what the other end says as it closes the connection does not speak to the operator's terminal.
func TestUnreached_TextOfAnother_Plain(t *testing.T) {
	g := newGates(nil, &limiter{}, slog.New(slog.DiscardHandler))
	l := &gateLink{}
	g.links["db"] = l
	g.failed(l, &quic.ApplicationError{Remote: true, ErrorCode: 7, ErrorMessage: "\x1b]0;mine\a\u009b2J\r\nok " + strings.Repeat("ü", maxReason)})
	text := g.unreached()["db"]
	assert.Contains(t, text, "?]0;mine??2J??ok ü")
	assert.True(t, utf8.ValidString(text))
	assert.LessOrEqual(t, len(text), maxReason)
	assert.GreaterOrEqual(t, len(text), maxReason-1)
}

// TestUnreached_GateSilent_IsNoPeer: to the transport a gate is a peer, and to an operator it is not.
func TestUnreached_GateSilent_IsNoPeer(t *testing.T) {
	assert.Equal(t, "the gate does not answer", unreachedText(transport.ErrUnresponsive))
	assert.Equal(t, "the gate does not answer: nobody listens there", unreachedText(transport.ErrAbsent))
	assert.Equal(t, "another gate answered", unreachedText(errors.New("another gate answered")))
}

// TestGates_OpenTwice_SessionEndsOnce: a gate that says OPEN again after the member has signed out opens nothing.
func TestGates_OpenTwice_SessionEndsOnce(t *testing.T) {
	g := newGates(nil, &limiter{}, slog.New(slog.DiscardHandler))
	g.engine = newEngine(&Node{}, nil, nil)
	v, opens := &gateVisit{resource: "db", over: make(chan struct{})}, wire.AnswerBody{Answer: gate.OpenAnswer{Session: 7}}
	g.say(1, v, opens, nil)
	assert.True(t, v.isOpen)
	g.cut(v)
	g.say(1, v, opens, nil)
	assert.False(t, v.isOpen)
	assert.NotPanics(t, func() { g.say(1, v, wire.AnswerBody{}, nil) })
	await.Next(t, "the end of the streams", v.over)
}

// TestGates_LearnWithoutEnd_GateWaits: what a gate tells does not pile up before the engine.
func TestGates_LearnWithoutEnd_GateWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &Node{done: make(chan struct{})}
		n.engine = newEngine(n, nil, nil) // not begun: everything waits
		learned := make(chan struct{})
		go func() {
			n.learnFromGate(nil, nil, nil)
			close(learned)
		}()
		synctest.Wait()
		select {
		case <-learned:
			assert.Fail(t, "it does not wait")
		default:
		}
		close(n.done)
		<-learned
	})
}

// TestGates_ConfigurationWithTheSameGate_ToldAgain: the member may have known another configuration, and another gate, when it was told.
func TestGates_ConfigurationWithTheSameGate_ToldAgain(t *testing.T) {
	ca, err := signature.Generate(rand.Reader)
	require.NoError(t, err)
	pub := ca.Public().Bytes()
	c, err := group.Settings{Version: 1, Name: "g", Issued: time.Now(), Resources: []group.Resource{{
		Name: "db", Params: policy.Params{OperationTime: time.Second, MembersMax: 2}, Gate: group.Gate{Member: ident.Member{9}, Address: "gate.example.org:1"},
	}}}.WithDefaults().Sign(ident.GroupOf(pub[:]), ca)
	require.NoError(t, err)

	g := newGates(func(ctx context.Context, _ gateTarget) (*client.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}, &limiter{}, slog.New(slog.DiscardHandler))
	n := &Node{done: make(chan struct{})}
	g.engine = newEngine(n, nil, nil) // not begun: everything waits
	g.configure(c)
	assert.Empty(t, g.engine.backlog, "nothing is known yet")
	for _, conn := range []*client.Conn{nil, {}} {
		g.mu.Lock()
		g.links["db"].conn = conn
		g.mu.Unlock()
		g.engine.backlog = nil
		g.configure(c)
		require.Len(t, g.engine.backlog, 1)
		assert.Equal(t, member.GateReachable{Resource: "db", Is: conn != nil, Gate: ident.Member{9}, Address: "gate.example.org:1"}, g.engine.backlog[0].input)
	}
	g.close() // ends the dial, after which nobody asks the member, of which there is none here
	close(n.done)
}
