// Package catalog makes circulation policies by the name under which the
// group configuration asks for them. Members and the simulator both get theirs
// here, so a policy that is measured is one that runs.
package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/keeper"
	"github.com/wandertoken/wander/protocol/policy/multitoken"
	"github.com/wandertoken/wander/protocol/policy/quorum"
	"github.com/wandertoken/wander/protocol/policy/ring"
	"github.com/wandertoken/wander/protocol/policy/uncoordinated"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/policy/wandering/papers"
)

// The names of the policies.
const (
	// Wandering is one token that walks at random.
	Wandering = "wandering"
	// Multitoken is as many tokens as the target interval needs, all walking at
	// random.
	Multitoken = "multitoken"
	// Ring is one token that goes from member to member in the order of their
	// ids, to those that ask for it.
	Ring = "ring"
	// Uncoordinated is no circulation at all: each member at random times.
	Uncoordinated = "uncoordinated"
)

// Preset is one documented set of rules of a policy.
type Preset struct {
	Name string
	// Uses are the optional parameters that have an effect. Those that are not
	// optional are every policy's.
	Uses []string
	// Kept is that a keeper finds that the token is lost: a rule that the papers lack.
	Kept bool
}

type entry struct {
	presets []Preset // the first is the default
	make    func(policy.Params, policy.Surroundings) (policy.Policy, error)
	several bool                              // programs run at once, by design
	wait    func(policy.Params) time.Duration // LeastWait
}

var entries = map[string]entry{
	Wandering: {
		presets: []Preset{
			{wandering.Fair, []string{"min_interval", "on_silent_holder", "timekeepers", "weights"}, true},
			{wandering.Light, []string{"min_interval", "on_silent_holder"}, true},
			{wandering.Paper, []string{"min_interval", "regeneration_mean"}, false},
			{wandering.Report, []string{"min_interval", "max_interval", "growth_factor", "decay_factor", "generator_rests"}, false},
		},
		make: wandering.New,
		wait: func(p policy.Params) time.Duration {
			if p.Preset == wandering.Light || p.Preset == wandering.Fair {
				return keeper.LeastWait(p)
			}
			if p.MinInterval > 0 {
				return p.MinInterval
			}
			return papers.MinInterval(p.OperationTime, p.MembersMax)
		},
	},
	Multitoken: {
		presets: []Preset{
			{multitoken.Split, []string{"target_interval"}, true},
			{multitoken.T3gj, []string{"target_interval"}, false},
			{multitoken.S3gj, []string{"target_interval"}, false},
			{multitoken.Jittered, []string{"target_interval", "interval_factor", "queue_capacity"}, false},
			{multitoken.Paper, []string{"target_interval", "interval_factor", "queue_capacity"}, false},
		},
		make: func(p policy.Params, in policy.Surroundings) (policy.Policy, error) {
			return multitoken.Make(p, in.Random)
		},
		several: true,
		wait: func(p policy.Params) time.Duration {
			if p.Preset == multitoken.Split || p.Preset == "" {
				return min(keeper.LeastWait(p), multitoken.ShortestSilence(p))
			}
			return multitoken.ShortestSilence(p)
		},
	},
	Ring: {
		presets: []Preset{
			{ring.E.String(), []string{"request_timeout", "on_silent_holder"}, true},
			{ring.S.String(), []string{"on_silent_holder"}, true},
			{ring.Q.String(), []string{"request_timeout", "on_silent_holder"}, true},
			{ring.D.String(), []string{"request_timeout", "on_silent_holder"}, true},
		},
		make: func(p policy.Params, in policy.Surroundings) (policy.Policy, error) { return ring.New(p) },
		wait: keeper.LeastWait,
	},
	Uncoordinated: {
		presets: []Preset{
			{uncoordinated.Journal, []string{"min_interval"}, false},
			{uncoordinated.Report, []string{"min_interval"}, false},
		},
		make: func(p policy.Params, in policy.Surroundings) (policy.Policy, error) {
			return uncoordinated.New(p, in.Random)
		},
		several: true,
		wait: func(p policy.Params) time.Duration {
			shortest, _, err := uncoordinated.Between(p)
			if err != nil {
				return 0
			}
			return shortest
		},
	},
}

