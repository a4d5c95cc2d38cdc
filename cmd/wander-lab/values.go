package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/sim/circulation"
)

// share is a probability in a TOML file: 0.05 or "5%".
type share struct{ float64 }

// UnmarshalText reads a share; its range is the simulator's to check.
func (s *share) UnmarshalText(text []byte) (err error) {
	s.float64, err = cli.ParseShare(string(text))
	return err
}

// latency is a distribution of time spans in a TOML file.
type latency struct{ circulation.Latency }

// latencyForms are how a latency is written.
const latencyForms = `"40ms", "uniform 20ms 60ms", "exponential 40ms" or "quantiles 10ms 20ms 90ms"`

// UnmarshalText reads a latency.
func (l *latency) UnmarshalText(text []byte) error {
	words := strings.Fields(string(text))
	kind := "constant"
	if len(words) > 1 {
		kind, words = words[0], words[1:]
	}
	spans, ok := parseSpans(words)
	switch {
	case !ok:
	case kind == "constant" && len(spans) == 1:
		l.Latency = circulation.Constant(spans[0])
		return nil
	case kind == "uniform" && len(spans) == 2:
		l.Latency = circulation.Uniform(spans[0], spans[1])
		return nil
	case kind == "exponential" && len(spans) == 1:
		l.Latency = circulation.Exponential(spans[0])
		return nil
	case kind == "quantiles":
		l.Latency = circulation.Quantiles(spans)
		return nil
	}
	return fmt.Errorf("%q: must be a distribution of durations, for example %s", text, latencyForms)
}

func parseSpans(words []string) (spans []time.Duration, ok bool) {
	for _, w := range words {
		d, err := duration.Parse(w)
		if err != nil {
			return nil, false
		}
		spans = append(spans, d)
	}
	return spans, true
}

// demand is when members want the resource, in a TOML file.
type demand struct{ circulation.Demand }

// UnmarshalText reads a demand.
func (d *demand) UnmarshalText(text []byte) error {
	words := strings.Fields(string(text))
	switch {
	case len(words) == 1 && words[0] == "always":
		d.Demand = circulation.Always()
		return nil
	case len(words) == 2 && words[0] == "every":
		if mean, err := duration.Parse(words[1]); err == nil && mean > 0 {
			d.Demand = circulation.Every(mean)
			return nil
		}
	}
	return fmt.Errorf("%q: must be \"always\" or, for example, \"every 10m\"", text)
}
