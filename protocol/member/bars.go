package member

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
)

// bar is a custody in which this member does not knock for a while.
type bar struct {
	hold  *hold
	until clock.Instant
}

// bars are those of a member, in the order of their beginning: at most one for each custody.
type bars struct{ list []bar }

// add begins one.
func (b *bars) add(h *hold, until clock.Instant) { b.list = append(b.list, bar{h, until}) }

// at reports whether there is one at a slot.
func (b *bars) at(s *slot) bool {
	return slices.ContainsFunc(b.list, func(o bar) bool { return o.hold.slot == s })
}

// forget ends those at a slot.
func (b *bars) forget(s *slot) {
	b.list = slices.DeleteFunc(b.list, func(o bar) bool { return o.hold.slot == s })
}

// over ends those whose time has come, or whose custody lasts no longer, and returns their custodies.
func (b *bars) over(now clock.Instant, lasts func(*hold) bool) (ended []*hold) {
	b.list = slices.DeleteFunc(b.list, func(o bar) bool {
		over := now >= o.until || !lasts(o.hold)
		if over {
			ended = append(ended, o.hold)
		}
		return over
	})
	return ended
}

// next is when one ends, if its custody lasts.
func (b *bars) next() clock.Instant {
	next := clock.Never
	for _, o := range b.list {
		next = min(next, o.until)
	}
	return next
}
