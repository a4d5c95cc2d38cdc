package directory_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
)

// circle is who follows each member, as long as one can go from a first one.
func circle(d *directory.Directory, at time.Time, first ident.Member, step func(*directory.Directory) (ident.Member, bool)) (list []ident.Member) {
	for m := first; !slices.Contains(list, m); {
		list = append(list, m)
		d.Be(m)
		next, ok := step(d)
		if !ok {
			break
		}
		m = next
	}
	return list
}

// paired is the ring by its definition: hosts in the order of ids, and guests before
// them, where one that has a host for its successor is taken away with it, again and
// again. The others are not on it.
func paired(ids []ident.Member, dialsOut func(ident.Member) bool) (ring, out []ident.Member) {
	slices.SortFunc(ids, ident.Member.Compare)
	before, left := map[ident.Member]ident.Member{}, slices.Clone(ids)
	for found := true; found; {
		found = false
		for i, m := range left {
			next := left[(i+1)%len(left)]
			if dialsOut(m) && !dialsOut(next) {
				before[next], found = m, true
				left = slices.DeleteFunc(left, func(o ident.Member) bool { return o == m || o == next })
				break
			}
		}
	}
	for _, m := range ids {
		if guest, ok := before[m]; ok {
			ring = append(ring, guest)
		}
		if !dialsOut(m) {
			ring = append(ring, m)
		}
	}
	for _, m := range left {
		if dialsOut(m) {
			out = append(out, m)
		}
	}
	return ring, out
}

// ringCrowd is members with what they can say, signed once: more than two blocks of them.
var ringCrowd = sync.OnceValue(func() (crowd struct {
	ca       *authority
	list     []someone
	certs    []certificate.Certificate
	short    []certificate.Certificate
	dialled  []certificate.SignedEndpoint
	dialsOut []certificate.SignedEndpoint
}) {
	crowd.ca = newAuthority(1)
	crowd.list = crowd.ca.members(300)
	for i, s := range crowd.list {
		crowd.certs = append(crowd.certs, s.certificate(month))
		crowd.short = append(crowd.short, s.issued(s.n+1000, -24*time.Hour, time.Hour))
		for _, raw := range [][]byte{s.endpoint(1, fmt.Sprintf("m-%d.example.org:4133", i)), s.endpoint(1)} {
			e := must(certificate.ParseEndpoint(crowd.ca.id, raw, s.key.Public()))
			if e.Body().Mode == certificate.DialsOut {
				crowd.dialsOut = append(crowd.dialsOut, e)
			} else {
				crowd.dialled = append(crowd.dialled, e)
			}
		}
	}
	return crowd
})

// TestRing_EqualDirectories_OneCycle: the neighbours of all members that know the same
// are one cycle through all eligible members, in both directions; no two members
// that only dial out are adjacent on it, and if no more than half do, nobody is missing.
func TestRing_EqualDirectories_OneCycle(t *testing.T) {
	crowd := ringCrowd()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 2, 3, 5, 8, 20, 127, 128, 129, 130, 300}).Draw(t, "members")
		share := rapid.SampledFrom([]int{0, 1, 30, 50, 60, 100}).Draw(t, "share that dials out")
		d, dialsOut, dead := directory.New(crowd.ca, crowd.list[0].id), map[ident.Member]bool{}, map[ident.Member]bool{}
		ends := map[ident.Member]bool{}
		percent := rapid.IntRange(0, 99)
		join := func(i int) {
			s, e := crowd.list[i], crowd.dialled[i]
			if ends[s.id] = percent.Draw(t, "ends soon") < 10; ends[s.id] {
				d.Admit(crowd.short[i])
			} else {
				d.Admit(crowd.certs[i])
			}
			if dialsOut[s.id] = percent.Draw(t, "dials out") < share; dialsOut[s.id] {
				e = crowd.dialsOut[i]
			}
			d.Trust(e)
			d.Connected(s.id, true)
		}
		for i := range n {
			join(i)
		}
		for pass, at := range []time.Time{now, now, now.Add(2 * time.Hour), now.Add(2 * time.Hour), now} {
			if pass == 4 && n < len(crowd.list) {
				join(n)
				n++
			}
			var alive []ident.Member
			for i, s := range crowd.list[:n] {
				change := percent.Draw(t, "change")
				switch {
				case pass == 1 && change < 2:
					dead[s.id] = true
					must(d.LearnLeave(s.leave(1)))
				case pass == 3 && change < 10 && ends[s.id]:
					ends[s.id] = false
					d.Admit(crowd.certs[i])
				}
				if !dead[s.id] && !(ends[s.id] && at != now) {
					alive = append(alive, s.id)
				}
			}
			ring, out := paired(alive, func(m ident.Member) bool { return dialsOut[m] })
			compareRings(t, d, at, ring, out)
			for i, m := range ring {
				if next := ring[(i+1)%len(ring)]; dialsOut[m] && dialsOut[next] && len(ring) > 1 {
					t.Fatalf("%v and %v are adjacent", m, next)
				}
			}
			if guests := len(alive) - len(ring) + count(ring, dialsOut); 2*guests <= len(alive) && len(out) > 0 {
				t.Fatalf("%d of %d only dial out, and %d are missing", guests, len(alive), len(out))
			}
		}
	})
}

