package driver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A reading has the wall clock alone: two readings with the monotonic clock in them are never in the order that a clock which was set back shows.
func TestReading_WallClock_WithoutMonotonic(t *testing.T) {
	now := time.Now()
	c := Config{Now: func() time.Time { return now }}
	assert.NotEqual(t, now.String(), now.Round(0).String(), "the test has a monotonic clock")
	assert.Equal(t, now.Round(0).String(), c.reading().Wall.String())
}
