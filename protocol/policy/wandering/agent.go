package wandering

import (
	"cmp"
	"fmt"

	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering/papers"
)

// The presets, by the names that policy.Params.Preset has for them.
const (
	// Fair passes the token to the member that has waited longest. It is the default.
	Fair = "fair"
	// Light passes the token on at random, and removes a second one where it comes. It
	// says nothing to other members.
	Light = "light"
	// Paper is the journal paper.
	Paper = papers.Paper
	// Report is the report paper.
	Report = papers.Report
)

// Timekeepers is how many timekeepers each member has under fair.
func Timekeepers(params policy.Params) int { return cmp.Or(params.Timekeepers, policy.MaxTimekeepers) }

// New makes the policy of one slot at one member, which has seen nothing. Of its
// surroundings the papers' presets need Random only, and report not even that. Under
// light and fair it makes no token: that is for a keeper around it (package keeper).
// What New makes does not allocate once its buffers have grown. Errors:
// policy.ErrPreset, and those of policy.Params.Validate.
func New(params policy.Params, in policy.Surroundings) (policy.Policy, error) {
	if err := params.Validate(); err != nil {
		return nil, err
	}
	switch params.Preset {
	case "", Fair:
		return newWalker(params, in, true), nil
	case Light:
		return newWalker(params, in, false), nil
	case Paper, Report:
		return papers.New(params, in.Random)
	}
	return nil, fmt.Errorf("%w %q, known are %s, %s, %s, %s", policy.ErrPreset, params.Preset, Fair, Light, Paper, Report)
}
