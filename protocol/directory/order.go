package directory

import (
	"encoding/binary"
	"iter"
	"slices"
	"sort"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// Fingerprint stands for what is known of some members: the XOR of one hash for
// each.
type Fingerprint = wire.Fingerprint

// sum is what two directories compare of a range of ids.
type sum struct {
	members     uint64
	fingerprint Fingerprint
}

func (s *sum) add(o sum) {
	s.members += o.members
	s.mix(o.fingerprint)
}

func (s *sum) mix(p Fingerprint) {
	e := binary.NativeEndian
	e.PutUint64(s.fingerprint[:8], e.Uint64(s.fingerprint[:8])^e.Uint64(p[:8]))
	e.PutUint64(s.fingerprint[8:], e.Uint64(s.fingerprint[8:])^e.Uint64(p[8:]))
}

// blockSize bounds the members of one block. A change moves half a block; a
// question about a range looks at two blocks and at the sums of all others,
// which are about twelve thousand at a million members.
const blockSize = 128

// block is some members whose ids follow each other, ascending; there is at
// least one. The sums lie beside each other, so that going through them does not
// touch the members.
type block struct {
	first ident.Member
	sum   sum // of those that are shown
	list  []*facts
	ids   []ident.Member // of list: Witnesses goes through all of them

	brackets brackets // see paired; those of no second: to be counted anew
}

// order is all members with a certificate in the order of their ids, in blocks
// with sums, so that neither a change nor a question has to look at all of them.
type order struct {
	blocks []block
	length int
	whole  sum
}

// at is the place of the block where m is or belongs.
func (o *order) at(m ident.Member) int {
	n := sort.Search(len(o.blocks), func(i int) bool { return o.blocks[i].first.Compare(m) > 0 })
	return max(n-1, 0)
}

func (b *block) last() ident.Member { return b.list[len(b.list)-1].id }

func (b *block) find(m ident.Member) (at int, found bool) {
	return slices.BinarySearchFunc(b.list, m, func(f *facts, m ident.Member) int { return f.id.Compare(m) })
}

// add takes in a member that is not in the order yet, and is not shown.
func (o *order) add(f *facts) {
	o.length++
	if len(o.blocks) == 0 {
		o.blocks = []block{newBlock([]*facts{f})}
		return
	}
	n := o.at(f.id)
	b := &o.blocks[n]
	at, _ := b.find(f.id)
	b.brackets = brackets{}
	b.list, b.ids = slices.Insert(b.list, at, f), slices.Insert(b.ids, at, f.id)
	b.first = b.list[0].id
	if half := len(b.list) / 2; len(b.list) > blockSize {
		upper := newBlock(b.list[half:])
		*b = newBlock(b.list[:half])
		o.blocks = slices.Insert(o.blocks, n+1, upper)
	}
}

// newBlock copies a list and sums it up.
func newBlock(list []*facts) block {
	b := block{
		first: list[0].id, list: append(make([]*facts, 0, blockSize+1), list...), ids: make([]ident.Member, 0, blockSize+1),
	}
	for _, f := range b.list {
		b.ids = append(b.ids, f.id)
		if f.shown {
			b.sum.add(sum{1, f.fingerprint})
		}
	}
	return b
}

// remove takes out a member that is in the order, and is not shown.
func (o *order) remove(f *facts) {
	o.length--
	n := o.at(f.id)
	b := &o.blocks[n]
	at, _ := b.find(f.id)
	b.brackets = brackets{}
	b.list, b.ids = slices.Delete(b.list, at, at+1), slices.Delete(b.ids, at, at+1)
	if n+1 < len(o.blocks) && len(b.list)+len(o.blocks[n+1].list) <= blockSize/2 {
		b.list, b.ids = append(b.list, o.blocks[n+1].list...), append(b.ids, o.blocks[n+1].ids...)
		b.sum.add(o.blocks[n+1].sum)
		o.blocks = slices.Delete(o.blocks, n+1, n+2)
	}
	if len(b.list) == 0 {
		o.blocks = slices.Delete(o.blocks, n, n+1)
		return
	}
	b.first = b.list[0].id
}

// show puts the fingerprint of a member of the order into the sums, in the
// place of the one that it had; not shown, it has none.
func (o *order) show(f *facts, shown bool, p Fingerprint) {
	b := &o.blocks[o.at(f.id)]
	for _, s := range []*sum{&b.sum, &o.whole} {
		if f.shown {
			s.members--
			s.mix(f.fingerprint)
		}
		if shown {
			s.add(sum{1, p})
		}
	}
	f.shown, f.fingerprint = shown, p
}

// above is all members, ascending from the one after m, and m the last.
func (o *order) above(m ident.Member) iter.Seq[*facts] {
	return around(m, o.from(m), o.from(ident.Member{}))
}

// below is all members, descending from the one before m, and m the last.
func (o *order) below(m ident.Member) iter.Seq[*facts] {
	return around(m, o.down(m), o.down(ident.LastMember()))
}

// around is the part of a list from m on, without m, and then the list up to m.
func around(m ident.Member, rest, list iter.Seq[*facts]) iter.Seq[*facts] {
	return func(yield func(*facts) bool) {
		for f := range rest {
			if f.id != m && !yield(f) {
				return
			}
		}
		for f := range list {
			if !yield(f) || f.id == m {
				return
			}
		}
	}
}

// from is the members with ids from m on, ascending.
func (o *order) from(m ident.Member) iter.Seq[*facts] {
	return func(yield func(*facts) bool) {
		for n := o.at(m); n < len(o.blocks); n++ {
			b := &o.blocks[n]
			at := 0
			if b.first.Compare(m) < 0 {
				at, _ = b.find(m)
			}
			for _, f := range b.list[at:] {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// down is the members with ids down from m, descending.
func (o *order) down(m ident.Member) iter.Seq[*facts] {
	return func(yield func(*facts) bool) {
		if len(o.blocks) == 0 {
			return
		}
		n := o.at(m)
		at, found := o.blocks[n].find(m)
		if found {
			at++
		}
		for {
			for at--; at >= 0; at-- {
				if !yield(o.blocks[n].list[at]) {
					return
				}
			}
			if n--; n < 0 {
				return
			}
			at = len(o.blocks[n].list)
		}
	}
}

// scan goes through the range from the first id to the last in pieces: whole
// blocks, given as sums, where take reports that it has taken one, and single
// members elsewhere.
func (o *order) scan(from, through ident.Member, take func(sum) bool, one func(*facts)) {
	if len(o.blocks) == 0 {
		return
	}
	first, last := o.at(from), o.at(through)
	for n := first; n <= last; n++ {
		b := &o.blocks[n]
		if (n > first || b.first.Compare(from) >= 0) && (n < last || b.last().Compare(through) <= 0) && take(b.sum) {
			continue
		}
		for _, f := range b.list {
			if n == last && f.id.Compare(through) > 0 {
				break
			}
			if f.shown && (n > first || f.id.Compare(from) >= 0) {
				one(f)
			}
		}
	}
}
