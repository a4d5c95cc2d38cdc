package forecast_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/forecast"
	"github.com/wandertoken/wander/protocol/clock"
)

func TestNext_OwnTurns_TheirReturns(t *testing.T) {
	turns := []clock.Instant{at(100), at(110), at(130)}
	_, ok := forecast.Next(turns)
	assert.False(t, ok, "two returns")
	_, ok = forecast.Next(nil)
	assert.False(t, ok)
	p, ok := forecast.Next(append(turns, at(160), at(200)))
	require.True(t, ok)
	assert.Equal(t, forecast.Prediction{P50: 30 * time.Second, P95: 40 * time.Second, Basis: forecast.Returns}, p, "of 10, 20, 30 and 40 s")
}
