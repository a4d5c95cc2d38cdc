package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// Minutes is how many minutes the sums have.
const Minutes = int(Span / time.Minute)

// MaxMembers bounds the members whose programs are summed up by minutes for one resource. The programs of others count as those of
// the zero member.
const MaxMembers = 512

// Summary is the last hour of a resource by minutes, the one that runs now last.
type Summary struct {
	Resource string
	Members  []Share // whose programs ran longest first
	Waits    [Minutes]WaitSum
	Overlap  time.Duration // for which more programs ran at once than there are slots, as far as is kept
}

// Share is for how long a member's programs have run, in seconds of each minute.
type Share struct {
	Member ident.Member // zero: those beyond MaxMembers
	Total  time.Duration
	Ran    [Minutes]float32
}

// WaitSum sums up the waits here that ended in one minute.
type WaitSum struct {
	Count   int
	Sum     time.Duration
	Longest time.Duration
}

// minutes is one resource's last hour. The index of a minute is its number modulo Minutes.
type minutes struct {
	last    int64 // number of the newest minute
	members map[ident.Member]*[Minutes]float32
	waits   [Minutes]WaitSum
}

// minutes are those of a resource, nil when there are too many. Needs mu.
func (l *Log) minutes(resource string) *minutes {
	m := l.resources[resource]
	if m == nil && len(l.resources) < MaxPlaces {
		m = &minutes{members: make(map[ident.Member]*[Minutes]float32)}
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
	for n := max(m.last+1, to-int64(Minutes)+1); n <= to; n++ {
		i := n % int64(Minutes)
		m.waits[i] = WaitSum{}
		for _, ran := range m.members {
			ran[i] = 0
		}
	}
	m.last = to
	for id, ran := range m.members {
		if *ran == [Minutes]float32{} {
			delete(m.members, id)
		}
	}
}

// ran adds a program's time.
func (m *minutes) ran(who ident.Member, from, to clock.Instant) {
	m.reach(to)
	r := m.members[who]
	if r == nil {
		if len(m.members) >= MaxMembers {
			who = ident.Member{}
		}
		if r = m.members[who]; r == nil {
			r = new([Minutes]float32)
			m.members[who] = r
		}
	}
	from = max(from, clock.Instant(int64(time.Minute)*max(0, m.last-int64(Minutes)+1)))
	for from < to {
		n := minuteOf(from)
		end := min(to, clock.Instant((n+1)*int64(time.Minute)))
		r[n%int64(Minutes)] += float32(end.Sub(from).Seconds())
		from = end
	}
}

func (m *minutes) waited(asked, answered clock.Instant) {
	m.reach(answered)
	if minuteOf(answered) <= m.last-int64(Minutes) {
		return
	}
	w := &m.waits[minuteOf(answered)%int64(Minutes)]
	took := answered.Sub(asked)
	w.Count++
	w.Sum += took
	w.Longest = max(w.Longest, took)
}

// Summaries are the last hour of each resource, by name. Programs that run count up to now; slots tells how many tokens a
// resource has.
func (l *Log) Summaries(now clock.Instant, slots func(resource string) int) []Summary {
	l.mu.Lock()
	l.settle(now)
	list := make([]Summary, 0, len(l.resources))
	for at, p := range l.places { // a program that runs for long has ended nowhere yet
		if len(p.running) > 0 {
			l.minutes(at.Resource)
		}
	}
	for name, m := range l.resources {
		m.reach(now)
		list = append(list, m.summary(name, l.runningAt(name), now))
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

// runningAt are the programs of a resource that run. Needs mu.
func (l *Log) runningAt(resource string) (list []Operation) {
	for at, p := range l.places {
		if at.Resource == resource {
			list = append(list, p.running...)
		}
	}
	return list
}

// summary is the last hour, the minute of now last.
func (m *minutes) summary(name string, running []Operation, now clock.Instant) Summary {
	s := Summary{Resource: name}
	whole := minutes{last: m.last, members: make(map[ident.Member]*[Minutes]float32, len(m.members)+len(running))}
	for id, ran := range m.members {
		copied := *ran
		whole.members[id] = &copied
	}
	for _, o := range running {
		whole.ran(o.Member, o.Begun, now)
	}
	for id, ran := range whole.members {
		share := Share{Member: id}
		var total float64
		for i := range Minutes {
			v := ran[(m.last+1+int64(i))%int64(Minutes)]
			share.Ran[i] = v
			total += float64(v)
		}
		share.Total = time.Duration(total * float64(time.Second))
		s.Members = append(s.Members, share)
	}
	slices.SortFunc(s.Members, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), slices.Compare(a.Member[:], b.Member[:]))
	})
	for i := range Minutes {
		s.Waits[i] = m.waits[(m.last+1+int64(i))%int64(Minutes)]
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
