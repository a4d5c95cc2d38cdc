package member

import (
	"maps"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/update"
)

// housekeepEvery is how often a member looks for what it may forget. What it
// looks for is months old. All look at the full hours of their wall clocks and
// forget what is older than a full hour, so that their directories stay equal. One
// that has just started looks at once: others have forgotten already.
const housekeepEvery = time.Hour

// housekeep forgets those who have been dead for longer than the settlement
// time, which exceeds the longest outage after which a durable member may
// return: what they sent, and then who they were. Those who signed what is in
// custody here are not forgotten: nobody else may be left to show who they were.
func (m *Member) housekeep() {
	if m.now.Boot < m.housekeepAt {
		return
	}
	hour := m.now.Wall.Truncate(housekeepEvery)
	m.housekeepAt = m.now.Boot.Add(hour.Add(housekeepEvery).Sub(m.now.Wall))
	before := hour.Add(-m.settings.SettlementTime)
	for _, id := range m.handoff.Offerers() {
		if died, dead := m.died(id); dead && died.Before(before) {
			m.handoff.Bury(id)
		}
	}
	needed := m.handoff.Signers()
	m.dir.Forget(before, func(id ident.Member) bool { return needed[id] })
	maps.DeleteFunc(m.journalled, func(_ update.Key, at clock.Instant) bool {
		return m.now.Boot.Sub(at) >= writePause
	})
}

// died is when a member's last certificate ended, or when it was revoked.
func (m *Member) died(id ident.Member) (at time.Time, dead bool) {
	if raw, revoked := m.dir.Revocation(id); revoked {
		r, err := certificate.ParseRevocation(m.cfg.Group.ID(), raw, m.cfg.Group)
		if err != nil {
			return time.Time{}, false
		}
		return time.UnixMilli(int64(r.Body().Time)), true
	}
	c, known := m.dir.Certificate(id)
	if !known {
		return time.Time{}, false
	}
	return c.Claims().NotAfter, true
}
