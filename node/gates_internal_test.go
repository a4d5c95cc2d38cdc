package node

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
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
