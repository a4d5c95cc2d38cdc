package member

import (
	"time"

	"github.com/wandertoken/wander/protocol/group"
)

// gateSettings are what a member reads in the configuration about a resource's gate.
type gateSettings struct {
	settle, keep, open time.Duration
	observes           bool
}

// gateOf is a resource's gate, if it has one.
func gateOf(r group.Resource) (g gateSettings, ok bool) {
	if r.Gate.IsZero() {
		return gateSettings{}, false
	}
	return gateSettings{settle: r.Gate.Settle, keep: r.Gate.Keep, open: r.Gate.OpenTimeout, observes: r.Gate.Mode == group.Observe}, true
}
