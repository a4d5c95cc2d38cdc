package supervise

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// order is what a guard has to know: one JSON object per line over the socket,
// each replacing the one before. The first one for a group carries its pidfd,
// where there is one.
type order struct {
	PID        int           `json:"pid,omitempty"` // the group, 0 when there is none
	Deadline   clock.Instant `json:"deadline,omitempty"`
	Grace      time.Duration `json:"grace,omitempty"`
	Terminated bool          `json:"terminated,omitempty"` // SIGTERM was sent
}
