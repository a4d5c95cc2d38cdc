package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/wandertoken/wander/protocol/duration"
)

// Span is a duration as people write it: "4s", "100ms", "1h30m" or, before
// those, days: "90d", "1d12h". It is a flag value and a value in TOML files; a
// bare number, whose unit nobody can know, is refused.
type Span struct{ time.Duration }

// UnmarshalText reads a duration.
func (s *Span) UnmarshalText(text []byte) error {
	d, err := duration.Parse(string(text))
	if err != nil {
		return err
	}
	s.Duration = d
	return nil
}

// String is what was set.
func (s Span) String() string {
	if s.Duration == 0 {
		return ""
	}
	return duration.Format(s.Duration)
}

// Set reads a duration from the command line.
func (s *Span) Set(text string) error { return s.UnmarshalText([]byte(text)) }

// Type is what help calls such a value.
func (s *Span) Type() string { return "duration" }

// PositiveSpan returns a flag value that sets s and refuses 0, for a flag whose
// absence means something.
func PositiveSpan(s *Span) pflag.Value { return positiveSpan{s} }

type positiveSpan struct{ *Span }

// Set reads a duration above 0.
func (p positiveSpan) Set(text string) error {
	if err := p.Span.Set(text); err != nil {
		return err
	}
	if p.Duration <= 0 {
		return errors.New("must be greater than 0")
	}
	return nil
}

// DurationVar adds a flag for a time.Duration that is written as a Span.
func DurationVar(f *pflag.FlagSet, p *time.Duration, name string, value time.Duration, usage string) {
	*p = value
	f.Var(durationFlag{p}, name, usage)
}

type durationFlag struct{ *time.Duration }

// String is what was set; empty for nothing.
func (d durationFlag) String() string {
	if d.Duration == nil {
		return ""
	}
	return Span{*d.Duration}.String()
}

// Set reads a duration from the command line.
func (d durationFlag) Set(text string) error {
	var s Span
	err := s.Set(text)
	*d.Duration = s.Duration
	return err
}

// Type is what help calls such a value.
func (d durationFlag) Type() string { return "duration" }

// ParseShare reads a ratio: 0.05 or "5%".
func ParseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) {
		return 0, fmt.Errorf("%q: must be a ratio, for example \"5%%\" or 0.05", text)
	}
	if percent {
		v /= 100
	}
	return v, nil
}
