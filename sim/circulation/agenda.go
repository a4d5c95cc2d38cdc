package circulation

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// How many events may happen at one instant: some, and more for each member
// that there ever was. No group that makes progress needs nearly as many, and
// policies that pass tokens about in no time need more.
const (
	standstill          = 100_000
	standstillPerMember = 1000
)

// agenda is the clock, and the events to come.
type agenda struct {
	now   clock.Instant
	seq   uint64
	queue queue
	still int // events since now changed
}

// schedule makes something happen after a while.
func (a *agenda) schedule(after time.Duration, kind eventKind, member, ref int32, epoch uint32) {
	a.scheduleAt(a.now.Add(after), kind, member, ref, epoch)
}

func (a *agenda) scheduleAt(at clock.Instant, kind eventKind, member, ref int32, epoch uint32) {
	a.seq++
	a.queue.push(event{at, a.seq, subject{member, ref}, purpose{epoch, kind}})
}

// advance sets the clock to the instant of the next event.
func (a *agenda) advance(at clock.Instant) {
	if at > a.now {
		a.now, a.still = at, 0
	}
	a.still++
}
