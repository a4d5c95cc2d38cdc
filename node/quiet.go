package node

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// quietFrames is up to how many frames a second, received and sent, a member is quiet. A
// group that wants nothing has one or two; an operation takes a dozen or more.
const quietFrames = 20

// quietness is whether a member is quiet, as of the last beat.
type quietness struct {
	frames uint64 // until then
	at     clock.Instant
	quiet  bool
}

// changed takes in how many frames there have been until now, and reports whether the
// member was quiet since the beat before and was not until then, or the reverse.
func (q *quietness) changed(now clock.Instant, frames uint64) bool {
	since := now.Sub(q.at)
	if since <= 0 {
		return false
	}
	quiet := time.Duration(frames-q.frames)*time.Second <= quietFrames*since
	changed := quiet != q.quiet
	q.frames, q.at, q.quiet = frames, now, quiet
	return changed
}
