package window_test

import (
	"testing"
	"time"

	"github.com/wandertoken/wander/protocol/window"
)

// BenchmarkNextChange: the windows of a resource are looked at each time that they open and close, and at each configuration. Those
// that never close are looked at for all the days ahead.
func BenchmarkNextChange(b *testing.B) {
	for _, test := range []struct {
		name    string
		windows []string
	}{
		{"One/night", []string{"Mon-Fri 22:00-06:00 Europe/Rome"}},
		{"Eight/night", []string{
			"Mon 22:00-06:00 Europe/Rome", "Tue 22:00-06:00 Europe/Rome", "Wed 22:00-06:00 Europe/Rome", "Thu 22:00-06:00 Europe/Rome",
			"Fri 22:00-06:00 Europe/Rome", "Sat 22:00-06:00 Europe/Rome", "Sun 22:00-06:00 Europe/Rome", "Sat 12:00-14:00 Europe/Rome",
		}},
		{"Eight/always", []string{
			"Mon 00:00-24:00 Europe/Rome", "Tue 00:00-24:00 Europe/Rome", "Wed 00:00-24:00 Europe/Rome", "Thu 00:00-24:00 Europe/Rome",
			"Fri 00:00-24:00 Europe/Rome", "Sat 00:00-24:00 Europe/Rome", "Sun 00:00-24:00 Europe/Rome", "Sat 12:00-14:00 Europe/Rome",
		}},
		{"Eight/zones", []string{
			"Mon-Sun 00:00-12:00 Europe/Rome", "Mon-Sun 10:00-24:00 Europe/London", "Mon 22:00-06:00 America/New_York", "Tue 22:00-06:00 Asia/Kolkata",
			"Wed 22:00-06:00 Australia/Sydney", "Thu 22:00-06:00 America/Nuuk", "Fri 22:00-06:00 Asia/Gaza", "Sat 12:00-14:00 Pacific/Chatham",
		}},
	} {
		var l window.Windows
		for _, text := range test.windows {
			l = append(l, parse(b, text))
		}
		from := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
		b.Run(test.name, func(b *testing.B) {
			for range b.N {
				l.NextChange(from)
			}
		})
	}
}
