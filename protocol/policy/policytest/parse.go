package policytest

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// parseAgent reads the parameters of an agent line.
func parseAgent(words []string) (p policy.Params, seed uint64, err error) {
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "preset":
			p.Preset = value
		case "seed":
			seed, err = number(value)
		default:
			err = setParameter(&p, name, value)
		}
		if err != nil {
			return p, seed, err
		}
	}
	return p, seed, nil
}

func setParameter(p *policy.Params, name, value string) error {
	i := slices.IndexFunc(policy.Parameters, func(p policy.Parameter) bool { return p.Name == name })
	if i < 0 {
		return fmt.Errorf("%w: no parameter %q", ErrScript, name)
	}
	n, err := wire(policy.Parameters[i].Quantity, value)
	if err == nil {
		policy.Parameters[i].SetWire(p, n)
	}
	return err
}

// wire reads a parameter as people write it, in the group configuration's unit.
func wire(q policy.Quantity, value string) (uint64, error) {
	switch q {
	case policy.Span:
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 || d%time.Millisecond != 0 {
			return 0, fmt.Errorf("%w: %q is no span of whole milliseconds", ErrScript, value)
		}
		return uint64(d / time.Millisecond), nil
	case policy.Thousandths:
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || f < 0 || f > policy.MaxRatio {
			return 0, fmt.Errorf("%w: %q is no ratio", ErrScript, value)
		}
		return uint64(f*1000 + 0.5), nil
	}
	return number(value)
}

func number(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %q is no number", ErrScript, text)
	}
	return n, nil
}

// events are the words for events, and which of them tell of a token.
var events = map[string]struct {
	event   policy.Event
	ofToken bool
}{
	"arrival":       {policy.Event{Kind: policy.Arrival}, true},
	"belated":       {policy.Event{Kind: policy.Arrival, Belated: true}, true},
	"generated":     {policy.Event{Kind: policy.Generated}, true},
	"resumed":       {policy.Event{Kind: policy.Resumed}, true},
	"running":       {policy.Event{Kind: policy.Running}, true},
	"away":          {policy.Event{Kind: policy.Away}, true},
	"recalled":      {policy.Event{Kind: policy.Recalled}, true},
	"recalled-run":  {policy.Event{Kind: policy.Recalled, Operated: true}, true},
	"timer":         {policy.Event{Kind: policy.Timer}, false},
	"ended":         {policy.Event{Kind: policy.OperationEnded, Operated: true}, true},
	"did-not-begin": {policy.Event{Kind: policy.OperationEnded}, true},
	"demand":        {policy.Event{Kind: policy.DemandChanged, Demand: true}, false},
	"no-demand":     {policy.Event{Kind: policy.DemandChanged}, false},
	"delivered":     {policy.Event{Kind: policy.PassEnded, Outcome: policy.Delivered}, true},
	"returned":      {policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned}, true},
	"abandoned":     {policy.Event{Kind: policy.PassEnded, Outcome: policy.Abandoned}, true},
	"message":       {policy.Event{Kind: policy.Message}, false},
	"neighbour":     {policy.Event{Kind: policy.Neighbour}, false},
	"silent":        {policy.Event{Kind: policy.Silent}, false},
	"unsent":        {policy.Event{Kind: policy.Unsent}, false},
	"queued":        {policy.Event{Kind: policy.Queued, Members: 1}, false},
	"none-queued":   {policy.Event{Kind: policy.Queued}, false},
}

// parseEvent reads an event line: time, event and what belongs to it.
func parseEvent(words []string) (clock.Instant, policy.Event, error) {
	at, err := time.ParseDuration(words[0])
	if err != nil || len(words) < 2 {
		return 0, policy.Event{}, fmt.Errorf("%w: want a time and an event", ErrScript)
	}
	known, ok := events[words[1]]
	if !ok {
		return 0, policy.Event{}, fmt.Errorf("%w: no event %q", ErrScript, words[1])
	}
	event, rest := known.event, words[2:]
	switch {
	case known.ofToken:
		err = parseToken(rest, &event)
	case (event.Kind == policy.Silent || event.Kind == policy.Unsent) && len(rest) == 1:
		event.From, err = member(rest[0])
	case event.Kind == policy.Silent || event.Kind == policy.Unsent:
		err = fmt.Errorf("%w: want one member, like M", ErrScript)
	case event.Kind == policy.Message:
		event.From, event.Body, err = parseMessage(rest)
	case event.Kind == policy.Neighbour:
		event.From, event.Members, err = parseNeighbour(rest)
	case len(rest) > 0:
		err = fmt.Errorf("%w: %q says too much", ErrScript, words[1])
	}
	if event.Kind == policy.Recalled {
		event.At, at = clock.Instant(at), 0
	}
	return clock.Instant(at), event, err
}

// parseToken reads b@2 by=M hop=3 field=c0ff from=M skipped=M, of which the first is needed.
func parseToken(words []string, e *policy.Event) (err error) {
	if len(words) == 0 || len(words[0]) < 3 || words[0][1] != '@' {
		return fmt.Errorf("%w: want a token like b@2", ErrScript)
	}
	t := &e.Token
	t.ID = ident.Token{words[0][0]}
	t.Born, err = number(words[0][2:])
	for _, w := range words[1:] {
		if err != nil {
			break
		}
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "by":
			t.Generator, err = member(value)
		case "hop":
			t.Hop, err = number(value)
		case "field":
			t.Field, err = field(value)
		case "from":
			e.From, err = member(value)
		case "skipped":
			e.Skipped, err = member(value)
		default:
			err = fmt.Errorf("%w: tokens have no %q", ErrScript, name)
		}
	}
	return err
}

func parseMessage(words []string) (from ident.Member, body []byte, err error) {
	if len(words) != 2 {
		return from, nil, fmt.Errorf("%w: want a message like M c0ff", ErrScript)
	}
	if from, err = member(words[0]); err == nil {
		body, err = field(words[1])
	}
	return from, body, err
}

// parseNeighbour reads [M] n=5.
func parseNeighbour(words []string) (next ident.Member, members int, err error) {
	if len(words) == 2 {
		next, err = member(words[0])
		words = words[1:]
	}
	if err != nil || len(words) != 1 || !strings.HasPrefix(words[0], "n=") {
		return next, 0, fmt.Errorf("%w: want a neighbour like M n=5", ErrScript)
	}
	n, err := number(words[0][len("n="):])
	return next, int(n), err
}

func member(text string) (ident.Member, error) {
	if len(text) != 1 {
		return ident.Member{}, fmt.Errorf("%w: %q is no member", ErrScript, text)
	}
	return ident.Member{text[0]}, nil
}

func field(text string) ([]byte, error) {
	b, err := hex.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %q is no hex", ErrScript, text)
	}
	return b, nil
}
