package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/configfile"
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
		if err := setParameter(policy.Parameters[i], params, value); err != nil {
			return cli.UsageError("--set %q: %v", setting, err)
		}
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

// setParameter sets a parameter as the group's file does. Its range is the policy's to
// check, but a number of 0, which would stand for nothing being set, is refused.
func setParameter(p policy.Parameter, params *policy.Params, value string) error {
	err := configfile.Set(p.Field(params), value)
	switch zero := p.Wire(params) == 0; {
	case err != nil:
		return err
	case !p.Whole(params):
		return fmt.Errorf("%q: must be a whole number of milliseconds", value)
	case zero && p.Quantity != policy.Flag && p.Quantity != policy.Choice:
		return fmt.Errorf("%s must be greater than 0; leave it out for its default", p.Name)
	}
	return nil
}
