package member

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// A grant can last across a restart of the machine, as for a reboot that only one machine may make at a time. Its program is
// then nothing that the end of the boot ends. It lasts until it is reported as ended, or until its deadline, which
// after the restart goes by the wall clock.

// isAcross reports whether a grant lasts across a restart of the machine.
func (g *grant) isAcross() bool { return g.record != nil && g.record.Across > 0 }

// acrossLeft is how long a grant of an earlier boot lasts yet. The clock of the machine may be wrong as it starts: the
// grant never lasts for longer than its length from here on.
func (g *grant) acrossLeft(now clock.Reading) time.Duration {
	if !g.isAcross() {
		return 0
	}
	until := time.UnixMilli(int64(min(g.record.Across, maxMillis)))
	length := time.Duration(min(g.record.Length, uint64(maxLength)))
	return min(until.Sub(now.Wall), length)
}

const (
	// maxMillis is the last moment that a journal may name: a later one is none of this member's, and does not overflow.
	maxMillis = 1 << 52
	// maxLength bounds what a journal may name as the length of a grant: any max_hold is shorter.
	maxLength = 1 << 62
)

// tellsAway tells the policy that the member may say nothing until a grant's deadline.
func (l *grants) tellsAway(g *grant) {
	if g.isAcross() {
		l.events.notify(g.hold.slot, policy.Event{Kind: policy.Away, At: g.deadline, Token: l.custody.describe(g.hold)})
	}
}

// across is how many tokens are here under a grant that lasts across a restart of the machine.
func (l *grants) across() (n int) {
	for _, g := range l.inForce {
		if g.isAcross() && !g.hold.lost {
			n++
		}
	}
	return n
}

// Across is a grant in force that lasts across a restart of the machine.
type Across struct {
	Grant    ident.Grant
	Deadline clock.Instant // of its program
}

// AcrossOf are the grants of a resource that last across a restart of the machine, in the order of their ids.
func AcrossOf(m *Member, resource string) (list []Across) {
	for _, g := range m.circ.grants.inOrder() {
		if g.isAcross() && g.hold.slot.key.resource == resource {
			list = append(list, Across{g.id, g.deadline.Add(-killMargin)})
		}
	}
	return list
}
