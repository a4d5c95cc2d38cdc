package supervise

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// sightInterval is how often to look whether the command runs: often enough that
// what auditors call certain is most of an operation, seldom enough to cost nothing.
const sightInterval = 100 * time.Millisecond

// sight is when the command was seen running first and last. Auditors conclude from
// it that the command ran at these times, so an instant counts only if the command
// is found running afterwards.
type sight struct{ first, last clock.Instant }

// watchCommand looks at the command until stop is closed. The first look is one
// interval after the start.
func watchCommand(running func() bool, now func() clock.Instant, ticks <-chan time.Time, stop <-chan struct{}) (s sight) {
	for {
		select {
		case <-stop:
			return s
		case <-ticks:
			at := now()
			if !running() {
				return s
			}
			if s.first == 0 {
				s.first = at
			}
			s.last = at
		}
	}
}

// watch begins to look at the command. The function that it returns ends that, and says what
// was seen.
func (r *runner) watch() (end func() sight) {
	t, stop, seen := time.NewTicker(sightInterval), make(chan struct{}), make(chan sight, 1)
	go func() { seen <- watchCommand(r.process.running, r.clock.now, t.C, stop) }()
	return func() sight {
		close(stop)
		t.Stop()
		return <-seen
	}
}
