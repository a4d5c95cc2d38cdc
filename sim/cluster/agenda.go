package cluster

import (
	"container/heap"
	"time"
)

// agenda is what will happen, in order of virtual time; of two things at one
// instant the one that was planned first comes first.
type agenda struct {
	now   time.Duration // virtual time since the run began
	next  uint64
	items items
}

type agendum struct {
	at    time.Duration
	order uint64
	do    func()
}

type items []agendum

func (q items) Len() int { return len(q) }
func (q items) Less(i, j int) bool {
	if q[i].at != q[j].at {
		return q[i].at < q[j].at
	}
	return q[i].order < q[j].order
}
func (q items) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *items) Push(x any)   { *q = append(*q, x.(agendum)) }
func (q *items) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	(*q)[last] = agendum{}
	*q = (*q)[:last]
	return x
}

// after plans something for later.
func (a *agenda) after(d time.Duration, do func()) {
	heap.Push(&a.items, agendum{at: a.now + max(0, d), order: a.next, do: do})
	a.next++
}

// step does the next thing that is due until then. It reports false when there
// is none, and then time has moved there.
func (a *agenda) step(until time.Duration) bool {
	if len(a.items) == 0 || a.items[0].at > until {
		a.now = max(a.now, until)
		return false
	}
	x := heap.Pop(&a.items).(agendum)
	a.now = x.at
	x.do()
	return true
}
