package node

import (
	"sync/atomic"
	"time"

	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/clock"
)

// pulse is how late this process runs: its processor is short, it was stopped, or
// the machine slept. It waits for nothing but the processor: how long the disk keeps the engine is
// measured there. It beats when the transport looks at its connections, a
// second apart while something is awaited from one and 2.5 seconds otherwise, so that a
// process that stood still for the 3 seconds of a dial has been late. The zero value is
// always punctual.
type pulse struct {
	due atomic.Int64 // clock.Instant of the next beat
	was atomic.Int64 // how late the last one was, as a time.Duration
}

// late is how late the next beat is already, or the last one was, whichever is
// more. After a pause all that was due in it comes at once, in no order: so the
// beat may come behind what is to be judged by it, and just before it.
func (p *pulse) late(now clock.Instant) time.Duration {
	due := clock.Instant(p.due.Load())
	if due == 0 {
		return 0
	}
	return max(now.Sub(due), time.Duration(p.was.Load()))
}

// beat notes how late it comes, and after what time the next one is due.
func (p *pulse) beat(now clock.Instant, next time.Duration) {
	if due := clock.Instant(p.due.Load()); due != 0 {
		p.was.Store(int64(max(0, now.Sub(due))))
	}
	p.due.Store(int64(now.Add(next))) // second: who sees it sees the other
}

// firstBeat is when the first beat is due at the latest: the transport's looks have
// begun before.
const firstBeat = transport.MaxRest
