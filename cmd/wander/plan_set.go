package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/internal/groupfile"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/policy"
)

// setParameters sets parameters of a policy from NAME=VALUE, each once, and
// none that has a flag of its own which was given.
func setParameters(params *policy.Params, settings []string, given func(flag string) bool) error {
	seen := map[string]bool{}
	for _, setting := range settings {
		name, value, ok := strings.Cut(setting, "=")
		if !ok {
			return cli.UsageError("--set %q: write NAME=VALUE, for example min_interval=1h", setting)
		}
		i := slices.IndexFunc(policy.Parameters, func(p policy.Parameter) bool { return p.Name == name })
		if i < 0 {
			return cli.UsageError("--set %q: unknown parameter %q; known are %s", setting, name, parameterNames())
		}
		if flag := strings.ReplaceAll(name, "_", "-"); given(flag) {
			return cli.UsageError("--set %q: already set by --%s", setting, flag)
		}
		if seen[name] {
			return cli.UsageError("--set %q: set twice", setting)
		}
		seen[name] = true
		p := policy.Parameters[i]
		n, err := parameterValue(p, value)
		if err != nil {
			return cli.UsageError("--set %q: %v", setting, err)
		}
		p.SetWire(params, n)
	}
	return nil
}

func parameterNames() string {
	var names []string
	for _, p := range policy.Parameters {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// parameterValue is a parameter's number in the group configuration's unit, of
// a value as people write it there. Its range is the policy's to check, but a
// number of 0, which would stand for nothing being set, is refused.
func parameterValue(p policy.Parameter, text string) (n uint64, err error) {
	switch p.Quantity {
	case policy.Span:
		n, err = wholeMilliseconds(text)
	case policy.Thousandths:
		var r groupfile.Ratio
		err = r.UnmarshalText([]byte(text))
		n = uint64(r.Ratio)
	case policy.Flag:
		if text != "true" && text != "false" {
			return 0, fmt.Errorf("%q: must be true or false", text)
		}
		if text == "true" {
			n = 1
		}
		return n, nil
	case policy.Choice:
		i := slices.Index(p.Words(), text)
		if i < 0 {
			return 0, fmt.Errorf("%q: must be one of %s", text, strings.Join(p.Words(), ", "))
		}
		return uint64(i), nil
	case policy.Count:
		if n, err = strconv.ParseUint(text, 10, 31); err != nil {
			err = fmt.Errorf("%q: must be a whole number", text)
		}
	}
	if err == nil && n == 0 {
		err = fmt.Errorf("%s must be greater than 0; leave it out for its default", p.Name)
	}
	return n, err
}

func wholeMilliseconds(text string) (uint64, error) {
	var s cli.Span
	if err := s.UnmarshalText([]byte(text)); err != nil {
		return 0, err
	}
	if s.Duration < 0 || s.Duration%time.Millisecond != 0 {
		return 0, fmt.Errorf("%q: must be a whole number of milliseconds", text)
	}
	return uint64(s.Milliseconds()), nil
}

// parameterText is a number in the group configuration's unit as people write
// it.
func parameterText(p policy.Parameter, n uint64) string {
	switch p.Quantity {
	case policy.Span:
		return duration.Format(time.Duration(n) * time.Millisecond)
	case policy.Thousandths:
		return strconv.FormatFloat(policy.Ratio(n).Float(), 'f', -1, 64)
	case policy.Flag:
		return strconv.FormatBool(n != 0)
	case policy.Choice:
		return p.Word(n)
	}
	return strconv.FormatUint(n, 10)
}
