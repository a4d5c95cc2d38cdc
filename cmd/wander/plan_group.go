package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/configfile"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/sim/plan"
)

// takeGroup sets what the group's file says of the resource, but for what a flag says.
func (f *planFlags) takeGroup(env *environment, r *plan.Request, given func(flag string) bool) error {
	resource, params, err := f.readGroup(env)
	if err != nil {
		return err
	}
	flags := r.Params
	r.Params = params
	for _, v := range []struct {
		flag     string
		to, from *time.Duration
	}{
		{"operation-time", &r.Params.OperationTime, &flags.OperationTime}, {"skip-delay", &r.Params.SkipDelay, &flags.SkipDelay},
		{"min-interval", &r.Params.MinInterval, &flags.MinInterval}, {"target-interval", &r.Params.TargetInterval, &flags.TargetInterval},
	} {
		if given(v.flag) {
			*v.to = *v.from
		}
	}
	if given("members-max") {
		r.Params.MembersMax = flags.MembersMax
	}
	if given("policy") || given("preset") || f.compare {
		r.Params.Preset = flags.Preset
	}
	if !given("policy") {
		r.Policy = resource.Policy
	}
	if len(f.weights) == 0 {
		if err := r.SetClasses(params.Weights); err != nil {
			return planError(err)
		}
	}
	if len(f.windows) == 0 {
		r.Windows = resource.Windows
	}
	if resource.Slots > 1 {
		f.note = fmt.Sprintf("%s has %d slots, each with a token of its own; one of them was simulated, with the programs of all members", resource.Name, resource.Slots)
	}
	return nil
}

// readGroup reads a resource of the group's file.
func (f *planFlags) readGroup(env *environment) (r group.Resource, params policy.Params, err error) {
	text, err := cli.ReadLimited(env.In, f.group, configfile.MaxSize)
	if err != nil {
		return r, params, cli.ConfigError(err, "")
	}
	s, err := parseGroupFile(f.group, text, "group")
	if err != nil {
		return r, params, err
	}
	var names []string
	for _, r := range s.Resources {
		names = append(names, r.Name)
	}
	i := slices.Index(names, f.resource)
	switch {
	case len(names) == 0:
		return r, params, cli.ConfigError(fmt.Errorf("%s has no resource", f.group), "")
	case f.resource == "" && len(names) > 1:
		return r, params, cli.UsageError("%s has several resources: name one with --resource, of %s", f.group, strings.Join(names, ", "))
	case f.resource == "":
		i = 0
	case i < 0:
		return r, params, cli.UsageError("--resource %q is not in %s, which has %s", f.resource, f.group, strings.Join(names, ", "))
	}
	r = s.Resources[i]
	return r, s.PolicyParams(r), nil
}
