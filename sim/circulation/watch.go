package circulation

import (
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// watches is who watches whom.
type watches struct {
	*group
	agents   *agents
	stream   *rand.Rand // streamWatch
	of       [][]watch  // by member: whom it watches, the oldest watch first
	partings []parting
}

// watch is one member that another one watches.
type watch struct {
	member int32
	until  clock.Instant // when it is suspected though nothing is wrong; or clock.Never
}

// parting is two members that do not reach each other until an instant.
type parting struct {
	a, b  int32
	until clock.Instant
}

// find is where a member's watch on another one is, or -1.
func (w *watches) find(m, watched int32) int {
	if int(m) < len(w.of) {
		for i := range w.of[m] {
			if w.of[m][i].member == watched {
				return i
			}
		}
	}
	return -1
}

// end ends a watch.
func (w *watches) end(m int32, i int) {
	list := w.of[m]
	w.of[m] = append(list[:i], list[i+1:]...)
}

// watch is the action Watch. A stranger is silent from the first moment on.
func (w *watches) watch(m int32, id ident.Member) {
	to := int32(memberIndex(id))
	if to < 0 || int(to) >= len(w.sites) || to == m || w.find(m, to) >= 0 {
		return
	}
	for len(w.of) < len(w.sites) {
		w.of = append(w.of, nil)
	}
	if len(w.of[m]) == policy.MaxWatched {
		w.end(m, 0)
	}
	begun := watch{to, clock.Never}
	epoch := w.sites[m].epoch
	switch {
	case w.sites[to].place < 0:
		w.scheduleAt(max(w.now, w.sites[to].fell.Add(w.cfg.DetectAfter)), silent, m, to, epoch)
	case w.cfg.FalseSuspicion > 0 && w.stream.Float64() < w.cfg.FalseSuspicion:
		after := w.stream.Float64() * float64(w.cfg.Operation.draw(w.stream))
		begun.until = w.now.Add(max(1, time.Duration(after)))
		w.scheduleAt(begun.until, suspected, m, to, epoch)
	}
	w.of[m] = append(w.of[m], begun)
}

// unwatch is the action Unwatch.
func (w *watches) unwatch(m int32, id ident.Member) {
	if i := w.find(m, int32(memberIndex(id))); i >= 0 {
		w.end(m, i)
	}
}

// fallen ends the watches of a member that falls, and lets those that watch it
// hear of it in time.
func (w *watches) fallen(m int32) {
	w.sites[m].fell = w.now
	if int(m) < len(w.of) {
		w.of[m] = w.of[m][:0]
	}
	for watcher := range w.of {
		if w.find(int32(watcher), m) >= 0 {
			w.schedule(w.cfg.DetectAfter, silent, int32(watcher), m, w.sites[watcher].epoch)
		}
	}
}

// silent tells a member that one which it watches still, and which is down for
// long enough, has fallen silent.
func (w *watches) silent(m, watched int32) {
	s := &w.sites[watched]
	if i := w.find(m, watched); i >= 0 && s.place < 0 && w.now >= s.fell.Add(w.cfg.DetectAfter) {
		w.tellSilent(m, watched, i)
	}
}

// suspected is silent where nothing is wrong with the member.
func (w *watches) suspected(m, watched int32) {
	if i := w.find(m, watched); i >= 0 && w.of[m][i].until == w.now {
		w.part(m, watched, w.now.Add(w.cfg.DetectAfter))
		w.tellSilent(m, watched, i)
	}
}

func (w *watches) tellSilent(m, watched int32, i int) {
	w.end(m, i)
	w.agents.step(m, &policy.Event{Kind: policy.Silent, From: MemberID(int(watched))})
}

// part keeps two members from reaching each other.
func (w *watches) part(a, b int32, until clock.Instant) {
	kept := w.partings[:0]
	for _, p := range w.partings {
		if p.until > w.now {
			kept = append(kept, p)
		}
	}
	w.partings = append(kept, parting{a, b, until})
}

// parted reports whether two members do not reach each other.
func (w *watches) parted(a, b int32) bool {
	for _, p := range w.partings {
		if w.now < p.until && (p.a == a && p.b == b || p.a == b && p.b == a) {
			return true
		}
	}
	return false
}
