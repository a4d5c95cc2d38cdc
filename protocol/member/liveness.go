package member

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// liveness answers whether a member lives. The driver's reports about connections go to
// it and nowhere else, and it has four answers, the weakest first:
//
//   - absent: it could not be reached just now, or took no token (absences.go)
//   - suspect: it has not answered for a while; it is not chosen (detector.go)
//   - failed: this member has signed that it does not answer, for the directories of
//     all (detector.go)
//   - silent: it has not answered for the group's silence, for the policies that
//     monitor it (monitors.go)
//
// All of them wait longer while this member runs late itself (lateness.go).
type liveness struct {
	*core
	own      *health
	detector *detector
	monitors *monitors
	absences *absences
}

func newLiveness(c *core, g *greeter, q *events) *liveness {
	own := &health{core: c}
	return &liveness{
		core: c, own: own,
		detector: newDetector(c, own, g),
		monitors: &monitors{core: c, own: own, greeter: g, events: q},
		absences: &absences{core: c, gone: make(map[ident.Member]absence)},
	}
}

// connected notes that a member has a connection with this one.
func (l *liveness) connected(id ident.Member) {
	l.absences.present(id)
	l.detector.answered(id)
	l.monitors.connected(id)
}

// disconnected notes that a member has no connection with this one any more.
func (l *liveness) disconnected(id ident.Member) { l.monitors.disconnected(id) }

// unreachable judges a dial that failed, or a connection that broke.
func (l *liveness) unreachable(in Unreachable, broken bool) {
	l.absences.missing(in.Peer)
	l.monitors.unreachable(in, broken)
	switch {
	case in.Silent:
		l.detector.unanswered(in.Peer, broken)
	case in.Refused:
		l.detector.refuses(in.Peer)
	}
}

// tick does what is due.
func (l *liveness) tick() {
	l.detector.tick()
	l.monitors.tick()
}

// next is when tick has something to do.
func (l *liveness) next() clock.Instant { return min(l.detector.at, l.monitors.next()) }
