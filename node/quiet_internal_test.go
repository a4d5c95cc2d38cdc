package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/clock"
)

func TestQuietness_FramesComeAndGo_ChangesAreTold(t *testing.T) {
	var q quietness
	at := func(d time.Duration) clock.Instant { return clock.Instant(time.Hour + d) }
	q.at = at(0)
	assert.True(t, q.changed(at(2*time.Second), 2*quietFrames))
	assert.True(t, q.quiet)
	assert.False(t, q.changed(at(4*time.Second), 4*quietFrames))
	assert.True(t, q.changed(at(5*time.Second), 5*quietFrames+1))
	assert.False(t, q.quiet)
	assert.False(t, q.changed(at(5*time.Second), 5*quietFrames+1), "at the same instant")
	assert.True(t, q.changed(at(6*time.Second), 5*quietFrames+2))
	assert.True(t, q.quiet)
}
