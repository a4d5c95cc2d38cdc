package node

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/protocol/gate"
)

// TestGates_OpenTwice_SessionEndsOnce: a gate that says OPEN again after the member has signed out opens nothing.
func TestGates_OpenTwice_SessionEndsOnce(t *testing.T) {
	g := newGates(nil, &limiter{}, slog.New(slog.DiscardHandler))
	g.engine = newEngine(&Node{}, nil, nil)
	v := &gateVisit{resource: "db", over: make(chan struct{})}
	g.say(1, v, gate.OpenAnswer{Session: 7}, 0)
	assert.True(t, v.isOpen)
	g.cut(v)
	g.say(1, v, gate.OpenAnswer{Session: 7}, 0)
	assert.False(t, v.isOpen)
	assert.NotPanics(t, func() { g.say(1, v, nil, 0) })
	await.Next(t, "the end of the streams", v.over)
}

// TestGates_LearnWithoutEnd_GateWaits: what a gate tells does not pile up before the engine.
func TestGates_LearnWithoutEnd_GateWaits(t *testing.T) {
	n := &Node{done: make(chan struct{})}
	n.engine = newEngine(n, nil, nil) // not begun: everything waits
	learned := make(chan struct{})
	go func() {
		n.learnFromGate(nil, nil, nil)
		close(learned)
	}()
	select {
	case <-learned:
		assert.Fail(t, "it does not wait")
	case <-time.After(50 * time.Millisecond):
	}
	close(n.done)
	await.Next(t, "the end of the wait", learned)
}
