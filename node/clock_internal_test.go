package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A reading has the wall clock alone: windows that have closed as the clock was set back are to be seen.
func TestReading_WallClock_WithoutMonotonic(t *testing.T) {
	now := time.Now()
	n := &Node{cfg: Config{Now: func() time.Time { return now }}}
	assert.NotEqual(t, now.String(), now.Round(0).String(), "the test has a monotonic clock")
	assert.Equal(t, now.Round(0).String(), n.now().Wall.String())
}
