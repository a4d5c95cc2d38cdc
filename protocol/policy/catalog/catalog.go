// Package catalog makes circulation policies by the name under which the
// group configuration asks for them. Members and the simulator both get theirs
// here, so a policy that is measured is one that runs.
package catalog

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// Wandering is the name of the wandering token of the journal paper.
const Wandering = "wandering"

type constructor func(policy.Params, rand.Source) (policy.Policy, error)

var constructors = map[string]constructor{
	Wandering: func(p policy.Params, rng rand.Source) (policy.Policy, error) { return wandering.New(p, rng) },
}

// New makes the policy of one slot at one member. It returns ErrUnknownPolicy,
// or an error that wraps policy.ErrOutOfRange and names the parameter. The
// policy draws from rng whenever it is stepped: who shares one among policies
// steps them on one goroutine.
func New(name string, params policy.Params, rng rand.Source) (policy.Policy, error) {
	construct, known := constructors[name]
	if !known {
		return nil, fmt.Errorf("%w %q, known are %s", ErrUnknownPolicy, name, strings.Join(Names(), ", "))
	}
	made, err := construct(params, rng)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", name, err) // not made, which may hold a nil pointer
	}
	return made, nil
}

// Names lists the policies that New makes, in alphabetical order.
func Names() []string {
	return slices.Sorted(maps.Keys(constructors))
}
