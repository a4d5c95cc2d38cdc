package cluster

import (
	"time"

	"github.com/wandertoken/wander/internal/agenda"
)

// virtual is virtual time: what it is now, and what will happen.
type virtual struct {
	now    time.Duration // since the run began
	agenda agenda.Agenda[time.Duration, func()]
}

// after plans something for later.
func (v *virtual) after(d time.Duration, do func()) { v.agenda.Plan(v.now+max(0, d), do) }

// step does the next thing that is due until then. It reports false when there
// is none, and then time has moved there.
func (v *virtual) step(until time.Duration) bool {
	at, do, ok := v.agenda.Next(until)
	if !ok {
		v.now = max(v.now, until)
		return false
	}
	v.now = at
	do()
	return true
}
