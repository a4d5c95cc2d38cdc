package circulation

import "github.com/wandertoken/wander/protocol/clock"

// eventKind says what happens.
type eventKind uint8

const (
	timerFar   eventKind = iota + 1 // a member's timer: the entry that site.far is about
	timerNear                       // a member's timer: one that has to come before that
	arrival                         // token ref arrives at the member
	returned                        // token ref comes back to the member
	abandoned                       // the member gives token ref up
	generated                       // the member has made token ref
	ended                           // the operation under token ref ends at the member
	notRun                          // the operation under token ref did not begin
	told                            // message ref arrives at the member
	demandTold                      // the member's policy hears of its demand
	demandRise                      // the member wants to run
	neighbours                      // the order of members has changed
	loss                            // LossEvery
	crash                           // CrashEvery
	comeBack                        // the member returns
	script                          // what At was given
)

// event is one thing that will happen.
type event struct {
	at     clock.Instant
	seq    uint64
	member int32
	ref    int32
	epoch  uint32 // of the member: what was meant for one before a crash is void
	kind   eventKind
}

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.seq < o.seq
}

// nearSize is how many events the sorted part of a queue holds: about as many
// as a few tokens cause, few enough to be moved in a handful of nanoseconds.
const nearSize = 24

// queue is the events to come, in two parts: a short sorted one for what comes
// soonest, which is what a walking token causes, and a heap for the rest, such
// as the timers of all members. Either may hold any event.
type queue struct {
	near [nearSize]event // the soonest last
	n    int
	far  []event // a heap of four children a node
}

// push adds an event.
func (q *queue) push(e event) {
	if q.n == nearSize {
		if q.near[0].before(&e) {
			q.pushFar(e)
			return
		}
		q.pushFar(q.near[0])
		copy(q.near[:], q.near[1:])
		q.n--
	}
	i := q.n
	for ; i > 0 && q.near[i-1].before(&e); i-- {
		q.near[i] = q.near[i-1]
	}
	q.near[i] = e
	q.n++
}

// pop takes the first event, if it comes at or before until.
func (q *queue) pop(until clock.Instant) (e event, ok bool) {
	if q.n > 0 && (len(q.far) == 0 || q.near[q.n-1].before(&q.far[0])) {
		e = q.near[q.n-1]
		if e.at > until {
			return e, false
		}
		q.n--
		return e, true
	}
	if len(q.far) == 0 || q.far[0].at > until {
		return event{}, false
	}
	return q.popFar(), true
}

func (q *queue) pushFar(e event) {
	q.far = append(q.far, e)
	i := len(q.far) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&q.far[parent]) {
			break
		}
		q.far[i] = q.far[parent]
		i = parent
	}
	q.far[i] = e
}

func (q *queue) popFar() event {
	top := q.far[0]
	last := len(q.far) - 1
	e := q.far[last]
	q.far = q.far[:last]
	i := 0
	for {
		child := 4*i + 1
		if child >= last {
			break
		}
		for c := child + 1; c < min(child+4, last); c++ {
			if q.far[c].before(&q.far[child]) {
				child = c
			}
		}
		if !q.far[child].before(&e) {
			break
		}
		q.far[i] = q.far[child]
		i = child
	}
	if last > 0 {
		q.far[i] = e
	}
	return top
}
