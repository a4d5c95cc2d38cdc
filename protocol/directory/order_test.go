package directory

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/ident"
)

// naive is an order that looks at all members each time.
type naive []*facts

func (n naive) between(from, through ident.Member) (total sum) {
	for _, f := range n {
		if f.shown && f.id.Compare(from) >= 0 && f.id.Compare(through) <= 0 {
			total.add(sum{1, f.fingerprint})
		}
	}
	return total
}

func (n naive) ids() []ident.Member {
	list := make([]ident.Member, len(n))
	for i, f := range n {
		list[i] = f.id
	}
	slices.SortFunc(list, ident.Member.Compare)
	return list
}

// scattered is an id that depends on i and looks random.
func scattered(i uint64) (m ident.Member) {
	binary.BigEndian.PutUint64(m[:], i*0x9e3779b97f4a7c15)
	return m
}

func printOf(i uint64) (p Fingerprint) {
	binary.BigEndian.PutUint64(p[3:], i*0xd1342543de82ef95+1)
	return p
}

// Blocks, sums and ways through them are those of a plain list, while members
// come, change and go.
func TestOrder_AnyUse_AgreesWithList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o order
		var n naive
		add := func(i uint64) {
			f := &facts{id: scattered(i)}
			n = append(n, f)
			o.add(f)
			o.show(f, i%5 != 0, printOf(i))
		}
		crowd := rapid.OneOf(rapid.Uint64Range(0, 10), rapid.Uint64Range(2*blockSize, 8*blockSize)).Draw(t, "crowd")
		for i := range crowd {
			add(i)
		}
		for i := range rapid.Uint64Range(1, 10).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				add(crowd + i)
			case 1:
				if len(n) > 0 {
					f := n[rapid.IntRange(0, len(n)-1).Draw(t, "who")]
					o.show(f, !f.shown, printOf(i))
				}
			case 2: // many go
				keep := rapid.Uint64Range(1, 20).Draw(t, "keep")
				n = slices.DeleteFunc(n, func(f *facts) bool {
					if gone := f.id[7]%byte(keep) != 0; !gone {
						return false
					}
					o.show(f, false, Fingerprint{})
					o.remove(f)
					return true
				})
			}
		}
		compareOrders(t, &o, n)
	})
}

func compareOrders(t *rapid.T, o *order, n naive) {
	ids := n.ids()
	require.Equal(t, len(ids), o.length)
	end := rapid.Custom(func(t *rapid.T) ident.Member {
		if len(ids) == 0 || rapid.Bool().Draw(t, "any") {
			return scattered(rapid.Uint64().Draw(t, "id"))
		}
		return ids[rapid.IntRange(0, len(ids)-1).Draw(t, "member")]
	})
	from, through := end.Draw(t, "from"), end.Draw(t, "through")
	up := slices.DeleteFunc(slices.Clone(ids), func(m ident.Member) bool { return m.Compare(from) < 0 })
	down := slices.DeleteFunc(slices.Clone(ids), func(m ident.Member) bool { return m.Compare(through) > 0 })
	slices.Reverse(down)
	var wentUp, wentDown []ident.Member
	for f := range o.from(from) {
		wentUp = append(wentUp, f.id)
	}
	for f := range o.down(through) {
		wentDown = append(wentDown, f.id)
	}
	require.True(t, slices.Equal(up, wentUp))
	require.True(t, slices.Equal(down, wentDown))

	d := ofOrder(*o)
	whole := n.between(ident.Member{}, ident.LastMember())
	count, xor := d.Fingerprint()
	require.Equal(t, whole, sum{count, xor})
	count, xor = d.Range(from, through)
	require.Equal(t, n.between(from, through), sum{count, xor})
	compareParts(t, d, n, from, through)
}

// ofOrder is a directory of which only the order is used.
func ofOrder(o order) *Directory {
	known := &Register{order: o}
	return &Directory{Register: known, Pages: &Pages{known: known}, Selector: &Selector{known: known}}
}

// The parts follow each other, cover the range, have nearly equal counts, and
// say of each sub-range what Range says.
func compareParts(t *rapid.T, d *Directory, n naive, from, through ident.Member) {
	most := rapid.IntRange(-1, 100).Draw(t, "parts")
	parts := d.Split(from, through, most)
	if from.Compare(through) > 0 {
		require.Empty(t, parts)
		return
	}
	total := n.between(from, through).members
	require.Len(t, parts, max(min(most, maxParts, int(total)), 1))
	at := from
	for _, p := range parts {
		require.LessOrEqual(t, at.Compare(p.Through), 0)
		require.Equal(t, n.between(at, p.Through), sum{p.Members, p.Fingerprint})
		require.InDelta(t, float64(total)/float64(len(parts)), float64(p.Members), 1)
		at = p.Through.Next()
	}
	require.Equal(t, through, parts[len(parts)-1].Through)
}

// Also where a part ends with a block.
func TestOrder_PartEndsWithBlock_Whole(t *testing.T) {
	d := ofOrder(order{})
	var n naive
	for i := range uint64(4 * blockSize) {
		f := &facts{}
		binary.BigEndian.PutUint64(f.id[:], i)
		n = append(n, f)
		d.order.add(f)
		d.order.show(f, true, printOf(i))
	}
	for most := 1; most <= maxParts; most++ {
		var at ident.Member
		parts := d.Split(at, ident.LastMember(), most)
		require.Len(t, parts, most)
		for _, p := range parts {
			require.Equal(t, n.between(at, p.Through), sum{p.Members, p.Fingerprint})
			at = p.Through.Next()
		}
	}
}
