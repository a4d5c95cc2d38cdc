package duration_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/duration"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"4s": 4 * time.Second, "90d": 90 * duration.Day, "1d12h": 36 * time.Hour, "0s": 0, "0d": 0, "-1s": -time.Second,
		"1h30m": 90 * time.Minute, "36500d": 36500 * duration.Day,
	} {
		d, err := duration.Parse(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, d, text)
	}
	for _, text := range []string{"", "4", "d", "d4h", "-1d", "1d-4h", "0d-4h", "1.5d", "36501d", "1d1d", "soon", "99999999999d"} {
		_, err := duration.Parse(text)
		assert.ErrorIs(t, err, duration.ErrSyntax, text)
	}
}

func TestFormat(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"30d": 720 * time.Hour, "1d": duration.Day, "1d12h": 36 * time.Hour, "1d30m": duration.Day + 30*time.Minute,
		"23h59m59s": duration.Day - time.Second, "12h": 12 * time.Hour, "1h30m": 90 * time.Minute, "2m": 2 * time.Minute,
		"10s": 10 * time.Second, "1h0m10s": time.Hour + 10*time.Second, "100ms": 100 * time.Millisecond, "0s": 0,
		"-1h": -time.Hour, "-720h0m0s": -720 * time.Hour,
	} {
		assert.Equal(t, want, duration.Format(d))
	}
}

// TestFormat_Any_Parsed: Parse reads what Format writes.
func TestFormat_Any_Parsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		longest := int64(36500 * duration.Day)
		d := time.Duration(rapid.Int64Range(-longest, longest).Draw(t, "d"))
		if rapid.Bool().Draw(t, "round") {
			d = d.Truncate(time.Hour)
		}
		got, err := duration.Parse(duration.Format(d))
		require.NoError(t, err)
		require.Equal(t, d, got)
	})
}

func TestAbout(t *testing.T) {
	for d, want := range map[time.Duration]string{
		72*time.Hour + time.Minute: "3d", 36*time.Hour + time.Second: "1d12h", 12*time.Hour + 30*time.Second: "12h",
		2*time.Minute + time.Second: "2m", 119 * time.Second: "1m59s", 1500 * time.Millisecond: "1s",
	} {
		assert.Equal(t, want, duration.Format(duration.About(d)))
	}
}
