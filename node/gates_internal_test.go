package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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
