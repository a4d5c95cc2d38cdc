package plan

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// firstFault is how long the group runs undisturbed at the beginning.
	firstFault = 5 * time.Second
	// minCalm is long enough for a member that was declared failed to be back.
	minCalm = 20 * time.Second
	// minPause and maxPause are between the beginnings of two faults.
	minPause, maxPause = 2 * time.Second, 8 * time.Second
	// respite is how long a member is left alone after a fault, so that most of
	// them meet a group that works.
	respite = 4 * time.Second
)

// maker makes a plan.
type maker struct {
	plan Plan
	rng  *rand.Rand
	hit  []time.Duration // by member: until when a fault keeps it
}

func newMaker(name string, o Options) *maker {
	calm := max(minCalm, o.For/10)
	silence := cmp.Or(o.Silence, DefaultSilence)
	m := &maker{
		plan: Plan{Name: name, Seed: o.Seed, For: o.For, Calm: min(calm, o.For/2), Silence: silence, Steps: []Step{}},
		rng:  rand.New(rand.NewPCG(o.Seed, 0x736f616b)),
		hit:  make([]time.Duration, o.Members),
	}
	for i := range o.Members {
		m.plan.Members = append(m.plan.Members, Member{Name: fmt.Sprintf("m%d", i+1)})
	}
	return m
}

// group makes the resources, one for each policy that takes turns and one with
// two slots, and gives each member its part. The times are short, so that much
// happens in a short run.
func (m *maker) group() {
	const (
		operation, hold, interval = 600 * time.Millisecond, 3 * time.Second, 200 * time.Millisecond
		// stall is what the presets that watch their token's holder keep on any
		// machine: a detection of 10 s, twice, and as much again for a busy machine.
		stall = 40 * time.Second
	)
	n := len(m.plan.Members)
	m.plan.Resources = []Resource{
		{Name: "fair", Policy: "wandering", Preset: "fair", MinInterval: interval, MaxStall: stall},
		{Name: "light", Policy: "wandering", Preset: "light", MinInterval: interval, MaxStall: stall},
		{Name: "pair", Policy: "wandering", Preset: "fair", Slots: 2, MinInterval: interval, MaxStall: stall},
		{Name: "ring", Policy: "ring", Preset: "e"},
		{Name: "several", Policy: "multitoken", Preset: "split", TargetEvery: time.Duration(n) * operation / 2, Several: true},
	}
	for i := range m.plan.Resources {
		r := &m.plan.Resources[i]
		r.Slots, r.OperationTime, r.MaxHold = max(1, r.Slots), operation, hold
	}
	// The last three are what is rarer: on a small disk, volatile, and dialling out
	// only. The second one runs one resource by itself.
	if n >= 5 {
		m.plan.Members[n-3].SmallDisk = true
		m.plan.Members[n-2].Volatile = true
		m.plan.Members[n-1].DialOnly = true
	}
	for i := range m.plan.Members {
		for j, r := range m.plan.Resources {
			d := Demand{Resource: r.Name}
			switch (i + j) % 4 {
			case 0: // always
			case 1, 2:
				d.Pause = time.Duration(1+m.rng.IntN(4)) * time.Second
			case 3:
				d.Pause = 15 * time.Second
			}
			d.Daemon = i == 1 && j == 0
			m.plan.Members[i].Demands = append(m.plan.Members[i].Demands, d)
		}
	}
}

// span is a range of durations.
type span struct{ least, most time.Duration }

// mixedFaults are how long each fault of the plan lasts. Each is drawn equally
// often; what is named twice has two ranges.
var mixedFaults = []struct {
	fault Fault
	span
}{
	{Kill, span{100 * time.Millisecond, time.Second}},
	{Kill, span{5 * time.Second, 20 * time.Second}},
	{Restart, span{0, 2 * time.Second}},
	{Pause, span{time.Second, 15 * time.Second}},
	{PauseRunner, span{time.Second, 5 * time.Second}},
	{KillRunner, span{}},
	{Freeze, span{time.Second, 15 * time.Second}},
	{Power, span{500 * time.Millisecond, 20 * time.Second}},
	{Cut, span{2 * time.Second, 25 * time.Second}},
	{OneWay, span{2 * time.Second, 15 * time.Second}},
	{Full, span{2 * time.Second, 10 * time.Second}},
	{Split, span{3 * time.Second, 25 * time.Second}},
	{Lossy, span{3 * time.Second, 15 * time.Second}},
}

// mixed is every fault again and again, half of those that hit one member at
// whoever runs something.
func (m *maker) mixed() {
	m.group()
	last := m.plan.For - m.plan.Calm
	var deck []int
	for at := firstFault; at < last; at += m.between(minPause, maxPause) {
		if len(deck) == 0 {
			deck = m.rng.Perm(len(mixedFaults))
		}
		kind := mixedFaults[deck[0]]
		if kind.fault == Full && !slices.ContainsFunc(m.plan.Members, func(x Member) bool { return x.SmallDisk }) {
			deck = deck[1:]
			continue
		}
		// A short run has short faults, so that each kind finds room.
		longest := max(kind.least, min(kind.most, m.plan.For/8))
		s := Step{At: at, Fault: kind.fault, For: min(m.between(kind.least, longest), last-at)}
		if m.aim(&s) { // otherwise it is tried again
			deck = deck[1:]
			m.plan.Steps = append(m.plan.Steps, s)
		}
	}
}

// aim chooses whom a step hits. It fails when a quarter of the members has
// something to do with faults already.
func (m *maker) aim(s *Step) bool {
	var free []int
	for i, until := range m.hit {
		if until <= s.At {
			free = append(free, i)
		}
	}
	n := len(m.hit)
	if n-len(free) >= max(1, n/4) {
		return false
	}
	switch s.Fault {
	case Lossy:
		s.Loss, s.Delay = 0.02+0.2*m.rng.Float64(), m.between(0, 50*time.Millisecond)
		return true
	case Split:
		s.Member = m.rng.Perm(n)[:1+m.rng.IntN(n-1)]
		slices.Sort(s.Member)
		return true
	case PauseRunner, KillRunner:
		s.Holder = m.resource()
	default:
		if m.rng.IntN(2) == 0 {
			s.Holder = m.resource()
		}
	}
	victim := free[m.rng.IntN(len(free))]
	if s.Fault == Full {
		victim, s.Holder = slices.IndexFunc(m.plan.Members, func(x Member) bool { return x.SmallDisk }), ""
	}
	if !slices.Contains(free, victim) {
		return false
	}
	s.Member = []int{victim}
	m.hit[victim] = s.At + s.For + respite
	return true
}

func (m *maker) resource() string { return m.plan.Resources[m.rng.IntN(len(m.plan.Resources))].Name }

func (m *maker) between(least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	return least + time.Duration(m.rng.Int64N(int64(most-least)))
}
