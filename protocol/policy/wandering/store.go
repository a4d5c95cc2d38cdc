package wandering

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// witnesses is how many members keep in mind when a member was served: so many
	// that reports of whoever waits too long come within a fraction of a round.
	witnesses = 12

	// storeMost bounds for how many members one is a witness: four times as many as
	// on average, which rendezvous hashing never comes near.
	storeMost = 4 * witnesses
)

// testimony is when a member was served, as its witness knows.
type testimony struct {
	member ident.Member
	served clock.Instant
	sure   bool // somebody who came after it said so; otherwise it has only announced itself
	wants  bool
}

// store is what one member knows as a witness. What members say about themselves
// is only whether they want the token.
type store struct {
	list [storeMost]testimony
	n    int
	// marks are who said last that a member was served: nobody holds a token again
	// so soon that it could say much.
	marks [2 * witnesses]source
	mark  int
}

func (s *store) find(m ident.Member) *testimony {
	for i := range s.list[:s.n] {
		if s.list[i].member == m {
			return &s.list[i]
		}
	}
	return nil
}

// add makes room for a member, where there is any; otherwise in place of the one
// that was served last.
func (s *store) add(m ident.Member) *testimony {
	if s.n < storeMost {
		s.n++
		s.list[s.n-1] = testimony{member: m}
		return &s.list[s.n-1]
	}
	last := &s.list[0]
	for i := range s.list {
		if s.list[i].served > last.served {
			last = &s.list[i]
		}
	}
	*last = testimony{member: m}
	return last
}

func (s *store) remove(m ident.Member) {
	for i := range s.list[:s.n] {
		if s.list[i].member == m {
			s.n--
			s.list[i] = s.list[s.n]
			return
		}
	}
}

// mayMark reports whether to believe that one says again that a member was served,
// after a while in which it can hardly have held the token again, and notes it.
func (s *store) mayMark(by ident.Member, now clock.Instant, pause time.Duration) bool {
	for i := range s.marks {
		if s.marks[i].member == by && now < s.marks[i].at.Add(pause) {
			return false
		}
	}
	s.marks[s.mark] = source{by, now}
	s.mark = (s.mark + 1) % len(s.marks)
	return true
}

// oldest are those that want the token and were served before an instant, at most
// reportMost, the longest ago first.
func (s *store) oldest(served clock.Instant, found *[reportMost]*testimony) (n int) {
	for i := range s.list[:s.n] {
		t := &s.list[i]
		if !t.wants || t.served >= served {
			continue
		}
		k := n
		for k > 0 && t.served < found[k-1].served {
			k--
		}
		if k == reportMost {
			continue
		}
		n = min(n+1, reportMost)
		copy(found[k+1:n], found[k:])
		found[k] = t
	}
	return n
}
