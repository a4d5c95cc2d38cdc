// Package agenda keeps what is going to happen in virtual time. It is for
// simulated worlds that need no more speed than a heap has.
package agenda

import (
	"cmp"
	"container/heap"
)

// Agenda is what will happen, in the order of instants; of two things at one
// instant the one that was planned first comes first. The zero value is empty.
// It is not safe for concurrent use.
type Agenda[Instant cmp.Ordered, T any] struct {
	items   items[Instant, T]
	planned uint64
}

// Plan enters something.
func (a *Agenda[Instant, T]) Plan(at Instant, what T) {
	heap.Push(&a.items, item[Instant, T]{at, a.planned, what})
	a.planned++
}

// Len is how much is planned.
func (a *Agenda[Instant, T]) Len() int { return len(a.items) }

// Next takes out what happens next, if it happens at until or sooner.
func (a *Agenda[Instant, T]) Next(until Instant) (at Instant, what T, ok bool) {
	if len(a.items) == 0 || a.items[0].at > until {
		return at, what, false
	}
	next := heap.Pop(&a.items).(item[Instant, T])
	return next.at, next.what, true
}

type item[Instant cmp.Ordered, T any] struct {
	at    Instant
	order uint64
	what  T
}

type items[Instant cmp.Ordered, T any] []item[Instant, T]

func (q items[Instant, T]) Len() int      { return len(q) }
func (q items[Instant, T]) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q items[Instant, T]) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}
func (q *items[Instant, T]) Push(x any) { *q = append(*q, x.(item[Instant, T])) }
func (q *items[Instant, T]) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	(*q)[last] = item[Instant, T]{} // drops what it refers to
	*q = (*q)[:last]
	return x
}
