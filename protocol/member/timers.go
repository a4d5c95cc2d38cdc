package member

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
)

// timers is a heap of the slots whose policies wait for an instant, the next one
// first: a member with thousands of slots looks at those that are due, and not at
// all of them in each step.
type timers []*slot

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(t[i].timer, t[j].timer), t[i].key.compare(t[j].key)) < 0
}
func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].place, t[j].place = i, j
}

// Push is for container/heap.
func (t *timers) Push(x any) {
	s := x.(*slot)
	s.place = len(*t)
	*t = append(*t, s)
}

// Pop is for container/heap.
func (t *timers) Pop() any {
	last := len(*t) - 1
	s := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	s.place = -1
	return s
}

// set has a slot's policy wait for at, or for nothing if that is clock.Never.
func (t *timers) set(s *slot, at clock.Instant) {
	if at == s.timer {
		return
	}
	waits := s.place >= 0
	s.timer = at
	switch {
	case at == clock.Never && waits:
		heap.Remove(t, s.place)
	case at == clock.Never:
	case waits:
		heap.Fix(t, s.place)
	default:
		heap.Push(t, s)
	}
}

// next is the earliest instant, or clock.Never.
func (t timers) next() clock.Instant {
	if len(t) == 0 {
		return clock.Never
	}
	return t[0].timer
}

// take takes out the slots that are due, in the order of their keys.
func (t *timers) take(now clock.Instant) (due []*slot) {
	for t.next() <= now {
		s := (*t)[0]
		t.set(s, clock.Never)
		due = append(due, s)
	}
	slices.SortFunc(due, func(a, b *slot) int { return a.key.compare(b.key) })
	return due
}