// New makes the policy of one slot at one member. It returns the errors of
// Check.
func New(name string, params policy.Params, in policy.Surroundings) (policy.Policy, error) {
	preset, err := Find(name, params.Preset)
	if err != nil {
		return nil, err
	}
	params.Preset = preset.Name
	if err := cmp.Or(check(preset, &params), checkIsolated(name, &params)); err != nil {
		return nil, fmt.Errorf("policy %s: %w", name, err)
	}
	if in.Roster == nil {
		in.Roster = policy.Alone{}
	}
	made, err := entries[name].make(params, in)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", name, err) // not made, which may hold a nil pointer
	}
	if preset.Kept {
		made = keeper.Around(made, params, in, name != Multitoken)
	}
	if params.OnIsolated != policy.Continue {
		made = quorum.Around(made, params, in)
	}
	return made, nil
}

// Check says whether New would make a policy. Errors: ErrUnknownPolicy,
// policy.ErrPreset, policy.ErrUnused, policy.ErrOutOfRange; those about a
// parameter name it.
func Check(name string, params policy.Params) error {
	_, err := New(name, params, policy.Surroundings{Random: rand.NewPCG(0, 0)})
	return err
}

// Find is a preset of a policy, its first where the preset is empty. Errors:
// ErrUnknownPolicy, policy.ErrPreset.
func Find(name, preset string) (Preset, error) {
	e, known := entries[name]
	if !known {
		return Preset{}, fmt.Errorf("%w %q, known are %s", ErrUnknownPolicy, name, strings.Join(Names(), ", "))
	}
	if preset == "" {
		return e.presets[0], nil
	}
	i := slices.IndexFunc(e.presets, func(p Preset) bool { return p.Name == preset })
	if i < 0 {
		var names []string
		for _, p := range e.presets {
			names = append(names, p.Name)
		}
		return Preset{}, fmt.Errorf("policy %s: %w %q, known are %s", name, policy.ErrPreset, preset, strings.Join(names, ", "))
	}
	return e.presets[i], nil
}

// check refuses parameters out of range, and those without an effect.
func check(preset Preset, params *policy.Params) error {
	if err := params.Validate(); err != nil {
		return err
	}
	for _, p := range policy.Parameters {
		if p.Optional && p.Wire(params) != 0 && !slices.Contains(preset.Uses, p.Name) {
			return fmt.Errorf("%w: preset %s does not use %s; leave it out", policy.ErrUnused, preset.Name, p.Name)
		}
	}
	if !params.Weights.IsZero() && !slices.Contains(preset.Uses, "weights") {
		return fmt.Errorf("%w: preset %s does not use weights; leave it out, or set preset %s of policy %s", policy.ErrUnused, preset.Name, wandering.Fair, Wandering)
	}
	return nil
}

// checkIsolated refuses votes for the programs of policies that have several run at once.
func checkIsolated(name string, params *policy.Params) error {
	if err := params.OnIsolated.Validate(); err != nil {
		return err
	}
	if params.OnIsolated != policy.Continue && Several(name) {
		return fmt.Errorf("%w: %s lets several programs run at once; leave out on_isolated", policy.ErrUnused, name)
	}
	return nil
}

// Several reports whether several programs run at once under a policy, by design.
func Several(name string) bool { return entries[name].several }

// LeastWait is how long a member of a resource waits at least for a token before it makes one;
// 0 where the policy is not known.
func LeastWait(name string, params policy.Params) time.Duration {
	if e, known := entries[name]; known {
		return e.wait(params)
	}
	return 0
}

// Names lists the policies that New makes, in alphabetical order.
func Names() []string {
	return slices.Sorted(maps.Keys(entries))
}

// Presets are the presets of a policy, the default first; none where the name
// is unknown.
func Presets(name string) []Preset { return slices.Clone(entries[name].presets) }
