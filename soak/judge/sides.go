package judge

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// Side is members that reached each other, and nobody else, for a time.
type Side struct {
	Members []string `json:"members"`
	Idle    []string `json:"idle,omitempty"` // resources of which no member can have enough votes
	Span
}

// longestStall is the longest time on one side in which somebody waited and nobody ran.
func (s Side) longestStall(all []wait, runs []Run, resource string) Span {
	var waits []wait
	for _, w := range all {
		if slices.Contains(s.Members, w.member) {
			w.Span = w.Span.and(s.Span)
			waits = append(waits, w)
		}
	}
	var spans []Span
	for _, r := range runs {
		if r.Resource == resource && slices.Contains(s.Members, r.Member) {
			spans = append(spans, r.Whole)
		}
	}
	return longestStall(waits, spans)
}

// afterCut is how long after a cut a program may begin whose votes came before it: the
// process is there, and has to get a processor.
const afterCut = time.Second

// begun are the programs that began on a side.
func (s Side) begun(runs []Run, resource string, began clock.Instant) (list []string) {
	for _, r := range runs {
		if r.Resource == resource && slices.Contains(s.Members, r.Member) && r.Sure.From >= s.From.Add(afterCut) && r.Sure.From < s.To {
			list = append(list, fmt.Sprintf("at %s, %.3f s, %.3f s after the cut from all but %v", r.Member, r.Sure.From.Sub(began).Seconds(), r.Sure.From.Sub(s.From).Seconds(), s.Members))
		}
	}
	return list
}

// sides is how long it took at most until somebody ran where members reached each other
// and not the others.
func (s *service) sides(e Evidence) {
	if len(e.Sides) == 0 {
		return
	}
	var max *float64
	if most := cmp.Or(s.resource.MaxSide, s.resource.MaxStall); most > 0 {
		max = limit(most.Seconds())
	}
	own := slices.DeleteFunc(slices.Clone(e.Outages), func(o Outage) bool { return o.Fault == "split" })
	all := waits(e.Asks, s.runs, own, s.resource.Name)
	longest, who := Span{}, Side{}
	var without []string
	for _, side := range e.Sides {
		if slices.Contains(side.Idle, s.resource.Name) {
			without = append(without, side.begun(s.runs, s.resource.Name, e.Began)...)
			continue
		}
		if stall := side.longestStall(all, s.runs, s.resource.Name); stall.Length() > longest.Length() {
			longest, who = stall, side
		}
	}
	var when []string
	if longest.Length() > 0 {
		when = []string{fmt.Sprintf("from %.1f s on, %v", longest.From.Sub(e.Began).Seconds(), who.Members)}
	}
	s.add("longest time with somebody waiting and nobody running on a side of a cut", "s", longest.Length().Seconds(), max, when...)
	if s.resource.MaxSide > 0 {
		s.add("programs that began on a side without votes", "", float64(len(without)), limit(0), without...)
	}
}
