package circulation

import (
	"context"

	"github.com/wandertoken/wander/protocol/policy"
)

// Maker makes the policy of a member, given by its index, with the Surroundings
// that the member provides. The policy may lie to the others: the Simulation
// performs its actions nevertheless, as far as it holds the tokens that it
// names.
type Maker func(member int, in policy.Surroundings) (policy.Policy, error)

// NewWith is New with policies that are in no catalog, such as one that a paper
// prints and that does not work, or a mixture of policies of which some lie. It
// ignores Config.Policy, and of Config.Params uses only OperationTime.
func NewWith(cfg Config, makePolicy Maker) (*Simulation, error) {
	return newSimulation(context.Background(), cfg, makePolicy)
}
