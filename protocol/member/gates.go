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
func (l *entries) gateOf(r group.Resource) (g gateSettings, ok bool) {
	g, ok = l.cfg.gates[r.Name]
	return g, ok
}
