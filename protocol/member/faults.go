package member

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
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

// faults are those of all peers.
type faults struct {
	*core
	byMember map[ident.Member]*faulty
}

// blame notes that a peer has handed over what nobody honest does. Nobody is
// blamed for the operator's own files.
func (f *faults) blame(from ident.Member, what string) {
	f.reject(what)
	if from.IsZero() || from == f.self {
		return
	}
	r := f.of(from, what)
	r.Count++
	r.budget.spend(f.now.Boot, faultRate, faultBurst)
	f.emit(effect.Report{Kind: what, About: from, Detail: "handed over by this member"})
}

// stale notes that a peer has handed over an object that a newer one has replaced. A peer
// that is a little behind does so, and so does one that replays old objects.
func (f *faults) stale(from ident.Member, what string) {
	f.reject(what)
	if !from.IsZero() && from != f.self {
		f.of(from, what).Stale++
	}
}

func (f *faults) of(from ident.Member, what string) *faulty {
	r := f.byMember[from]
	if r == nil {
		f.forgiveOne()
		r = &faulty{Fault: Fault{Member: from}, budget: budget{faultBurst, f.now.Boot}}
		f.byMember[from] = r
	}
	r.Last = what
	return r
}

// ignored reports whether a peer has been at fault so often of late that what it
// says about members is not looked at.
func (f *faults) ignored(from ident.Member) bool {
	r := f.byMember[from]
	return r != nil && r.budget.at(f.now.Boot, faultRate, faultBurst) < 1
}

// forgiveOne makes room for one more record of faults.
func (f *faults) forgiveOne() {
	if len(f.byMember) < maxFaulty {
		return
	}
	delete(f.byMember, f.list()[len(f.byMember)-1].Member)
}

// list is the members that have been at fault, most often first.
func (f *faults) list() []Fault {
	list := make([]Fault, 0, len(f.byMember))
	for f := range maps.Values(f.byMember) {
		list = append(list, f.Fault)
	}
	slices.SortFunc(list, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(b.Stale, a.Stale), a.Member.Compare(b.Member))
	})
	return list
}

// count is how often a peer has been at fault.
func (f *faults) count(id ident.Member) uint64 {
	if r := f.byMember[id]; r != nil {
		return r.Count
	}
	return 0
}

// unlearned sorts out why an object was not taken: for want of room, of time or
// of somebody's certificate, or because it is not what it says.
func (f *faults) unlearned(from ident.Member, what string, err error) error {
	switch {
	case errors.Is(err, certificate.ErrUnknownCA):
		// Perhaps of a CA key that was introduced meanwhile.
		f.reject(what + " of an unknown CA key")
	case errors.Is(err, directory.ErrUnknown), errors.Is(err, directory.ErrFull), errors.Is(err, directory.ErrForgotten):
		f.reject(what + " not kept")
		return nil
	default:
		f.blame(from, "forged "+what)
	}
	return err
}