func count(list []ident.Member, of map[ident.Member]bool) (n int) {
	for _, m := range list {
		if of[m] {
			n++
		}
	}
	return n
}

func compareRings(t *rapid.T, d *directory.Directory, at time.Time, ring, out []ident.Member) {
	if len(ring) > 0 {
		after := circle(d, at, ring[0], func(d *directory.Directory) (ident.Member, bool) { return d.After(at, nil) })
		require.Equal(t, ring, after)
		before := circle(d, at, ring[len(ring)-1], func(d *directory.Directory) (ident.Member, bool) { return d.Before(at, nil) })
		slices.Reverse(before)
		require.Equal(t, ring, before)
	}
	for _, m := range ring {
		d.Be(m)
		require.True(t, d.OnRing(at))
	}
	for _, m := range out {
		d.Be(m)
		if len(ring) > 0 {
			require.False(t, d.OnRing(at))
		}
		_, followed := d.Before(at, nil)
		require.False(t, followed)
		next, ok := d.After(at, nil)
		require.Equal(t, len(ring) > 0, ok)
		require.True(t, !ok || slices.Contains(ring, next))
	}
}

// TestRing_Unconnected_SameOrder: who is connected with whom changes who is passed over,
// and nobody's place.
func TestRing_Unconnected_SameOrder(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(5)
	slices.SortFunc(list, func(a, b someone) int { return a.id.Compare(b.id) })
	d := directory.New(ca, list[0].id) // d a c b e, of whom a and c only dial out
	introduce(t, d, list...)
	for _, s := range list[1:3] {
		must(d.LearnEndpoint(s.endpoint(2)))
	}
	after := func() ident.Member {
		m, ok := d.After(now, nil)
		require.True(t, ok)
		return m
	}
	assert.Equal(t, list[3].id, after(), "who cannot be dialled and is not connected is passed over")
	d.Connected(list[1].id, true)
	assert.Equal(t, list[3].id, after(), "and so is who stands elsewhere: a is before e")
	d.Connected(list[2].id, true)
	assert.Equal(t, list[2].id, after(), "c is before b")
	assert.Equal(t, 5, d.RingLen())
	d.Be(list[4].id)
	before, _ := d.Before(now, nil)
	assert.Equal(t, list[1].id, before)
}

// TestSkipped_TokenCame_FirstBetween: only those that are connected count, and a token that was sent back has skipped nobody.
func TestSkipped_TokenCame_FirstBetween(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(6)
	slices.SortFunc(list, func(a, b someone) int { return a.id.Compare(b.id) })
	d := directory.New(ca, list[4].id)
	introduce(t, d, list...)
	for _, s := range list[:4] {
		d.Connected(s.id, true)
	}
	nobody, none := -1, -1
	for _, test := range []struct {
		from, giver int // -1: nobody
		away        []int
		first       int
	}{
		{3, 2, nil, none},         // from the one before
		{1, 0, nil, 2},            // 2 and 3 were skipped
		{1, nobody, nil, 2},       // nobody knows from whom 1 has it
		{1, 0, []int{2}, 3},       // 2 cannot be reached
		{1, 0, []int{2, 3}, none}, // nor 3
		{5, 3, nil, none},         // 5 has sent it back
		{5, 1, nil, none},         // and 1 had skipped this member, too
		{0, 5, nil, 1},            // from the other end
		{1, 4, nil, 2},            // this member had passed it to 1
	} {
		id := func(i int) (m ident.Member) {
			if i >= 0 {
				m = list[i].id
			}
			return m
		}
		gone := func(m ident.Member) bool {
			return slices.ContainsFunc(test.away, func(i int) bool { return list[i].id == m })
		}
		first := d.Skipped(id(test.from), id(test.giver), now, gone)
		assert.Equal(t, id(test.first), first, "%v", test)
	}
	d.Connected(list[2].id, false)
	first := d.Skipped(list[1].id, list[0].id, now, nil)
	assert.Equal(t, list[3].id, first, "2 is not connected")
	first = d.Skipped(ident.Member{1}, ident.Member{}, now, nil)
	assert.Zero(t, first, "it came from a member that is not on the ring")
}
