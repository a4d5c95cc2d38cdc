package handoff

import (
	"container/heap"
	"crypto/sha256"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

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
	rec.slot = -1
	return rec
}

// wakeAt sets when the machine looks at a record again.
func (m *Machine) wakeAt(rec *record, at clock.Instant) {
	rec.wake = at
	switch {
	case at == clock.Never && rec.slot >= 0:
		heap.Remove(&m.heap, rec.slot)
	case at == clock.Never:
	case rec.slot < 0:
		heap.Push(&m.heap, rec)
	default:
		heap.Fix(&m.heap, rec.slot)
	}
}

// NextDeadline is when Tick wants to be called, or clock.Never.
func (m *Machine) NextDeadline() clock.Instant {
	if len(m.heap) == 0 {
		return clock.Never
	}
	return m.heap[0].wake
}

// Tick does what is due.
func (m *Machine) Tick() {
	for len(m.heap) > 0 && m.heap[0].wake <= m.now.Boot {
		rec := m.heap[0]
		m.wakeAt(rec, clock.Never)
		switch rec.state {
		case Live:
			m.lapse(rec, ReceiverExpire)
		case Lapsed:
			if o := m.offerers[rec.from]; o != nil {
				m.tryForget(o, rec)
			}
		case Hold:
			m.offerDue(rec)
		case Sent:
			m.retransmit(rec)
		}
	}
}

// backoff is the n-th wait (from 0) of a doubling series from first to most,
// spread by a quarter to both sides so that members do not fall into step.
func (m *Machine) backoff(first, most time.Duration, n int) time.Duration {
	d := first
	for ; n > 0 && d < most; n-- {
		d *= 2
	}
	d = min(d, most)
	return d - d/4 + time.Duration(m.jitter.Int64N(int64(d/2)+1))
}

func hashOf(raw []byte) ident.Hash { return sha256.Sum256(raw) }
