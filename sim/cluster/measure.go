package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/internal/weigh"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// change is what the others have to learn of a member.
type change uint8

// The changes.
const (
	joined change = iota
	returned
	killed
	left
	revoked
	changes
)

func (k change) String() string {
	return [...]string{"join", "return after a crash", "crash for ever", "leave", "revocation"}[k]
}

// knows reports whether a member acts on a change of another one.
func (n *node) knows(k change, id ident.Member) bool {
	err := n.member.Eligible(id)
	if k == joined || k == returned {
		return err == nil
	}
	return err != nil && !errors.Is(err, directory.ErrUnknown)
}

// news is a change on its way.
type news struct {
	change  change
	subject *node
	since   time.Duration
	most    time.Duration // until 99 % knew; zero: not yet
	cut     bool          // the network was in two halves meanwhile
}

// newcomer is a member that has just begun and gets to know the others.
type newcomer struct {
	node  *node
	life  uint64
	since time.Duration
	most  time.Duration // until it knew 99 % of them; zero: not yet
}

// meter watches a group with churn.
type meter struct {
	c         *cluster
	o         churnOptions
	pending   []*news
	spread    [changes]spread // in a network that is whole
	parted    [changes]spread // while it was in halves, or shortly before
	newcomers []*newcomer
	learned   spread // until newcomers knew 99 %, and all of the others

	halvesUntil time.Duration // when the directories have recovered from the last cut in halves
	slots       map[ident.Token]string
	movedAt     map[string]time.Duration
	gaps        map[string][]time.Duration
	hops        map[string]int

	samples []sample
	lookAt  time.Duration
	settled time.Duration // how long after the faults all agreed
	traffic int           // bytes of all messages at the last sample
	busiest int           // bytes of one connection in one interval between samples, at most
}

// spread is how long it took until the others knew.
type spread struct{ most, all []time.Duration }

// sample is the group at one moment.
type sample struct {
	at       time.Duration
	cut      bool         // in halves, or recovering
	members  int          // that take part
	knowing  float64      // of those, the share that a member knows, on average
	ignorant float64      // the lowest such share, of one that is up for informedAfter
	dead     float64      // who do not take part and are thought to, for one who does
	rate     float64      // bytes that a member sends a second
	heaviest weigh.Weight // of the members that were weighed
}

const (
	// sampleEvery is how often the group is looked at as a whole, and
	// sampleMembers how many are asked then.
	sampleEvery   = time.Minute
	sampleMembers = 5
	// informedAfter is how long a member must be up to count as the least informed
	// one; before, it is a newcomer, and timed.
	informedAfter = time.Minute
	// tooLate is when no more is waited until everybody knows of a change.
	tooLate = time.Hour
	// churnRecovery is how long after a cut in halves what is measured is still
	// counted apart.
	churnRecovery = 15 * time.Minute
)

func newMeter(c *cluster, o churnOptions) *meter {
	c.meter = &meter{
		c: c, o: o, slots: make(map[ident.Token]string), movedAt: make(map[string]time.Duration),
		gaps: make(map[string][]time.Duration), hops: make(map[string]int), lookAt: churnWarmUp,
	}
	return c.meter
}

// follow waits until everybody knows of a change.
func (m *meter) follow(k change, n *node) {
	if m != nil && m.c.now >= churnWarmUp {
		m.pending = append(m.pending, &news{change: k, subject: n, since: m.c.now})
		if k == joined {
			m.newcomers = append(m.newcomers, &newcomer{node: n, life: n.life, since: m.c.now})
		}
	}
}

// record notes where a token is made, and when it moves.
func (m *meter) record(r journal.Record) {
	if m == nil {
		return
	}
	switch r := r.(type) {
	case *journal.Generated:
		body, id, err := token.PeekGenesis(m.c.group.ID(), r.Genesis)
		must(err)
		m.slots[ident.Token(id)] = body.Resource
	case *journal.Held:
		body, _, err := token.PeekTransfer(m.c.group.ID(), r.Transfer)
		must(err)
		m.moved(m.slots[body.Token])
	}
}

func (m *meter) moved(slot string) {
	if last, ok := m.movedAt[slot]; ok && m.c.now >= churnWarmUp {
		m.gaps[slot] = append(m.gaps[slot], m.c.now-last)
		m.hops[slot]++
	}
	m.movedAt[slot] = m.c.now
}

// look is called now and then.
func (m *meter) look() {
	living := m.living()
	m.pending = slices.DeleteFunc(m.pending, func(x *news) bool { return m.ask(x, living) })
	m.newcomers = slices.DeleteFunc(m.newcomers, func(x *newcomer) bool { return m.listen(x, living) })
	if m.c.now >= m.lookAt {
		m.lookAt = m.c.now + sampleEvery
		m.sample(living)
	}
}

