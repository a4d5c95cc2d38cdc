package gate

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// views is what the gate goes by: the configuration in force, who is revoked, and what its clock looks like to others (rule 9).
type views struct {
	settings Settings
	unusable uint64 // the newest configuration that does not validate
	revoked  map[ident.Member]bool
	overflow bool          // there were more than MaxRevoked
	fresh    clock.Instant // when the CA was asked for revocations; Never: not since the start
	fetches  pauses
	copies   pauses // of the configuration
	doubt    clockDoubt
	hours    hours
}

func newViews(s Settings, now time.Time) views {
	return views{
		settings: s, revoked: make(map[ident.Member]bool), fresh: clock.Never, fetches: make(pauses), copies: make(pauses), hours: hoursOf(s.Windows, now),
	}
}

// revoke adds members, and returns those that were not revoked before.
func (v *views) revoke(members []ident.Member) (added []ident.Member) {
	for _, id := range members {
		switch {
		case v.revoked[id]:
		case len(v.revoked) >= MaxRevoked:
			v.overflow = true
		default:
			v.revoked[id] = true
			added = append(added, id)
		}
	}
	return added
}

// unsure reports whether the gate does not know enough of who is revoked.
func (v *views) unsure(now clock.Instant) bool {
	age := v.settings.RevocationMaxAge
	return v.overflow || age > 0 && (v.fresh == clock.Never || now.Sub(v.fresh) > age)
}

// latest is the latest time at which a genesis is plausible, ms since 1970.
func (v *views) latest(now clock.Reading) uint64 {
	return now.Millis() + uint64(v.settings.ClockAllowance/time.Millisecond)
}

// pauses is when each member may cause something again.
type pauses map[ident.Member]clock.Instant

// take reports whether the member may now, and otherwise when. If there are too many members, none may for the interval.
func (p pauses) take(id ident.Member, now clock.Instant) (ok bool, next clock.Instant) {
	if at := p[id]; at > now {
		return false, at
	}
	next = now.Add(viewInterval)
	if len(p) >= maxMembers {
		for other, at := range p {
			if at <= now {
				delete(p, other)
			}
		}
		if len(p) >= maxMembers {
			return false, next
		}
	}
	p[id] = next
	return true, next
}

// clockDoubt counts the members that show tokens of the future: one may lie, of two at least one is honest more often than not.
type clockDoubt struct {
	member ident.Member
	at     clock.Instant // when it did
	alarm  clock.Instant // before which there is no other alarm
}

// note reports whether the operator has to hear of a member that shows a token of the future.
func (c *clockDoubt) note(id ident.Member, now clock.Instant) bool {
	second := c.at > 0 && c.member != id && now.Sub(c.at) <= clockWindow
	c.member, c.at = id, now
	if !second || c.alarm > now {
		return false
	}
	c.alarm = now.Add(clockWindow)
	return true
}
