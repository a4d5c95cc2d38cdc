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
	rng      *rand.Rand // streamWatch
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

func newWatches(cfg *Config) watches {
	return watches{rng: rand.New(rand.NewPCG(cfg.Seed, streamWatch))}
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
func (w *Simulation) watch(m int32, id ident.Member) {
	to := int32(memberIndex(id))
	if to < 0 || int(to) >= len(w.sites) || to == m || w.watches.find(m, to) >= 0 {
		return
	}
	for len(w.watches.of) < len(w.sites) {
		w.watches.of = append(w.watches.of, nil)
	}
	if len(w.watches.of[m]) == policy.MaxWatched {
		w.watches.end(m, 0)
	}
	begun := watch{to, clock.Never}
	epoch := w.sites[m].epoch
	switch {
	case w.sites[to].place < 0:
		w.scheduleAt(max(w.now, w.sites[to].fell.Add(w.detectAfter())), silent, m, to, epoch)
	case w.cfg.FalseSuspicion > 0 && w.watches.rng.Float64() < w.cfg.FalseSuspicion:
		after := w.watches.rng.Float64() * float64(w.operationTime.draw(w.watches.rng))
		begun.until = w.now.Add(max(1, time.Duration(after)))
		w.scheduleAt(begun.until, suspected, m, to, epoch)
	}
	w.watches.of[m] = append(w.watches.of[m], begun)
}

// unwatch is the action Unwatch.
func (w *Simulation) unwatch(m int32, id ident.Member) {
	if i := w.watches.find(m, int32(memberIndex(id))); i >= 0 {
		w.watches.end(m, i)
	}
}

// fallen ends the watches of a member that falls, and lets those that watch it
// hear of it in time.
func (w *Simulation) fallen(m int32) {
	w.sites[m].fell = w.now
	if int(m) < len(w.watches.of) {
		w.watches.of[m] = w.watches.of[m][:0]
	}
	for watcher := range w.watches.of {
		if w.watches.find(int32(watcher), m) >= 0 {
			w.schedule(w.detectAfter(), silent, int32(watcher), m, w.sites[watcher].epoch)
		}
	}
}

// silent tells a member that one which it watches still, and which is down for
// long enough, has fallen silent.
func (w *Simulation) silent(m, watched int32) {
	s := &w.sites[watched]
	if i := w.watches.find(m, watched); i >= 0 && s.place < 0 && w.now >= s.fell.Add(w.detectAfter()) {
		w.tellSilent(m, watched, i)
	}
}

// suspected is silent where nothing is wrong with the member.
func (w *Simulation) suspected(m, watched int32) {
	if i := w.watches.find(m, watched); i >= 0 && w.watches.of[m][i].until == w.now {
		w.watches.part(m, watched, w.now, w.now.Add(w.detectAfter()))
		w.tellSilent(m, watched, i)
	}
}

func (w *Simulation) tellSilent(m, watched int32, i int) {
	w.watches.end(m, i)
	w.step(m, &policy.Event{Kind: policy.Silent, From: MemberID(int(watched))})
}

// part keeps two members from reaching each other.
func (w *watches) part(a, b int32, now, until clock.Instant) {
	kept := w.partings[:0]
	for _, p := range w.partings {
		if p.until > now {
			kept = append(kept, p)
		}
	}
	w.partings = append(kept, parting{a, b, until})
}

// parted reports whether two members do not reach each other.
func (w *watches) parted(a, b int32, now clock.Instant) bool {
	for _, p := range w.partings {
		if now < p.until && (p.a == a && p.b == b || p.a == b && p.b == a) {
			return true
		}
	}
	return false
}
