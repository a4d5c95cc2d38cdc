package wandering

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/policy"
)

// Tuning is how many members the preset fair asks and tells: more messages, and
// members that are served more nearly in turn. No group configuration sets it; it is
// there to be measured.
type Tuning struct {
	// Witnesses keep in mind when a member was served: 1 to MaxTuning.
	Witnesses int
	// Reads is how many members at random are asked for reports in one look.
	Reads int
}

// MaxTuning bounds both: beyond it, messages cost more than turns gain.
const MaxTuning = 16

// ErrTuning is why NewTuned refuses a Tuning.
var ErrTuning = fmt.Errorf("tuning of the preset %s: %w", Fair, policy.ErrOutOfRange)

// NewTuned makes a policy of the preset fair with another tuning, for simulations.
// All members of a group have to have the same. Errors: ErrTuning, and those of New.
func NewTuned(params policy.Params, in policy.Surroundings, t Tuning) (policy.Policy, error) {
	if t.Witnesses < 1 || t.Witnesses > MaxTuning || t.Reads < 0 || t.Reads > MaxTuning {
		return nil, fmt.Errorf("%w: %d witnesses, %d reads, permitted are 1 and 0 to %d", ErrTuning, t.Witnesses, t.Reads, MaxTuning)
	}
	params.Preset = Fair
	made, err := New(params, in)
	if err != nil {
		return nil, err
	}
	made.(*walker).Tuning = t
	return made, nil
}
