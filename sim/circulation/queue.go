package circulation

import "github.com/wandertoken/wander/protocol/clock"

// eventKind says what happens.
type eventKind uint8

const (
	timerFirst  eventKind = iota + 1 // the first entry of timers
	timerNear                        // a member's timer that comes before its entry
	arrival                          // token ref arrives at the member
	returned                         // token ref comes back to the member
	parted                           // token ref has left the member
	abandoned                        // the member gives token ref up
	generated                        // the member has made token ref
	ended                            // the operation under token ref ends at the member
	notRun                           // the operation under token ref did not begin
	told                             // message ref arrives at the member
	demandTold                       // the member's policy hears of its demand
	demandRise                       // the member wants to run
	neighbours                       // the order of members has changed
	loss                             // LossEvery
	crash                            // CrashEvery
	comeBack                         // the member returns
	fallForGood                      // Down
	silent                           // member ref, which the member watches, counts as dead
	suspected                        // the same, though nothing is wrong with it
	script                           // what At was given
	hoursPassed                      // Windows
)

// event is one thing that will happen. Its four fields, two of them pairs, are
// what the compiler can keep in registers.
type event struct {
	at  clock.Instant
	seq uint64
	subject
	purpose
}

// subject is whom an event is about.
type subject struct {
	member int32
	ref    int32 // a token, message or script
}

// purpose is what an event is about.
type purpose struct {
	epoch uint32 // of the member: what was meant for one before a crash is void
	kind  eventKind
}

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.seq < o.seq
}

// nearSize is how many events the sorted part of a queue holds: about as many
// as a few tokens cause, few enough to be moved in a handful of nanoseconds.
const nearSize = 24

// queue is the events to come: a short sorted list for what comes soonest,
// which is what a walking token causes, and a heap for the rest; and the
// members' timers. List and heap may hold any event.
type queue struct {
	near   [nearSize]event // the soonest last
	n      int
	far    []event // a heap of four children a node
	timers timers
}

// push adds an event.
func (q *queue) push(e event) {
	if q.n == nearSize {
		if later(e, &q.near[0]) {
			q.pushFar(e)
			return
		}
		q.pushFar(q.near[0])
		copy(q.near[:], q.near[1:])
		q.n--
	}
	i := q.n
	for ; i > 0 && later(e, &q.near[i-1]); i-- {
		q.near[i] = q.near[i-1]
	}
	q.near[i] = e
	q.n++
}

// later reports whether e comes after o.
func later(e event, o *event) bool {
	return e.at > o.at || e.at == o.at && e.seq > o.seq
}

// pop takes the first event, if it comes at or before until. A timerFirst is
// not taken: agents.firstTimer does that.
func (q *queue) pop(until clock.Instant) (e event, ok bool) {
	e.at = clock.Never
	if q.n > 0 {
		e = q.near[q.n-1]
	}
	far := len(q.far) > 0 && (q.n == 0 || later(e, &q.far[0]))
	if far {
		e = q.far[0]
	}
	if len(q.timers.entries) > 0 {
		if t := &q.timers.entries[0]; e.at > t.at || e.at == t.at && (e.seq > t.seq || e.kind == 0) {
			return event{t.at, t.seq, subject{member: t.member}, purpose{kind: timerFirst}}, t.at <= until
		}
	}
	if e.at > until || e.kind == 0 {
		return e, false
	}
	if far {
		q.removeFar()
	} else {
		q.n--
	}
	return e, true
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

// removeFar removes the first event of the heap.
func (q *queue) removeFar() {
	last := len(q.far) - 1
	e := q.far[last]
	q.far = q.far[:last]
	i := 0
	for {
		child := 4*i + 1
		if child >= last {
			break
		}
		for c, end := child+1, min(child+4, last); c < end; c++ {
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
}
