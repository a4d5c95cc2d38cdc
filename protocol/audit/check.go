package audit

import (
	"cmp"
	"maps"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
)

// maxPerKind is how many findings of one kind are kept of journals that
// strangers wrote: nobody reads more, and hostile ones could fill the memory.
// The others are counted.
const maxPerKind = 1000

// Auditor reads many journals and reports. It is not safe for concurrent use,
// though it may run its own tasks in parallel (Options.Parallel).
type Auditor struct{ in *intake }

// New begins an audit of a group's journals. Options.Trust is required, and
// Trust.Settle must have been called.
func New(group ident.Group, o Options) *Auditor { return &Auditor{newIntake(newBooks(group, o))} }

// Check audits whole journals of members that share a clock, without verifying
// signatures. It is for a caller that has written the journals itself, as a
// simulator has. It needs as much memory as the journals and is safe for
// concurrent use.
func Check(group ident.Group, journals []Journal, o Options) *Report {
	o.Trust = nil
	in := newIntake(newBooks(group, o))
	for _, j := range journals {
		r := in.journal(j.Member)
		for _, e := range j.Entries {
			r.seq = e.Seq
			r.record(e, false, in.peek(e.Record))
		}
	}
	return finish(in.findings)
}

// Journal returns a Reader for the journal of a member. Give it the whole
// journal, in its order.
func (a *Auditor) Journal(m ident.Member) *Reader { return a.in.journal(m) }

// Report ends the audit.
func (a *Auditor) Report() *Report {
	a.in.flush()
	return finish(a.in.findings)
}

// finish compares what the journals say.
func finish(f *findings) *Report {
	b := f.books
	order := slices.SortedFunc(maps.Values(b.transfers), func(x, y *transfer) int {
		return cmp.Or(x.token.Compare(y.token), cmp.Compare(x.hop, y.hop), x.from.Compare(y.from),
			slices.Compare(x.previous[:], y.previous[:]), slices.Compare(x.hash[:], y.hash[:]))
	})
	l := newLeads(int64(min(b.Skew, unbounded)))
	if b.partial() {
		b.report.Clocks = l.measure(order)
	}
	j, c := &judge{f, l}, &concurrency{b, l}
	j.checkTransfers(order)
	j.checkForks(order)
	j.checkTokens()
	for _, r := range b.readers {
		r.unended(r.grants)
	}
	b.sortCustodies()
	recorded := make(map[ident.Token]bool)
	for start := 0; start < len(b.custodies); {
		end := start + 1
		for end < len(b.custodies) && b.custodies[end].Token == b.custodies[start].Token {
			end++
		}
		one := b.custodies[start:end]
		j.checkOverlap(one)
		b.report.Tokens = append(b.report.Tokens, j.fate(one))
		if b.partial() {
			recorded[one[0].Token] = true
			b.unseen = append(b.unseen, c.unseenOf(one[0].Token, one)...)
		}
		start = end
	}
	for _, one := range b.custodies {
		b.report.Custodies = append(b.report.Custodies, *one)
	}
	b.report.tokens = b.tokens
	if b.partial() {
		for token := range b.tokens {
			if !recorded[token] {
				b.unseen = append(b.unseen, c.unseenOf(token, nil)...)
			}
		}
		j.checkGates()
		j.sumComplaints()
		(&summary{c}).sumUp()
	}
	return b.report
}

// refs are the references that name a record.
func refs(list ...RecordRef) []RecordRef {
	return slices.DeleteFunc(list, func(p RecordRef) bool { return p.Seq == 0 })
}
