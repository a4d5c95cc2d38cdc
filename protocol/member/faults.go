package member

import (
	"cmp"
	"maps"
	"slices"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// maxFaulty bounds the members whose faults are kept. All of them are
	// members with a valid certificate, so more than a handful is an attack by
	// the CA's own doing. Beyond it the one with the fewest faults is dropped.
	maxFaulty = 256

	// faultRate and faultBurst bound how many faulty objects of one peer are
	// looked at, per second and at once. Each costs up to a signature check.
	// Beyond them what the peer says about members is ignored; its handoffs go on.
	faultRate  = 0.1
	faultBurst = 20
)

// Fault is what one member has been seen to do wrong: it handed over what nobody
// honest does, because everybody checks what it passes on.
type Fault struct {
	Member ident.Member
	Count  uint64 // since this member was made
	Stale  uint64 // objects that a newer one had replaced: honest in small numbers
	Last   string // what it was: stable words, as in Status.Rejected
}

// faulty is the record of one peer's faults.
type faulty struct {
	Fault
	budget budget
}

// blame notes that a peer has handed over what nobody honest does. Nobody is
// blamed for the operator's own files.
func (m *Member) blame(from ident.Member, what string) {
	m.reject(what)
	if from.IsZero() || from == m.self {
		return
	}
	f := m.fault(from, what)
	f.Count++
	f.budget.spend(m.now.Boot, faultRate, faultBurst)
	m.emit(effect.Report{Kind: what, About: from, Detail: "handed over by this member"})
}

// stale notes that a peer has handed over what a newer object has replaced. Who is
// a little behind does so, and so does who plays back what was true once.
func (m *Member) stale(from ident.Member, what string) {
	m.reject(what)
	if !from.IsZero() && from != m.self {
		m.fault(from, what).Stale++
	}
}

func (m *Member) fault(from ident.Member, what string) *faulty {
	f := m.faults[from]
	if f == nil {
		m.forgiveOne()
		f = &faulty{Fault: Fault{Member: from}, budget: budget{faultBurst, m.now.Boot}}
		m.faults[from] = f
	}
	f.Last = what
	return f
}

// ignored reports whether a peer has been at fault so often of late that what it
// says about members is not looked at.
func (m *Member) ignored(from ident.Member) bool {
	f := m.faults[from]
	return f != nil && f.budget.at(m.now.Boot, faultRate, faultBurst) < 1
}

// forgiveOne makes room for one more record of faults.
func (m *Member) forgiveOne() {
	if len(m.faults) < maxFaulty {
		return
	}
	delete(m.faults, m.Faults()[len(m.faults)-1].Member)
}

// Faults is who has been at fault, most often first.
func (m *Member) Faults() []Fault {
	list := make([]Fault, 0, len(m.faults))
	for f := range maps.Values(m.faults) {
		list = append(list, f.Fault)
	}
	slices.SortFunc(list, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(b.Stale, a.Stale), a.Member.Compare(b.Member))
	})
	return list
}
