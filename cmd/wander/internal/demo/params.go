package demo

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/ring"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

const (
	// patience is by how much longer than by default durable members wait
	// before they make a new token. In a group as small as this the journal
	// paper's constants make a spurious token about once a round, a ring waits
	// for whoever is starting again, and durable members lose no token.
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
		p.RegenerationMean = (patience * o.regenerationMean(p)).Truncate(time.Millisecond)
	}
	if o.uses("target_interval") {
		p.TargetInterval = (o.OperationTime * time.Duration(o.Members) / parallel).Truncate(time.Millisecond)
	}
	return p
}

// regenerationMean is what the policy waits for by default.
func (o Options) regenerationMean(p policy.Params) time.Duration {
	if o.Policy == catalog.Ring {
		return ring.Round(p.OperationTime, p.SkipDelay, p.MembersMax)
	}
	return time.Duration(wandering.RegenerationMean(wandering.MinInterval(p.OperationTime, p.MembersMax), p.MembersMax))
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
