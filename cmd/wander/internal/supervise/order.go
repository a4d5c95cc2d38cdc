package supervise

import (
	"syscall"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// identity names one process for as long as the machine runs: a number is used
// again, a number with its start is not.
type identity struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start,omitempty"` // in the system's ticks; 0 where the system does not tell
}

// order is what a guard has to know: one JSON object per line, each replacing
// the one before.
type order struct {
	Leader     identity      `json:"leader"`           // the command's process
	Cgroup     string        `json:"cgroup,omitempty"` // its own, if it has one
	Deadline   clock.Instant `json:"deadline"`
	Grace      time.Duration `json:"grace"`
	Terminated bool          `json:"terminated,omitempty"` // SIGTERM was sent
}

// event is what the runner learns of the command and its guards. One event may
// say several things, which have happened in the order of the fields.
type event struct {
	Suspended syscall.Signal `json:"suspended,omitempty"` // stopped the command
	Stopping  bool           `json:"stopping,omitempty"`  // a guard is about to stop the running command at the deadline
	Ended     bool           `json:"ended,omitempty"`     // the command, with:
	Exit      int            `json:"exit,omitempty"`      // -1 when a signal ended it
	Signal    syscall.Signal `json:"signal,omitempty"`    // that ended it; 0 when it exited
	Orphaned  bool           `json:"orphaned,omitempty"`  // the guard that was its parent died first
	Gone      bool           `json:"gone,omitempty"`      // nothing that the command has started is left

	guardLost bool // one guard has died
	unguarded bool // no guard is left
}
