package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// span is a duration as people write it: "4s", "100ms", "1h30m" or, before
// those, days: "90d", "1d12h". It is a flag value and a value in TOML files; a
// bare number, whose unit nobody can know, is refused.
type span struct{ time.Duration }

// maxDays keeps days within what a time.Duration holds.
const maxDays = 100 * 365

// UnmarshalText reads a duration.
func (s *span) UnmarshalText(text []byte) error {
	d, ok := parseSpan(string(text))
	if !ok {
		return fmt.Errorf("%q is not a duration: write for example \"4s\", \"100ms\" or \"90d\"", text)
	}
	s.Duration = d
	return nil
}

func parseSpan(text string) (time.Duration, bool) {
	var total time.Duration
	if days, rest, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 32)
		if err != nil || n > maxDays {
			return 0, false
		}
		total = time.Duration(n) * 24 * time.Hour
		if text = rest; text == "" {
			return total, true
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 && total > 0 {
		return 0, false
	}
	return total + d, true
}

// String is what was set.
func (s span) String() string {
	if s.Duration == 0 {
		return ""
	}
	return s.Duration.String()
}

// Set reads a duration from the command line.
func (s *span) Set(text string) error { return s.UnmarshalText([]byte(text)) }

// Type is what help calls such a value.
func (s *span) Type() string { return "duration" }

// positiveSpan is a flag whose absence means something: what is given is not 0.
type positiveSpan struct{ *span }

// Set reads a duration above 0.
func (p positiveSpan) Set(text string) error {
	if err := p.span.Set(text); err != nil {
		return err
	}
	if p.Duration <= 0 {
		return errors.New("more than 0 is wanted")
	}
	return nil
}

// durationVar is a flag for a time.Duration that is written as a span.
func durationVar(f *pflag.FlagSet, p *time.Duration, name string, value time.Duration, usage string) {
	*p = value
	f.Var(durationFlag{p}, name, usage)
}

type durationFlag struct{ *time.Duration }

// String is what was set; empty for nothing.
func (d durationFlag) String() string {
	if d.Duration == nil {
		return ""
	}
	return span{*d.Duration}.String()
}

// Set reads a duration from the command line.
func (d durationFlag) Set(text string) error {
	var s span
	err := s.Set(text)
	*d.Duration = s.Duration
	return err
}

// Type is what help calls such a value.
func (d durationFlag) Type() string { return "duration" }