func (m *meter) living() []*node {
	var list []*node
	for _, n := range m.c.nodes {
		if n.takesPart() {
			list = append(list, n)
		}
	}
	return list
}

// ask reports whether a change is done with. Those count who have been there for
// a while.
func (m *meter) ask(x *news, living []*node) bool {
	x.cut = x.cut || m.c.now < m.halvesUntil
	if (x.change == joined || x.change == returned) && !x.subject.takesPart() {
		return true // another change took over
	}
	asked, know := 0, 0
	for _, n := range living {
		if n == x.subject || n.bornAt > x.since {
			continue
		}
		asked++
		if n.knows(x.change, x.subject.id) {
			know++
		}
	}
	after := m.c.now - x.since
	if x.most == 0 && 100*know >= 99*asked {
		x.most = after
	}
	if know < asked && after < tooLate {
		return false
	}
	s := &m.spread[x.change]
	if x.cut {
		s = &m.parted[x.change]
	}
	s.most = append(s.most, cmp.Or(x.most, tooLate))
	s.all = append(s.all, after)
	return true
}

// listen reports whether a newcomer knows everybody, or was ended before that.
// Who came later than it does not count.
func (m *meter) listen(x *newcomer, living []*node) bool {
	if !x.node.takesPart() || x.node.life != x.life {
		return true
	}
	asked, known := 0, 0
	for _, o := range living {
		if o.bornAt > x.since {
			continue
		}
		asked++
		if x.node.member.Eligible(o.id) == nil {
			known++
		}
	}
	after := m.c.now - x.since
	if x.most == 0 && 100*known >= 99*asked {
		x.most = after
	}
	if known < asked && after < tooLate {
		return false
	}
	m.learned.most = append(m.learned.most, cmp.Or(x.most, tooLate))
	m.learned.all = append(m.learned.all, after)
	return true
}

// sample looks at everybody for a moment, and at a few closely.
func (m *meter) sample(living []*node) {
	s := sample{at: m.c.now, cut: m.c.now < m.halvesUntil, members: len(living), ignorant: 1}
	alive := make(map[ident.Member]bool)
	for _, n := range m.c.nodes { // who is only down for a while is no dead one
		alive[n.id] = true
	}
	for _, i := range m.c.rng.Perm(len(living))[:min(sampleMembers, len(living))] {
		m.question(&s, living[i], living, alive)
	}
	traffic := 0
	for _, n := range m.c.count.bytes {
		traffic += n
	}
	if m.traffic > 0 {
		s.rate = float64(traffic-m.traffic) / float64(len(living)) / sampleEvery.Seconds()
	}
	m.traffic = traffic
	for _, n := range m.c.nodes {
		for _, k := range n.conns {
			m.busiest = max(m.busiest, k.bytes)
			k.bytes = 0
		}
	}
	m.samples = append(m.samples, s)
	if m.o.Progress != nil && len(m.samples)%60 == 0 {
		m.progress(s)
	}
}

// progress is one line about the run so far.
func (m *meter) progress(s sample) {
	n := m.c.count
	fmt.Fprintf(m.o.Progress, "%v: %d joins, %d crashes, %d handoffs, longest gaps %v, %v; %.1f %% known, %.1f dead taken for living; %d entries, %d kB, %.0f B/s each\n",
		m.c.now, n.joins, n.crashes, m.c.handoffs(), round(percentile(m.gaps["several"], 1)), round(percentile(m.gaps["single"], 1)),
		100*s.knowing, s.dead, s.heaviest.Entries, s.heaviest.Bytes>>10, s.rate)
}

// question asks one member whom it knows, and weighs it.
func (m *meter) question(s *sample, n *node, living []*node, alive map[ident.Member]bool) {
	known, dead := 0, 0
	for _, o := range living {
		if n.member.Eligible(o.id) == nil {
			known++
		}
	}
	for _, id := range n.member.IDs() {
		if !alive[id] && n.member.Eligible(id) == nil {
			dead++
		}
	}
	share, asked := float64(known)/float64(len(living)), float64(min(sampleMembers, len(living)))
	s.knowing += share / asked
	if m.c.now-n.startedAt >= informedAfter {
		s.ignorant = min(s.ignorant, share)
	}
	s.dead += float64(dead) / asked
	if w := weigh.Of(n.member); w.Entries > s.heaviest.Entries {
		s.heaviest = w
	}
}
