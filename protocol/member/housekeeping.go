package member

import (
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// housekeepEvery is how often a member looks for what it may forget. What it
// looks for is months old. All look at the full hours of their wall clocks and
// forget what is older than a full hour, so that their directories stay equal. One
// that has just started looks at once: others have forgotten already.
const housekeepEvery = time.Hour

// housekeep forgets members that have been gone for longer than the settlement time: what
// they sent, and then who they were. The settlement time exceeds the longest outage after
// which a durable member may return. A member that signed what is in custody here is not
// forgotten: no other member may be able to show its certificate.
func (m *Member) housekeep() {
	if m.now.Boot < m.housekeepAt {
		return
	}
	hour := m.now.Wall.Truncate(housekeepEvery)
	m.housekeepAt = m.now.Boot.Add(hour.Add(housekeepEvery).Sub(m.now.Wall))
	before := hour.Add(-m.settings.SettlementTime)
	for _, id := range m.circ.custody.handoff.Offerers() {
		if died, dead := m.members.died(id); dead && died.Before(before) {
			m.circ.custody.handoff.Bury(id)
		}
	}
	needed := m.circ.custody.handoff.Signers()
	m.dir.Forget(before, func(id ident.Member) bool { return needed[id] })
	m.members.records.written.forget(m.now.Boot)
}
