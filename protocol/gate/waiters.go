package gate

import "slices"

// waiter is a sign-in that waits for its session.
type waiter struct {
	from    request
	permit  Permit
	length  uint64 // ms
	arrived uint64 // the sign-ins so far
}

// sameMember reports whether another one waits too for the member's turn.
func (w waiter) sameMember(o waiter) bool { return w.permit.Title.Holder == o.permit.Title.Holder }

// later reports whether the member waits with another token too, with which it has signed in before.
func (w waiter) later(o waiter) bool {
	return w.sameMember(o) && w.arrived > o.arrived
}

func (w waiter) is(p Permit) bool {
	return w.permit.Title.Holder == p.Title.Holder && w.permit.Title.Token == p.Title.Token
}

// queue is who waits at one slot, in the order of arrival. One that replaces another has its place.
type queue []waiter

// add puts a waiter into the queue, in the place of one of the same member and token, and returns those that have to go for it (rule 4).
func (q *queue) add(w waiter, m *memory) (replaced, full []waiter) {
	if i := slices.IndexFunc(*q, func(o waiter) bool { return o.is(w.permit) }); i >= 0 {
		replaced = append(replaced, (*q)[i])
		(*q)[i] = w
		return replaced, nil
	}
	*q = append(*q, w)
	if len(*q) > MaxWaiters {
		i := q.dispensable(m)
		full = append(full, (*q)[i])
		*q = slices.Delete(*q, i, i+1)
	}
	return replaced, full
}

// dispensable is the index of the waiter that makes room: the latest one whose member waits with an
// earlier one too; else one of the member served last, and of several the latest.
func (q queue) dispensable(m *memory) int {
	second := -1
	for i, w := range q {
		if slices.ContainsFunc(q, w.later) && (second < 0 || w.arrived > q[second].arrived) {
			second = i
		}
	}
	if second >= 0 {
		return second
	}
	last := 0
	for i, w := range q {
		if m.served(w.permit.Title.Holder) >= m.served(q[last].permit.Title.Holder) {
			last = i
		}
	}
	return last
}

// next is the index of the waiter that opens: the member served longest ago, and of equal ones the first in the queue (rule 3).
// It is -1 if nobody fits.
func (q queue) next(m *memory, fits func(waiter) bool) int {
	first := -1
	for i, w := range q {
		if fits(w) && (first < 0 || m.served(w.permit.Title.Holder) < m.served(q[first].permit.Title.Holder)) {
			first = i
		}
	}
	return first
}

// remove takes those out of the queue that the condition names.
func (q *queue) remove(gone func(waiter) bool) (removed []waiter) {
	*q = slices.DeleteFunc(*q, func(w waiter) bool {
		if !gone(w) {
			return false
		}
		removed = append(removed, w)
		return true
	})
	return removed
}
