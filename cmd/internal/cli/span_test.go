package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSpan_Set_DaysAndUnits(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"4s": 4 * time.Second, "90d": 90 * 24 * time.Hour, "1d12h": 36 * time.Hour, "0s": 0, "0d": 0, "-1s": -time.Second,
		"1h30m": 90 * time.Minute, "36500d": 36500 * 24 * time.Hour,
	} {
		var s Span
		require.NoError(t, s.Set(text), text)
		assert.Equal(t, want, s.Duration, text)
	}
	for _, text := range []string{"", "4", "d", "d4h", "-1d", "1d-4h", "1.5d", "36501d", "1d1d", "soon", "99999999999d"} {
		assert.Error(t, new(Span).Set(text), text)
	}
	assert.Empty(t, Span{}.String())
	assert.Equal(t, "4s", Span{4 * time.Second}.String())
	assert.Equal(t, "30d", Span{720 * time.Hour}.String())
	assert.Equal(t, "duration", new(Span).Type())
}
