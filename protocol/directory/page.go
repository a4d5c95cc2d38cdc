package directory

import (
	"iter"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// order is the ids of all members with a certificate. New ones queue up behind
// the sorted part until somebody asks for the order, so that a directory can
// take in a million of them without moving each into its place.
type order struct {
	ids    []ident.Member
	sorted int // how many of ids are in order, from the first
}

func (o *order) add(m ident.Member) { o.ids = append(o.ids, m) }

// keep drops the ids for which wanted says no; it is asked in their order.
func (o *order) keep(wanted func(ident.Member) bool) {
	o.ids = slices.DeleteFunc(o.ascending(), func(m ident.Member) bool { return !wanted(m) })
	o.sorted = len(o.ids)
}

// ascending is all ids, smallest first.
func (o *order) ascending() []ident.Member {
	if o.sorted < len(o.ids) {
		o.merge()
	}
	return o.ids
}

// merge sorts the queue and works it in from the back, where there is room.
func (o *order) merge() {
	fresh := slices.Clone(o.ids[o.sorted:])
	slices.SortFunc(fresh, ident.Member.Compare)
	old, to := o.sorted-1, len(o.ids)-1
	for i := len(fresh) - 1; i >= 0; to-- {
		if old >= 0 && o.ids[old].Compare(fresh[i]) > 0 {
			o.ids[to] = o.ids[old]
			old--
		} else {
			o.ids[to] = fresh[i]
			i--
		}
	}
	o.sorted = len(o.ids)
}

// Len is the number of members with a certificate here, dead ones included.
func (d *Directory) Len() int { return len(d.order.ids) }

// Members goes through all members with a certificate here, dead ones
// included, in the order of their ids. The directory must not be changed
// meanwhile.
func (d *Directory) Members() iter.Seq[ident.Member] {
	return slices.Values(d.order.ascending())
}

// entryOverhead is what an entry of a page costs beside certificate and
// endpoint record: the heads of an array and of two byte strings.
const entryOverhead = 1 + 3 + 3

// Page is the part of the directory above the id after, in the order of ids:
// at most most entries, which together encode to at most maxBytes, but always
// one if there is one. more says that members above the last entry remain.
// Revoked members are left out. Entries are not to be changed.
func (d *Directory) Page(after ident.Member, most, maxBytes int) (entries []wire.Entry, more bool) {
	ids := d.order.ascending()
	at, found := slices.BinarySearchFunc(ids, after, ident.Member.Compare)
	if found {
		at++
	}
	size := 0
	for _, id := range ids[at:] {
		f := d.members[id]
		if f.revocation != nil {
			continue
		}
		e := f.entry()
		size += len(e.Certificate) + len(e.Endpoint) + entryOverhead
		if len(entries) > 0 && (len(entries) >= most || size > maxBytes) {
			return entries, true
		}
		entries = append(entries, e)
	}
	return entries, false
}

func (f *facts) entry() wire.Entry {
	e := wire.Entry{Certificate: f.certificate.Raw()}
	if f.endpoint != nil {
		e.Endpoint = f.endpoint.Raw()
	}
	return e
}
