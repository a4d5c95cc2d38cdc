package cli

import (
	"fmt"
	"time"
)

// Instant is a moment as people write it: "2026-01-05T22:00:00+01:00", or "2026-01-05", which is midnight UTC. It is a flag value
// and a value in TOML files.
type Instant struct{ time.Time }

// UnmarshalText reads a moment.
func (i *Instant) UnmarshalText(text []byte) error {
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, string(text)); err == nil {
			i.Time = t.UTC()
			return nil
		}
	}
	return fmt.Errorf("%q is not a moment: write for example \"2026-01-05\" (midnight UTC) or \"2026-01-05T22:00:00+01:00\"", text)
}

// String is what was set; empty for nothing.
func (i Instant) String() string {
	if i.IsZero() {
		return ""
	}
	return i.Format(time.RFC3339)
}

// Set reads a moment from the command line.
func (i *Instant) Set(text string) error { return i.UnmarshalText([]byte(text)) }

// Type is what help calls such a value.
func (i *Instant) Type() string { return "time" }
