package circulation

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// farAway is how many times as far as a new timer a member's entry in timers
// has to be, for the new one to become an event of its own.
const farAway = 64

// timers is a heap of four children a node with at most one entry for each
// member. An entry may come sooner than the timer that it is about, never
// later but for what events take care of: policies put their timers off far
// more often than these become due, and that costs nothing.
type timers struct {
	entries []timer
	sites   *[]site // which know where their entries are
}

type timer struct {
	at     clock.Instant
	seq    uint64
	member int32
}

func (t *timer) before(o *timer) bool {
	return t.at < o.at || t.at == o.at && t.seq < o.seq
}

// put stores an entry and lets its site know.
func (h *timers) put(i int, e timer) {
	h.entries[i] = e
	(*h.sites)[e.member].entry = int32(i)
}

// up finds the place of an entry from i upwards.
func (h *timers) up(i int, e timer) {
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&h.entries[parent]) {
			break
		}
		h.put(i, h.entries[parent])
		i = parent
	}
	h.put(i, e)
}

// down finds the place of an entry from i downwards.
func (h *timers) down(i int, e timer) {
	for {
		child := 4*i + 1
		if child >= len(h.entries) {
			break
		}
		for c, end := child+1, min(child+4, len(h.entries)); c < end; c++ {
			if h.entries[c].before(&h.entries[child]) {
				child = c
			}
		}
		if !h.entries[child].before(&e) {
			break
		}
		h.put(i, h.entries[child])
		i = child
	}
	h.put(i, e)
}

// add adds a member's entry.
func (h *timers) add(e timer) {
	h.entries = append(h.entries, timer{})
	h.up(len(h.entries)-1, e)
}

// removeFirst removes the first entry.
func (h *timers) removeFirst() {
	(*h.sites)[h.entries[0].member].entry = noEntry
	last := len(h.entries) - 1
	e := h.entries[last]
	h.entries = h.entries[:last]
	if last > 0 {
		h.down(0, e)
	}
}

// noEntry is site.entry of a member that has none.
const noEntry = -1

// setTimer has a member's policy told at an instant.
func (w *World) setTimer(m int32, at clock.Instant) {
	s := &w.sites[m]
	w.seq++
	s.timer, s.timerSeq = at, w.seq
	if at == clock.Never {
		return
	}
	if at < w.now {
		at, s.timer = w.now, w.now
	}
	h := &w.queue.timers
	if s.entry == noEntry {
		h.add(timer{at, w.seq, m})
		return
	}
	first := h.entries[s.entry].at
	switch {
	case first <= at:
	case first.Sub(w.now)/farAway > at.Sub(w.now):
		w.queue.push(event{at, w.seq, subject{member: m}, purpose{kind: timerNear}})
	default:
		h.up(int(s.entry), timer{at, w.seq, m})
	}
}

// firstTimer is the turn of the first entry: its timer is due, or was put off.
func (w *World) firstTimer() {
	h := &w.queue.timers
	e := h.entries[0]
	w.timerDue(e.member, e.at, e.seq)
	// Only e.member's policy was stepped, and its entry came first already: it
	// still is the first one.
	if s := &w.sites[e.member]; s.timer == clock.Never {
		h.removeFirst()
	} else {
		h.down(0, timer{s.timer, s.timerSeq, e.member})
	}
}

var timerEvent = policy.Event{Kind: policy.Timer}

// timerDue tells the policy of its timer, if it is the one it waits for.
func (w *World) timerDue(m int32, at clock.Instant, seq uint64) {
	if s := &w.sites[m]; s.timer == at && s.timerSeq == seq {
		s.timer = clock.Never
		w.step(m, &timerEvent)
	}
}
