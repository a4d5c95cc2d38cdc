package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInstant_Set_DayOrTime(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2026-01-05":                time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC),
		"2026-01-05T22:00:00Z":      time.Date(2026, 1, 5, 22, 0, 0, 0, time.UTC),
		"2026-01-05T22:00:00+01:00": time.Date(2026, 1, 5, 21, 0, 0, 0, time.UTC),
	} {
		var i Instant
		require.NoError(t, i.Set(text), text)
		assert.Equal(t, want, i.Time, text)
	}
	for _, text := range []string{"", "now", "2026-01", "2026-02-30", "22:00", "2026-01-05T22:00", "1767571200"} {
		assert.ErrorContains(t, new(Instant).Set(text), "2026-01-05", text)
	}
	assert.Empty(t, Instant{}.String())
	assert.Equal(t, "2026-01-05T22:00:00Z", Instant{time.Date(2026, 1, 5, 22, 0, 0, 0, time.UTC)}.String())
	assert.Equal(t, "time", new(Instant).Type())
}
