package plan

import "time"

// Times of the plans in this file.
const (
	// settle is how long the group of half-dead runs before members die.
	settle = 10 * time.Second
	// minCut and maxCut bound a cut of the plan cut, and cutPause is between two of them:
	// long enough for the others to replace the token, and for all to meet again.
	minCut, maxCut, cutPause = 20 * time.Second, 2 * time.Minute, 30 * time.Second
	// leastDial is for how long a dial waits at least for an answer, detection how much
	// longer than the silence it may take to find one, and answers what is left for
	// questions.
	leastDial, detection, answers = 3 * time.Second, 1500 * time.Millisecond, 2 * time.Second
	// backPause is between two faults of the plans rollback and clone.
	backPause = 4 * time.Second
	// minBack and maxBack bound how old a copy is, and for how long a clone runs.
	minBack, maxBack = 2 * time.Second, 15 * time.Second
)

// exclusive are resources of one token for a slot, one under each policy. Who misses
// their token makes another one after minutes only, unless something is known to fail.
func exclusive(operation, hold, interval time.Duration) []Resource {
	list := []Resource{
		{Name: "fair", Policy: "wandering", Preset: "fair", MinInterval: interval},
		{Name: "light", Policy: "wandering", Preset: "light", MinInterval: interval},
		{Name: "ring", Policy: "ring", Preset: "e"},
	}
	for i := range list {
		list[i].Slots, list[i].OperationTime, list[i].MaxHold = 1, operation, hold
	}
	return list
}

// quietDemands are what members want in the plan quiet: the names of the resources end
// in it, and who of n members has which demand.
var quietDemands = []struct {
	name string
	of   func(i, n int) (d Demand, wants bool)
}{
	{"nobody", func(int, int) (Demand, bool) { return Demand{}, false }},
	{"one", func(i, _ int) (Demand, bool) { return Demand{}, i == 0 }},
	{"some", func(i, _ int) (Demand, bool) { return Demand{Pause: time.Duration(20*(i+1)) * time.Second}, i%2 == 0 }},
	{"all", func(int, int) (Demand, bool) { return Demand{}, true }},
}

// quiet is a group in which nothing fails. Under each policy there are resources that
// nobody wants, one member always, some now and then, and all always; and one that the
// last member's daemon runs by itself. The times are those of the README's group. One
// token is enough, and no program runs beside another one.
func (m *maker) quiet() {
	n := len(m.plan.Members)
	add := func(r Resource, name string, of func(i, n int) (Demand, bool)) {
		r.Name += "-" + name
		r.Alone = true
		if r.Policy != "ring" { // which may make one where members do not agree on who is next
			r.MaxTokens = r.Slots
		}
		m.plan.Resources = append(m.plan.Resources, r)
		for i := range m.plan.Members {
			if d, wants := of(i, n); wants {
				d.Resource = r.Name
				m.plan.Members[i].Demands = append(m.plan.Members[i].Demands, d)
			}
		}
	}
	list := exclusive(2*time.Second, 20*time.Second, 500*time.Millisecond)
	for _, r := range list {
		for _, q := range quietDemands {
			add(r, q.name, q.of)
		}
	}
	add(list[0], "daemon", func(i, n int) (Demand, bool) { return Demand{Daemon: true}, i == n-1 })
}

// busy are the resources of plans in which everybody always wants everything. While who
// reaches each other wants, and nobody runs, is bounded by what docs/recovery.md says of a
// holder that dies with its keeper.
func (m *maker) busy() {
	const operation, hold, interval = 600 * time.Millisecond, 3 * time.Second, 200 * time.Millisecond
	m.plan.Resources = append(exclusive(operation, hold, interval),
		Resource{Name: "several", Policy: "multitoken", Preset: "split", Slots: 1, OperationTime: operation, MaxHold: hold, TargetEvery: time.Duration(len(m.plan.Members)) * operation / 2, Several: true})
	for i := range m.plan.Resources {
		r := &m.plan.Resources[i]
		r.MaxStall = r.MaxHold + max(m.plan.Silence, leastDial) + detection + answers
	}
	for i := range m.plan.Members {
		for _, r := range m.plan.Resources {
			m.plan.Members[i].Demands = append(m.plan.Members[i].Demands, Demand{Resource: r.Name})
		}
	}
}

// limit sets the limits of a resource.
func (m *maker) limit(name string, set func(*Resource)) {
	for i := range m.plan.Resources {
		if m.plan.Resources[i].Name == name {
			set(&m.plan.Resources[i])
		}
	}
}

