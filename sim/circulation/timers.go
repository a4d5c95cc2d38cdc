package circulation

import "github.com/wandertoken/wander/protocol/clock"

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
