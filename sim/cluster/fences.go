package cluster

import (
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// fenced is a resource's slot whose guard keeps the greatest fence that it was shown, and
// refuses each program with a lower one.
type fenced struct {
	greatest uint64
	token    ident.Token // under which that program ran

	locked ident.Token // was refused last, with nobody left who has the token above
	since  uint64      // its hop at that time
}

// fencedSlot names it.
type fencedSlot struct {
	resource string
	slot     uint64
}

// fences are the guards of all slots, and what they have refused.
type fences struct {
	slots map[fencedSlot]*fenced

	refusedLate, refusedRightful int
	lockedOut                    int // of the second kind, after more than one handoff
}

// show shows a program's fence to the guard of its slot. Who is refused while the
// token of the greatest fence is with somebody is late, as it should be. If nobody has
// that any more, it is the rightful holder that is refused: that may be so until the
// token has been passed on once. It returns the greatest fence of a slot that locks the
// program out.
func (f *fences) show(e effect.Grant, circulates func(ident.Token) bool) (greatest uint64, lockedOut bool) {
	k := fencedSlot{e.Resource, e.Slot}
	s := f.slots[k]
	if s == nil {
		s = &fenced{}
		f.slots[k] = s
	}
	switch {
	case e.Fence >= s.greatest:
		*s = fenced{greatest: e.Fence, token: e.Token}
		return 0, false
	case circulates(s.token):
		f.refusedLate++
		s.locked = ident.Token{}
		return 0, false
	case s.locked != e.Token:
		s.locked, s.since = e.Token, e.Hop
	}
	f.refusedRightful++
	if e.Hop > s.since+1 {
		f.lockedOut++
		return s.greatest, true
	}
	return 0, false
}

// fencesGrow reports whether fences of the resource grow over all its tokens: under the
// policies of which the later one of two tokens stays.
func fencesGrow(c group.Config, resource string) bool {
	r, ok := c.Resource(resource)
	return ok && (r.Policy == catalog.Ring ||
		r.Policy == catalog.Wandering && (r.Preset == wandering.Fair || r.Preset == wandering.Light))
}