// halfDead is a group of which half loses power, at once, and later all but two. They come
// back in the end. Those who live take turns.
func (m *maker) halfDead() {
	m.busy()
	m.limit("fair", func(r *Resource) { r.MaxTurn = 2 })
	for _, name := range []string{"fair", "light", "ring"} { // several has several tokens
		m.limit(name, func(r *Resource) { r.Alone = true })
	}
	n, end := len(m.plan.Members), m.plan.For-m.plan.Calm
	first, then := m.early(settle), end/2
	for i, victim := range m.rng.Perm(n)[:max(n/2, n-2)] {
		at := first
		if i >= n/2 {
			at = then
		}
		m.plan.Steps = append(m.plan.Steps, Step{At: at, For: end - at, Fault: Power, Member: []int{victim}})
	}
}

// early is a time, or sooner in a run that is too short for it.
func (m *maker) early(at time.Duration) time.Duration { return min(at, (m.plan.For-m.plan.Calm)/2) }

// dialOnly is a group of which half only dials out: every other member, so that with
// ids in any order some are neighbours. They are served like the others.
func (m *maker) dialOnly() {
	m.busy()
	for i := range m.plan.Members {
		m.plan.Members[i].DialOnly = i%2 == 1
	}
	m.even()
}

// dialTwo is a group of which two only dial out, who are neighbours in a ring.
func (m *maker) dialTwo() {
	m.busy()
	m.plan.Adjacent = true
	for i := range min(2, len(m.plan.Members)-1) {
		m.plan.Members[i].DialOnly = true
	}
	m.even()
}

// even limits how unevenly members are served, but for what is drawn at random.
func (m *maker) even() {
	for i := range m.plan.Resources {
		if r := &m.plan.Resources[i]; r.Preset == "fair" || r.Preset == "e" {
			r.MaxUneven = 1.5
		}
	}
}

// cut is a group in which whoever runs a program is cut off, again and again, for up to
// minutes: in turn from all others, from the keeper of its token alone, and with half of
// the group from the half with the keeper. What runs there and elsewhere at once is
// measured.
func (m *maker) cut() {
	m.busy()
	n, last := len(m.plan.Members), m.plan.For-m.plan.Calm
	for i, at := 0, m.early(settle); ; i++ {
		s := Step{At: at, For: m.between(minCut, maxCut), Holder: m.resource()}
		s.For = min(s.For, max(last/4, time.Second))
		switch victims := m.rng.Perm(n); i % 3 {
		case 0:
			s.Fault, s.Member = Cut, victims[:1]
		case 1:
			s.Fault, s.Keeper, s.Member = Part, true, victims[:2]
		case 2:
			s.Fault, s.Keeper, s.Member = Split, true, victims[:n/2]
		}
		if at += s.For + cutPause; s.At+s.For > last {
			return
		}
		m.plan.Steps = append(m.plan.Steps, s)
	}
}

// rollback is a group in which journals go back, one at a time: a copy of some seconds
// before is put back, or an end is cut off.
func (m *maker) rollback() {
	m.busy()
	kinds := []Step{{Fault: OldCopy}, {Fault: CutTail, Bytes: 200}, {Fault: CutTail, Bytes: 3000}}
	m.inTurn(func(i int) Step {
		s := kinds[i%len(kinds)]
		if s.For = m.between(100*time.Millisecond, time.Second); s.Fault == OldCopy {
			s.For = m.between(minBack, maxBack)
		}
		return s
	})
}

// clone is a group in which one member at a time is copied, and both run: in turn its
// folder, and its machine.
func (m *maker) clone() {
	m.busy()
	kinds := []Fault{Clone, Twin}
	m.inTurn(func(i int) Step { return Step{Fault: kinds[i%len(kinds)], For: m.between(minBack, maxBack)} })
}

// inTurn makes one step after the other, each of a member drawn at random.
func (m *maker) inTurn(make func(i int) Step) {
	last := m.plan.For - m.plan.Calm
	for i, at := 0, m.early(settle); ; i++ {
		s := make(i)
		s.At, s.For, s.Member = at, min(s.For, max(last/4, time.Second)), []int{m.rng.IntN(len(m.plan.Members))}
		if at += s.For + backPause; s.At+s.For > last {
			return
		}
		m.plan.Steps = append(m.plan.Steps, s)
	}
}
