package circulation

import (
	"context"

	"github.com/wandertoken/wander/protocol/policy"
)

// NewWith is New with policies that are in no catalog, such as one that a
// paper prints and that does not work: makePolicy makes that of each member, by
// its index. Config.Policy is not looked at; of Config.Params only
// OperationTime is.
func NewWith(cfg Config, makePolicy func(member int) (policy.Policy, error)) (*World, error) {
	return newWorld(context.Background(), cfg, makePolicy)
}
