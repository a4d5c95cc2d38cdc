package demo

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering/papers"
)

const (
	// patience is by how much longer than by default durable members wait
	// before they make a new token. In a group as small as this the journal
	// paper's constants make a spurious token about once a round, and durable
	// members lose no token.
	patience = 20

	// parallel is how many operations at once a policy with many tokens is to
	// bring about.
	parallel = 2
)

// params are the constants of the demo's resource: the paper's, scaled to the
// group, and of the optional ones only those that the preset uses.
func (o Options) params() policy.Params {
	p := policy.Params{
		Preset: o.Preset, OperationTime: o.OperationTime, MembersMax: o.Members,
		SkipDelay: max(time.Millisecond, min(group.DefaultSkipDelay, o.OperationTime/10).Truncate(time.Millisecond)),
	}
	if !o.Volatile && o.uses("regeneration_mean") {
		mean := papers.RegenerationMean(papers.MinInterval(p.OperationTime, p.MembersMax), p.MembersMax)
		p.RegenerationMean = (patience * time.Duration(mean)).Truncate(time.Millisecond)
	}
	if o.uses("target_interval") {
		p.TargetInterval = (o.OperationTime * time.Duration(o.Members) / parallel).Truncate(time.Millisecond)
	}
	return p
}

// uses reports whether the preset has a use for an optional parameter.
func (o Options) uses(parameter string) bool {
	for i, preset := range catalog.Presets(o.Policy) {
		if preset.Name == o.Preset || i == 0 && o.Preset == "" {
			return slices.Contains(preset.Uses, parameter)
		}
	}
	return false
}
