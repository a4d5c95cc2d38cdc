package driver

import (
	"fmt"
	"time"

	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// rulesOf are those of a group's configuration. Errors: ErrResource, ErrOther, core.ErrSettings.
func rulesOf(g *group.Group, resource string, self ident.Member) (rules, error) {
	r, ok := g.Config().Resource(resource)
	if !ok {
		return rules{}, fmt.Errorf("%w: %q", ErrResource, resource)
	}
	_ = self
	s := g.Config().Settings()
	return rules{slots: r.Slots, settings: core.Settings{
		Version: g.Config().Version(), MaxHold: r.MaxHold, Settle: 100 * time.Millisecond, Keep: 2 * time.Second, OpenTimeout: 5 * time.Second, CloseTimeout: 10 * time.Second,
		ClockAllowance: s.ClockAllowance, Raw: g.Config().Raw(),
	}}, nil
}
