package gate

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// request is one sign-in, as the driver knows it.
type request struct {
	connection Connection // 0: of a session before a restart
	number     uint64
}

// session is what is in a slot that is not Idle.
type session struct {
	number    uint64 // 0: whatever there was before the journal began
	from      request
	permit    Permit
	deadline  clock.Instant
	until     uint64 // the deadline on the wall clock, ms since 1970
	reason    Reason // why it ends; 0: it does not
	abandoned bool   // its close has failed: its member may have a session at another slot
}

// last is the session that began last at a slot.
type last struct {
	number uint64 // 0: none
	title  Title
}

// hook is the hook that runs at a slot.
type hook struct {
	run      uint64 // 0: none
	extended bool   // it has its time once more, because of a pause
	excused  bool   // its alarm waits once more, because of a pause
}

// slot is one place for a session. A slot of the resource has Settings.Sessions of them, and one queue, at its first place.
type slot struct {
	state    State
	session  session
	hook     hook
	settling bool // close has confirmed
	recorded bool // the journal says that close has failed
	// wake is when time itself does something: ends a hook, a session, the settling, or the keeping of an Idle slot.
	wake    clock.Instant
	slow    clock.Instant // when the close hook that runs is an alarm; 0: it is none any more, or ends before
	shut    clock.Instant // nothing settles before
	last    last
	waiters queue // of the slot whose first place this is
}

// serves reports whether there is a session that can still be cut.
func (s *slot) serves() bool { return s.state == Opening || s.state == Open }

// occupies reports whether the slot's session counts as one of the member.
func (s *slot) occupies(id ident.Member) bool {
	return s.state != Idle && s.session.number > 0 && !s.session.abandoned && s.session.permit.Title.Holder == id
}

// linked reports whether another member waits to whom the place's last title was passed on. The last one itself is no successor: with a token that it passes to
// and fro it would open again before others have come.
func (s *slot) linked(q queue) bool {
	for _, w := range q {
		if w.permit.Title.Holder != s.last.title.Holder && w.permit.follows(s.last.title) {
			return true
		}
	}
	return false
}

// paused reports whether the slot's time was over so long ago that hook and gate may have paused together.
func (s *slot) paused(now clock.Instant) bool {
	return s.hook.run != 0 && !s.hook.extended && now.Sub(s.wake) >= minPause
}

// slots are the places of a gate.
type slots []slot

// haveSession reports whether a member has a session at some place.
func (l slots) haveSession(id ident.Member) bool {
	for i := range l {
		if l[i].occupies(id) {
			return true
		}
	}
	return false
}

// isLast reports whether the last session at a place of a slot, of so many, was under a title, and no place has had a later one under its token: that may be
// with another member meanwhile, whose session is at another place.
func (l slots) isLast(slot, of int, t Title) bool {
	mine, latest := uint64(0), uint64(0)
	for i := range l {
		last := l[i].last
		if last.title == t && i%of == slot {
			mine = max(mine, last.number)
		}
		if last.title.Token == t.Token {
			latest = max(latest, last.number)
		}
	}
	return mine > 0 && mine == latest
}

// attended reports whether somebody is in, or waits.
func (l slots) attended() bool {
	for i := range l {
		if l[i].serves() || len(l[i].waiters) > 0 {
			return true
		}
	}
	return false
}
