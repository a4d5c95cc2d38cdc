package judge

import (
	"cmp"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// Ask is one wander run: from its start until it ended.
type Ask struct {
	Resource string `json:"resource"`
	Member   string `json:"member"`
	Span
	Exit int `json:"exit"`
}

// Outage is a time in which a member cannot be expected to be served, or to
// pass on a token.
type Outage struct {
	Member string `json:"member"`
	Fault  string `json:"fault"`
	Span
}

// wait is a time in which a member wanted to run, could be expected to be
// served, and did not run.
type wait struct {
	member string
	Span
}

// waits are those under a resource; runs are in the order of their beginning.
func waits(asks []Ask, runs []Run, outages []Outage, resource string) (list []wait) {
	begins := make(map[string][]Span) // of each member's programs
	for _, r := range runs {
		if r.Resource == resource {
			begins[r.Member] = append(begins[r.Member], Span{r.Whole.From, r.Sure.From})
		}
	}
	for _, a := range asks {
		if a.Resource != resource {
			continue
		}
		left := []Span{a.Span}
		own := begins[a.Member]
		next, _ := slices.BinarySearchFunc(own, a.From, func(s Span, from clock.Instant) int { return cmp.Compare(s.To, from) })
		if next < len(own) && own[next].To < a.To { // its program
			left[0].To = own[next].From
		}
		for _, o := range outages {
			if o.Member == a.Member {
				left = without(left, o.Span)
			}
		}
		for _, s := range left {
			if s.Length() > 0 {
				list = append(list, wait{a.Member, s})
			}
		}
	}
	return list
}

// without are the parts of spans outside of another one.
func without(spans []Span, out Span) (list []Span) {
	for _, s := range spans {
		for _, part := range []Span{{s.From, min(s.To, out.From)}, {max(s.From, out.To), s.To}} {
			if part.To > part.From {
				list = append(list, part)
			}
		}
	}
	return list
}

// longestStall is the longest time in which somebody waited and nobody ran.
func longestStall(waits []wait, runs []Span) (longest Span) {
	var waiting []Span
	for _, w := range waits {
		waiting = append(waiting, w.Span)
	}
	var current Span
	running := union(runs)
	for _, s := range union(waiting) {
		for _, idle := range outside(s, running) {
			if idle.From > current.To {
				current = idle
			}
			current.To = idle.To
			if current.Length() > longest.Length() {
				longest = current
			}
		}
	}
	return longest
}

// union are the times that any of the spans covers, in order.
func union(spans []Span) (list []Span) {
	sweep(spans, func(from, to clock.Instant, n int) {
		switch {
		case n == 0:
		case len(list) > 0 && list[len(list)-1].To == from:
			list[len(list)-1].To = to
		default:
			list = append(list, Span{from, to})
		}
	})
	return list
}

// outside are the parts of a span that none of the others covers; these are in
// order and apart.
func outside(s Span, others []Span) []Span {
	list := []Span{s}
	at, _ := slices.BinarySearchFunc(others, s.From, func(o Span, from clock.Instant) int { return cmp.Compare(o.To, from) })
	for _, o := range others[at:] {
		if o.From >= s.To {
			break
		}
		list = without(list, o)
	}
	return list
}

// monopoly is the most programs of one member that began one after the other,
// with none of anybody else between, while one and the same other member waited.
// Programs at members that a fault had hit do not count: one that is cut off has
// nobody to pass a token to.
func monopoly(waits []wait, runs []Run, outages []Outage, resource string) (most int, took time.Duration) {
	var order []Run // by birth, as what ends a wait is the birth of a program
	for _, r := range runs {
		if r.Resource == resource && !r.impaired(outages) {
			order = append(order, r)
		}
	}
	slices.SortStableFunc(order, func(a, b Run) int { return cmp.Compare(a.Whole.From, b.Whole.From) })
	for _, w := range waits {
		first, _ := slices.BinarySearchFunc(order, w.From, func(r Run, from clock.Instant) int { return cmp.Compare(r.Whole.From, from) })
		n, member, since := 0, "", w.From
		for _, r := range order[first:] {
			if r.Whole.From >= w.To {
				break
			}
			if r.Member != member {
				n, member, since = 0, r.Member, r.Whole.From
			}
			if n++; n > most && member != w.member {
				most, took = n, r.Whole.To.Sub(since)
			}
		}
	}
	return most, took
}

// unservedIn are the members that waited all the time.
func unservedIn(waits []wait, calm Span) (list []string) {
	for _, w := range waits {
		if w.From <= calm.From && w.To >= calm.To {
			list = append(list, w.member)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// recovery is how long it took after a fault until somebody else ran.
type recovery struct {
	Fault, Resource, Member string
	Took                    time.Duration
}

// recoveries are those after faults that hit a member whose program ran, if
// somebody else waited.
func recoveries(outages []Outage, asks []wait, runs []Run, resource string) (list []recovery) {
	for _, o := range outages {
		hit := slices.ContainsFunc(runs, func(r Run) bool {
			return r.Resource == resource && r.Member == o.Member && r.Whole.From <= o.From && o.From < r.Whole.To
		})
		waited := slices.ContainsFunc(asks, func(w wait) bool { return w.member != o.Member && w.From <= o.From && o.From < w.To })
		if !hit || !waited {
			continue
		}
		for _, r := range runs {
			if r.Resource == resource && r.Member != o.Member && r.Sure.From >= o.From {
				list = append(list, recovery{o.Fault, resource, o.Member, r.Sure.From.Sub(o.From)})
				break
			}
		}
	}
	return list
}

// quantile is that of durations, 0 if there are none.
func quantile(list []time.Duration, q float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}
