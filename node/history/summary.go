package history

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// kept is for how many minutes there are sums.
const kept = int(span / time.Minute)

// MaxMembers bounds the members whose turns are counted by minutes for one resource. The turns of others count as not heard of.
const MaxMembers = 512

// maxMissed bounds the turns that one hop makes known: a number that is far ahead is a lie, or of long ago.
const maxMissed = 64

// Summary is the last hour of a resource by minutes, the one that runs now last.
type Summary struct {
	Resource string
	Members  []Share // those with most turns first
	Waits    [kept]WaitSum
	Overlap  time.Duration // for which more programs ran at once than there are slots, as far as is kept
}

// Share counts the turns of a member in each minute: how often it was heard of with a token. The hop of a token tells how
// many turns there were since, so that those of which nothing was heard count, too: as the zero member's.
type Share struct {
	Member ident.Member
	Total  int
	Turns  [kept]uint16
}

// WaitSum sums up the waits here that ended in one minute.
type WaitSum struct {
	Count   int
	Sum     time.Duration
	Longest time.Duration
}

// minutes is one resource's last hour. The index of a minute is its number modulo kept.
type minutes struct {
	last    int64 // number of the newest minute
	members map[ident.Member]*[kept]uint16
	waits   [kept]WaitSum
}

// minutes are those of a resource, nil when there are too many. Needs mu.
func (l *Log) minutes(resource string) *minutes {
	m := l.resources[resource]
	if m == nil && len(l.resources) < MaxPlaces {
		m = &minutes{members: make(map[ident.Member]*[kept]uint16)}
		l.resources[resource] = m
	}
	return m
}

func minuteOf(t clock.Instant) int64 { return int64(t) / int64(time.Minute) }

// reach empties the minutes up to the one of t.
func (m *minutes) reach(t clock.Instant) {
	to := minuteOf(t)
	if to <= m.last {
		return
	}
	for n := max(m.last+1, to-int64(kept)+1); n <= to; n++ {
		i := n % int64(kept)
		m.waits[i] = WaitSum{}
		for _, turns := range m.members {
			turns[i] = 0
		}
	}
	m.last = to
	for id, turns := range m.members {
		if *turns == [kept]uint16{} {
			delete(m.members, id)
		}
	}
}

// turned counts turns.
func (m *minutes) turned(who ident.Member, at clock.Instant, n uint64) {
	if n == 0 {
		return
	}
	m.reach(at)
	t := m.members[who]
	if t == nil && len(m.members) >= MaxMembers {
		who = ident.Member{}
		t = m.members[who]
	}
	if t == nil {
		t = new([kept]uint16)
		m.members[who] = t
	}
	if i := minuteOf(at) % int64(kept); minuteOf(at) > m.last-int64(kept) {
		t[i] = uint16(min(math.MaxUint16, uint64(t[i])+n))
	}
}

func (m *minutes) waited(asked, answered clock.Instant) {
	m.reach(answered)
	if minuteOf(answered) <= m.last-int64(kept) {
		return
	}
	w := &m.waits[minuteOf(answered)%int64(kept)]
	took := answered.Sub(asked)
	w.Count++
	w.Sum += took
	w.Longest = max(w.Longest, took)
}

// Summaries are the last hour of each resource, by name. slots tells how many tokens a resource has.
func (l *Log) Summaries(now clock.Instant, slots func(resource string) int) []Summary {
	l.mu.Lock()
	list := make([]Summary, 0, len(l.resources))
	for name, m := range l.resources {
		m.reach(now)
		list = append(list, m.summary(name))
	}
	l.mu.Unlock()
	slices.SortFunc(list, func(a, b Summary) int { return cmp.Compare(a.Resource, b.Resource) })
	all := l.Since(0, now).Operations
	for i := range list {
		for _, s := range Overlaps(all, list[i].Resource, max(1, slots(list[i].Resource)), now) {
			list[i].Overlap += s.To.Sub(s.From)
		}
	}
	return list
}

// summary is the last hour, the minute of now last.
func (m *minutes) summary(name string) Summary {
	s := Summary{Resource: name}
	for id, turns := range m.members {
		share := Share{Member: id}
		for i := range kept {
			share.Turns[i] = turns[(m.last+1+int64(i))%int64(kept)]
			share.Total += int(share.Turns[i])
		}
		s.Members = append(s.Members, share)
	}
	slices.SortFunc(s.Members, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), slices.Compare(a.Member[:], b.Member[:]))
	})
	for i := range kept {
		s.Waits[i] = m.waits[(m.last+1+int64(i))%int64(kept)]
	}
	return s
}

// Stretch is a time in which more programs ran at once than there are slots.
type Stretch struct{ From, To clock.Instant }

// Overlaps are the times in which more programs of a resource ran at once than it has slots, oldest first. Programs that
// run count up to now. Of other members' programs the ends are as late as they can be, so an overlap is a possible one.
func Overlaps(list []Operation, resource string, slots int, now clock.Instant) (found []Stretch) {
	type edge struct {
		at clock.Instant
		by int
	}
	var edges []edge
	for _, o := range list {
		if o.Resource != resource {
			continue
		}
		end := o.Ended
		if end == 0 {
			end = now
		}
		if end > o.Begun {
			edges = append(edges, edge{o.Begun, 1}, edge{end, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	running := 0
	for _, e := range edges {
		before := running > slots
		running += e.by
		switch {
		case !before && running > slots:
			found = append(found, Stretch{From: e.at})
		case before && running <= slots:
			found[len(found)-1].To = e.at
		}
	}
	return found
}
