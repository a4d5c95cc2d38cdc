package member

import "github.com/wandertoken/wander/protocol/policy"

// policyEvent is an event for the policy of a slot.
type policyEvent struct {
	slot  *slot
	event policy.Event
}

// events is the queue of what the policies have not been told yet in this step.
type events struct {
	*core
	queue []policyEvent
	taken int // how many of them the policies have been told
}

// notify queues an event. Nothing is queued for a slot that is leaving, or while the
// member waits for greetings: the end of that resumes all slots.
func (q *events) notify(s *slot, e policy.Event) {
	if !s.leaving && !q.recalling {
		q.queue = append(q.queue, policyEvent{s, e})
	}
}

// next takes the oldest event out of the queue.
func (q *events) next() (next policyEvent, ok bool) {
	if q.taken == len(q.queue) {
		q.clear()
		return policyEvent{}, false
	}
	next = q.queue[q.taken]
	q.queue[q.taken] = policyEvent{}
	q.taken++
	return next, true
}

// clear drops what was not told.
func (q *events) clear() { q.queue, q.taken = q.queue[:0], 0 }
