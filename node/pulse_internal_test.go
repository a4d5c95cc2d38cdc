package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/clock"
)

// The pulse is late from when it is due until the beat after the next, so that
// nothing of what was due in a pause is judged before it.
func TestPulse(t *testing.T) {
	const second = time.Second
	var p pulse
	at := func(d time.Duration) clock.Instant { return clock.Instant(time.Hour + d) }
	assert.Zero(t, p.late(at(0)), "it has not begun")
	p.beat(at(0), second)
	assert.Zero(t, p.late(at(0)))
	assert.Zero(t, p.late(at(second)))
	assert.Equal(t, 9*time.Second, p.late(at(9*time.Second+second)))
	p.beat(at(9*time.Second+second), second)
	assert.Equal(t, 9*time.Second, p.late(at(9*time.Second+second)))
	p.beat(at(9*time.Second+2*second), second)
	assert.Zero(t, p.late(at(9*time.Second+2*second)))
	p.beat(at(9*time.Second), second) // early
	assert.Zero(t, p.late(at(9*time.Second)))
}
