package main

import (
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/wandertoken/wander/protocol/duration"
)

// span is a duration as people write it: "4s", "100ms", "1h30m" or, before
// those, days: "90d", "1d12h". It is a flag value and a value in TOML files; a
// bare number, whose unit nobody can know, is refused.
type span struct{ time.Duration }

// UnmarshalText reads a duration.
func (s *span) UnmarshalText(text []byte) error {
	d, err := duration.Parse(string(text))
	if err != nil {
		return err
	}
	s.Duration = d
	return nil
}

// String is what was set.
func (s span) String() string {
	if s.Duration == 0 {
		return ""
	}
	return duration.Format(s.Duration)
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
