package transport

import "time"

// redial says when a peer may be dialled again. Times are since the transport's start;
// the zero value permits it now.
type redial struct {
	at      time.Duration // not before
	backOff time.Duration // the pause after the last failure
	until   time.Duration // dialled again until then, though nothing waits
}

// failed sets the pause before the next dial: twice the last one, within bounds.
func (r *redial) failed(now time.Duration) {
	r.backOff = min(max(2*r.backOff, MinBackOff), MaxBackOff)
	r.at = now + r.backOff
}

// permit ends the pause and forgets the failures.
func (r *redial) permit() { r.backOff, r.at = 0, 0 }

// revive has the peer dialled for a while though nothing waits.
func (r *redial) revive(now time.Duration) { r.until = now + reviveFor }

// revives reports whether the peer is dialled though nothing waits.
func (r *redial) revives(now time.Duration) bool { return now < r.until }

// isOver reports whether there is nothing to remember.
func (r *redial) isOver(now time.Duration) bool { return now >= max(r.at, r.until) }
