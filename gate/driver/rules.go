package driver

import (
	"fmt"

	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// rules are what a configuration says about the gate of a resource.
type rules struct {
	settings core.Settings
	observe  bool
}

// rulesOf are those of a group's configuration. Errors: ErrResource, ErrOther.
func rulesOf(g *group.Group, resource string, self ident.Member) (rules, error) {
	r, ok := g.Config().Resource(resource)
	switch {
	case !ok:
		return rules{}, fmt.Errorf("%w: %q is no resource of the group", ErrResource, resource)
	case r.Gate.IsZero():
		return rules{}, fmt.Errorf("%w: %q has none", ErrResource, resource)
	case r.Gate.Member != self:
		return rules{}, fmt.Errorf("%w: %v", ErrOther, r.Gate.Member)
	}
	return rules{
		observe: r.Gate.Mode == group.Observe,
		settings: core.Settings{
			Version: g.Config().Version(), Slots: r.Slots, Sessions: r.Gate.Sessions, MaxHold: r.MaxHold, Settle: r.Gate.Settle, Keep: r.Gate.Keep, MinInterval: r.Gate.MinInterval,
			OpenTimeout: r.Gate.OpenTimeout, CloseTimeout: r.Gate.CloseTimeout, RevocationMaxAge: r.Gate.RevocationMaxAge, Windows: r.Windows,
			ClockAllowance: g.Config().Settings().ClockAllowance, Raw: g.Config().Raw(),
		},
	}, nil
}
