package keeper

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// members is a list of members, each of them once.
type members []ident.Member

func (l members) has(m ident.Member) bool { return slices.Contains(l, m) }

// add appends m unless the list has it, and reports whether it did.
func (l *members) add(m ident.Member) bool {
	if l.has(m) {
		return false
	}
	*l = append(*l, m)
	return true
}

// addUpTo does so where the list has at most so many: the first one is forgotten for it.
func (l *members) addUpTo(most int, m ident.Member) {
	if l.add(m) && len(*l) > most {
		*l = slices.Delete(*l, 0, 1)
	}
}

func (l *members) remove(m ident.Member) {
	*l = slices.DeleteFunc(*l, func(x ident.Member) bool { return x == m })
}

// roll is a list of members, each of them once and with an instant.
type roll []entry

type entry struct {
	member ident.Member
	at     clock.Instant
}

func (r roll) find(m ident.Member) (at clock.Instant, listed bool) {
	for _, e := range r {
		if e.member == m {
			return e.at, true
		}
	}
	return 0, false
}

func (r roll) has(m ident.Member) bool {
	_, listed := r.find(m)
	return listed
}

func (r *roll) remove(m ident.Member) {
	*r = slices.DeleteFunc(*r, func(e entry) bool { return e.member == m })
}

// put adds m at the end, or moves it there. A roll has at most as many entries: the first one makes room.
func (r *roll) put(m ident.Member, at clock.Instant, most int) {
	r.remove(m)
	*r = pushed(*r, entry{m, at}, most)
}

// endUntil removes the entries up to an instant.
func (r *roll) endUntil(t clock.Instant) {
	*r = slices.DeleteFunc(*r, func(e entry) bool { return e.at <= t })
}

// pushed is a list with one more element at its end. The first one makes room if the list has as many as it may.
func pushed[E any](list []E, e E, most int) []E {
	if len(list) >= most {
		list = slices.Delete(list, 0, 1)
	}
	return append(list, e)
}
