// Package duration reads and writes durations as people do: "100ms", "1h30m" and, before
// those, days: "30d", "1d12h". What Format writes, Parse reads.
package duration

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrSyntax says that a text is not a duration.
var ErrSyntax = errors.New("not a duration")

// Day is 24 hours.
const Day = 24 * time.Hour

// maxDays keeps days within what a time.Duration holds.
const maxDays = 100 * 365

// Parse reads a duration. Days are whole, come first and are not negative. A bare
// number, whose unit nobody can know, is refused. Error: ErrSyntax.
func Parse(text string) (time.Duration, error) {
	total, rest := time.Duration(0), text
	if days, after, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 32)
		if err != nil || n > maxDays {
			return 0, wrong(text)
		}
		total = time.Duration(n) * Day
		if rest = after; rest == "" {
			return total, nil
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 && rest != text {
		return 0, wrong(text)
	}
	return total + d, nil
}

func wrong(text string) error {
	return fmt.Errorf("%q is %w: write for example \"4s\", \"100ms\" or \"90d\"", text, ErrSyntax)
}

// Format writes a duration: a day and more in days, and without units that are 0.
func Format(d time.Duration) string {
	if d < 0 {
		if rest := Format(-d); -d > 0 && -d < Day {
			return "-" + rest
		}
		return d.String() // which Parse reads too: days are not negative
	}
	days, rest := d/Day, d%Day
	if days == 0 {
		return short(d)
	}
	if rest == 0 {
		return fmt.Sprintf("%dd", days)
	}
	return fmt.Sprintf("%dd%s", days, short(rest))
}

// short leaves out minutes and seconds that are 0 behind a larger unit.
func short(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// About is a duration as precise as people want to read it: in days, below two days in
// minutes, and below two minutes in seconds.
func About(d time.Duration) time.Duration {
	switch {
	case d >= 2*Day:
		return d.Truncate(Day)
	case d >= 2*time.Minute:
		return d.Truncate(time.Minute)
	}
	return d.Truncate(time.Second)
}
