package node

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
)

// TestPauses_Probes_GrowAndDiffer: members do not dial a gate together, and a gate that is away for long is dialled seldom.
func TestPauses_Probes_GrowAndDiffer(t *testing.T) {
	p := newProbes()
	var last []time.Duration
	for range 12 {
		last = append(last, p.next())
	}
	assert.Less(t, last[0], probeFirst)
	assert.GreaterOrEqual(t, last[0], probeFirst/2)
	for i, pause := range last {
		most := min(probeFirst<<i, probeMost)
		assert.LessOrEqual(t, pause, most)
		assert.GreaterOrEqual(t, pause, most/2)
	}
	assert.NotEqual(t, last[10], last[11], "drawn at random")
	p.connected(gateSettled)
	assert.Less(t, p.next(), probeFirst)
	p.next()
	p.connected(gateSettled - 1)
	assert.GreaterOrEqual(t, p.next(), probeFirst, "a gate that drops its connections at once")
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
