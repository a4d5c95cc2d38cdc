package node

import (
	"sync/atomic"
	"time"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/member"
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

// beat is called each time that the transport has looked at its connections. What the
// node looks at periodically shares the wake-up. Before the first beat it does nothing:
// the node is not open yet.
func (n *Node) beat(next time.Duration) {
	if n.pulse.due.Load() == 0 {
		return
	}
	now := boottime.Now()
	n.lookAtPulse(now, next)
	n.lookAtQuiet(now)
	if n.paths.due(now) {
		n.lookAtPaths()
	}
	n.authority.beat()
}

// lookAtPulse is one beat. When it was late, the engine steps, and by that tells the
// member.
func (n *Node) lookAtPulse(now clock.Instant, next time.Duration) {
	n.pulse.beat(now, next)
	if time.Duration(n.pulse.was.Load()) >= awakenAfter {
		n.transport.Recheck()
	}
	by := n.pulse.late(now)
	if by < member.LateFrom {
		return
	}
	n.engine.put(item{input: member.Tick{}})
	if n.reports.allow("late") {
		n.log.Warn("this member runs late: its processor is overloaded, or it was stopped; it waits longer before it suspects other members",
			"by", by.Round(time.Millisecond))
	}
}
