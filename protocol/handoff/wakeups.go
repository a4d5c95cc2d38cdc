package handoff

import (
	"container/heap"
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
)

// absent is the slot of a record that waits for no time.
const absent = -1

// wakeups is a heap of records by the instant at which each wants attention.
// At one instant they come in the order of their keys: the same inputs must
// give the same effects, whatever the heap looks like inside.
type wakeups []*record

func (w wakeups) Len() int { return len(w) }
func (w wakeups) Less(i, j int) bool {
	if w[i].wake != w[j].wake {
		return w[i].wake < w[j].wake
	}
	return w[i].key.compare(w[j].key) < 0
}
func (w wakeups) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].slot, w[j].slot = i, j
}

// Push is for container/heap.
func (w *wakeups) Push(x any) {
	rec := x.(*record)
	rec.slot = len(*w)
	*w = append(*w, rec)
}

// Pop is for container/heap.
func (w *wakeups) Pop() any {
	last := len(*w) - 1
	rec := (*w)[last]
	(*w)[last] = nil
	*w = (*w)[:last]
	rec.slot = absent
	return rec
}

// wakeAt sets when the machine looks at a record again.
func (b *Book) wakeAt(rec *record, at clock.Instant) {
	rec.wake = at
	switch {
	case at == clock.Never && rec.slot != absent:
		heap.Remove(&b.heap, rec.slot)
	case at == clock.Never:
	case rec.slot == absent:
		heap.Push(&b.heap, rec)
	default:
		heap.Fix(&b.heap, rec.slot)
	}
}

// NextDeadline returns when to call Tick next, or clock.Never.
func (b *Book) NextDeadline() clock.Instant {
	if len(b.heap) == 0 {
		return clock.Never
	}
	return b.heap[0].wake
}

// due takes the next record whose time has come, or returns nil.
func (b *Book) due(now clock.Instant) *record {
	if b.NextDeadline() > now || len(b.heap) == 0 {
		return nil
	}
	rec := b.heap[0]
	b.wakeAt(rec, clock.Never)
	return rec
}

// waiting is every record that waits for a time, in an order that does not depend
// on the heap.
func (b *Book) waiting() []*record {
	list := slices.Clone(b.heap)
	slices.SortFunc(list, func(x, y *record) int { return x.key.compare(y.key) })
	return list
}
