package circulation

import (
	"context"

	"github.com/wandertoken/wander/protocol/policy"
)

// Maker makes the policy of a member, by its index, with the Surroundings that it
// would be given. It may be one that lies to the others: what it says and does is
// performed all the same, as far as it holds the tokens that it names.
type Maker func(member int, in policy.Surroundings) (policy.Policy, error)

// NewWith is New with policies that are in no catalog, such as one that a
// paper prints and that does not work, or some that are and some that lie.
// Config.Policy is not looked at; of Config.Params only OperationTime is.
func NewWith(cfg Config, makePolicy Maker) (*Simulation, error) {
	return newSimulation(context.Background(), cfg, makePolicy)
}
