package fuzz

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/window"
)

// FuzzWindow: windows as operators write them, and the rules of time zones. What is accepted is written as it was meant, and opens
// and closes where it says.
//
//fuzz:of protocol/window
func FuzzWindow(f *testing.F) { targets["FuzzWindow"].Fuzz(f) }

func checkWindow(t require.TestingT, text []byte) bool {
	w, err := window.Parse(string(text), window.ParseZone)
	if err != nil {
		return false
	}
	require.NoError(t, w.Validate())
	again, err := window.Parse(w.String(), window.ParseZone)
	require.NoError(t, err)
	require.Equal(t, w, again)
	zone, err := window.ParseZone(w.Zone.String())
	require.NoError(t, err)
	require.Equal(t, w.Zone, zone)
	l, from := window.Windows{w}, time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
	for range 4 {
		next, ok := l.NextChange(from)
		if !ok {
			break
		}
		require.True(t, next.After(from))
		require.NotEqual(t, l.Open(from), l.Open(next))
		from = next
	}
	return true
}

func windowSeeds() map[string][]byte {
	return map[string][]byte{
		"good-night":   []byte("Mon-Fri 22:00-06:00 CET-1CEST,M3.5.0,M10.5.0/3"),
		"good-day":     []byte("Sat,Sun 00:00-24:00 UTC"),
		"good-offset":  []byte("Fri-Mon 01:30-02:00 -05:45"),
		"good-julian":  []byte("Wed 02:00-02:30 XXX-2<+01>-1,0/0,J365/23"),
		"good-far":     []byte("Thu 23:00-01:00 EET-2EEST,M3.4.4/50,M10.4.4/-50"),
		"bad-name":     []byte("Mon 22:00-06:00 Europe/Rome"),
		"bad-no-zone":  []byte("Mon 22:00-06:00"),
		"bad-no-dates": []byte("Mon 22:00-06:00 CET-1CEST"),
		"bad-hour-25":  []byte("Mon 25:00-06:00 UTC"),
		"bad-empty":    {},
	}
}
