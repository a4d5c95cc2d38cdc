package directory

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// entryOverhead is what an entry of a page costs beside its objects: the heads
// of an array, three byte strings and a list.
const entryOverhead = 1 + 3*3 + 1

// statementOverhead is the head of a failure statement.
const statementOverhead = 3

// Page is the part of the directory with ids from the one to the other, both
// included, in their order: at most most entries, which together encode to at
// most maxBytes, but always one if there is one. It covers the range up to last;
// more says that members of the range remain above that. Revoked members are
// left out, and so are those whose certificate ended before what Forget has
// forgotten. An entry has at most 45 kB, most have half a kilobyte.
func (d *Directory) Page(from, through ident.Member, most, maxBytes int) (entries []wire.Entry, last ident.Member, more bool) {
	size := 0
	for f := range d.order.from(from) {
		if f.id.Compare(through) > 0 {
			break
		}
		if !f.shown {
			continue
		}
		e := d.entry(f)
		size += sizeOf(e)
		if len(entries) > 0 && (len(entries) >= most || size > maxBytes) {
			return entries, last, true
		}
		entries, last = append(entries, e), f.id
	}
	return entries, through, false
}

func sizeOf(e wire.Entry) int {
	n := entryOverhead + len(e.Certificate) + len(e.Endpoint) + len(e.Leave)
	for _, raw := range e.Failures {
		n += statementOverhead + len(raw)
	}
	return n
}

func (d *Directory) entry(f *facts) wire.Entry {
	e := wire.Entry{Certificate: bytesOf(f.certificate.Raw()), Endpoint: bytesOf(f.endpoint.Raw())}
	if l := f.leave(); l != nil {
		e.Leave = []byte(l.raw)
	}
	for _, s := range f.failures() {
		if d.provable(s) {
			e.Failures = append(e.Failures, []byte(s.raw))
		}
	}
	return e
}

// Entry is what a page says about m. It is also given for a member that is on
// no page.
func (d *Directory) Entry(m ident.Member) (e wire.Entry, ok bool) {
	f := d.members[m]
	if f == nil || !f.known() {
		return wire.Entry{}, false
	}
	return d.entry(f), true
}
