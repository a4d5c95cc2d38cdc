package directory_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
)

// crowd is a group in which everybody has a directory. Those from reachable on
// only dial out.
type crowd struct {
	list      []someone
	reachable int
	dirs      map[ident.Member]*directory.Directory
}

// newCrowd makes one whose members that only dial out have picked attachments,
// one after the other.
func newCrowd(t require.TestingT, members, dialOut, attachments int) *crowd {
	ca := newAuthority(1)
	w := &crowd{list: ca.members(members), reachable: members - dialOut, dirs: map[ident.Member]*directory.Directory{}}
	for _, s := range w.list {
		d := directory.New(ca, s.id)
		for _, o := range w.list {
			d.Admit(o.certificate(month))
		}
		w.dirs[s.id] = d
	}
	for i, s := range w.list[:w.reachable] {
		w.learn(t, s, s.endpoint(1, fmt.Sprintf("m-%d.example.org:4133", i)))
	}
	rng := seeded(4)
	for _, s := range w.list[w.reachable:] {
		w.attach(t, s, 1, pick(w.dirs[s.id], rng, attachments))
	}
	return w
}

func pick(d *directory.Directory, rng rand.Source, attachments int) (to []ident.Member) {
	for range attachments {
		m, ok := d.PickAttachment(rng, now, func(m ident.Member) bool { return slices.Contains(to, m) })
		if !ok {
			break
		}
		to = append(to, m)
	}
	return to
}

// learn lets everybody know. One verifies for all.
func (w *crowd) learn(t require.TestingT, s someone, raw []byte) {
	e, err := certificate.ParseEndpoint(s.ca.id, raw, s.key.Public())
	require.NoError(t, err)
	for _, d := range w.dirs {
		d.Take(e)
	}
}

// attach connects s to others and lets everybody know.
func (w *crowd) attach(t require.TestingT, s someone, sequence uint64, to []ident.Member) {
	for _, m := range to {
		w.dirs[m].Connected(s.id, true)
		w.dirs[s.id].Connected(m, true)
	}
	w.learn(t, s, s.attached(sequence, to...))
}

// stationary is the share of visits of each member in the long run, as a part
// of an equal share: power iteration on the matrix of the directories' chances.
// Every other step stays, so that walks with a period settle, too.
func (w *crowd) stationary(t require.TestingT) map[ident.Member]float64 {
	rows := map[ident.Member]map[ident.Member]float64{}
	share := map[ident.Member]float64{}
	for m, d := range w.dirs {
		rows[m], share[m] = d.Row(), 1
		sum := 0.0
		for _, p := range rows[m] {
			sum += p
		}
		require.InDelta(t, 1, sum, 1e-9)
	}
	for range 150 {
		next := map[ident.Member]float64{}
		for m, row := range rows {
			next[m] += share[m] / 2
			for to, p := range row {
				next[to] += share[m] * p / 2
			}
		}
		share = next
	}
	return share
}

// spread is the least and the greatest share among some members.
func spread(share map[ident.Member]float64, of []someone) (least, most float64) {
	least = math.Inf(1)
	for _, s := range of {
		least, most = min(least, share[s.id]), max(most, share[s.id])
	}
	return least, most
}

// With at most two members that only dial out for three that can be dialled,
// everybody has an equal share, in groups of any size and with any number of
// attachments.
func TestChoose_Shares_Equal(t *testing.T) {
	for _, c := range []struct{ members, dialOut, attachments int }{
		{2, 1, 3}, {3, 1, 1}, {3, 1, 2}, {4, 2, 3}, {5, 1, 1}, {10, 3, 3}, {20, 8, 8}, {40, 0, 3}, {40, 12, 1},
		{40, 12, 3}, {40, 16, 3},
	} {
		w := newCrowd(t, c.members, c.dialOut, c.attachments)
		least, most := spread(w.stationary(t), w.list)
		assert.InDelta(t, 1, least, 1e-9, "%+v", c)
		assert.InDelta(t, 1, most, 1e-9, "%+v", c)
	}
}

// Beyond that some members have more visits to give than they get. Those who
// can be dialled still have equal shares; half of all visits are the most that
// those who only dial out can have.
func TestChoose_BeyondHalfDialOut_EqualShares(t *testing.T) {
	for _, c := range []struct {
		dialOut         int
		dialled         float64 // share of each of those
		out, least, max float64 // of those who only dial out: mean, least, greatest
	}{
		{20, 1.017, 0.983, 0.93, 1.02},
		{24, 1.250, 0.833, 0.70, 1.05},
		{32, 2.500, 0.625, 0.62, 0.63},
		{39, 20.00, 0.513, 0.51, 0.52},
	} {
		w := newCrowd(t, 40, c.dialOut, directory.Attachments)
		share := w.stationary(t)
		least, most := spread(share, w.list[:w.reachable])
		assert.InDelta(t, least, most, 1e-9, "%+v", c)
		assert.InDelta(t, c.dialled, least, 0.001, "%+v", c)
		least, most = spread(share, w.list[w.reachable:])
		t.Logf("%d of 40: %.3f, and %.3f to %.3f", c.dialOut, share[w.list[0].id], least, most)
		assert.GreaterOrEqual(t, least, c.least, "%+v", c)
		assert.LessOrEqual(t, most, c.max, "%+v", c)
		sum := 0.0
		for _, s := range w.list[w.reachable:] {
			sum += share[s.id]
		}
		assert.InDelta(t, c.out, sum/float64(c.dialOut), 0.001, "%+v", c)
	}
}

// against is chi squared of counts against expected shares, and its degrees of
// freedom.
func against(counts map[ident.Member]int, share map[ident.Member]float64) (sum float64, degrees int) {
	draws, total := 0, 0.0
	for _, n := range counts {
		draws += n
	}
	for _, p := range share {
		total += p
	}
	for m, p := range share {
		want := p / total * float64(draws)
		diff := float64(counts[m]) - want
		if want > 0 {
			sum += diff * diff / want
			degrees++
		}
	}
	return sum, degrees - 1
}

// requireShares fails when counts are further from the shares than happens once
// in a thousand times (Wilson and Hilferty's approximation of chi squared).
func requireShares(t require.TestingT, counts map[ident.Member]int, share map[ident.Member]float64, why string) {
	for m := range counts {
		require.Positive(t, share[m], why)
	}
	sum, degrees := against(counts, share)
	if degrees <= 0 {
		return
	}
	k := float64(degrees)
	require.Less(t, sum, k*math.Pow(1-2/(9*k)+3.09*math.Sqrt(2/(9*k)), 3), why)
}

// What Choose draws is what Row says: those who are excluded leave the others
// in proportion, also when so many are that everybody is looked at.
func TestChoose_Row_Followed(t *testing.T) {
	// One leaves out the only member that visits it, hardly anybody has clients,
	// and all have too many.
	for _, dialOut := range []int{1, 4, 20} {
		w := newCrowd(t, 25, dialOut, min(dialOut, 3))
		for i, s := range []someone{w.list[0], w.list[1], w.list[24]} {
			d := w.dirs[s.id]
			for name, out := range map[string]func(n int) bool{
				"all": func(int) bool { return false }, "even": func(n int) bool { return n%2 == 1 },
				"the last of each": func(n int) bool { return n != w.reachable-1 && n < 22 },
				"clients":          func(n int) bool { return n < w.reachable },
			} {
				row, excluded := d.Row(), map[ident.Member]bool{}
				for n, s := range w.list {
					if out(n) {
						excluded[s.id] = true
						delete(row, s.id)
					}
				}
				counts, rng := map[ident.Member]int{}, seeded(11)
				for range 4000 {
					m, ok := d.Choose(rng, now, func(m ident.Member) bool { return excluded[m] })
					if len(row) == 0 {
						require.False(t, ok)
						break
					}
					require.True(t, ok)
					counts[m]++
				}
				requireShares(t, counts, positive(row), fmt.Sprintf("%d dial out, member %d, %s", dialOut, i, name))
			}
		}
	}
}

// positive is the row itself, or equal chances if all that is left has none.
func positive(row map[ident.Member]float64) map[ident.Member]float64 {
	sum := 0.0
	for _, p := range row {
		sum += p
	}
	if sum > 0 {
		return row
	}
	equal := map[ident.Member]float64{}
	for m := range row {
		equal[m] = 1
	}
	return equal
}

// A long walk visits everybody equally often, those who only dial out and those
// who can be dialled. Without the correction the former had a tenth of the
// visits of the latter.
func TestWalk_DialOut_Fair(t *testing.T) {
	w := newCrowd(t, 40, 12, directory.Attachments)
	visits, share := map[ident.Member]int{}, map[ident.Member]float64{}
	at, rng := w.list[0].id, seeded(12)
	for range 40_000 {
		at, _ = w.dirs[at].Choose(rng, now, nil)
		visits[at]++
	}
	for _, s := range w.list {
		share[s.id] = 1
	}
	requireShares(t, visits, share, "40 members, 12 dial out")
}

// Who is connected but not attached here gets a token only when nobody else can.
func TestSpare_Draw_Last(t *testing.T) {
	w := newCrowd(t, 6, 2, 1)
	self, client := w.list[0], w.list[5]
	d := w.dirs[self.id]
	w.attach(t, w.list[4], 2, []ident.Member{w.list[1].id})
	w.attach(t, client, 2, []ident.Member{self.id})
	spare := w.list[4].id
	d.Connected(spare, true)
	assert.Zero(t, d.Row()[spare])
	assert.InDelta(t, 1, d.Row()[client.id], 1e-9, "all that is owed to it")
	assert.Equal(t, 5, d.Candidates())
	rng := seeded(1)
	for _, left := range [][]ident.Member{{client.id}, {w.list[1].id, w.list[2].id, w.list[3].id}, {spare}} {
		m, ok := d.Choose(rng, now, func(m ident.Member) bool { return !slices.Contains(left, m) && m != spare })
		require.True(t, ok)
		assert.Contains(t, left, m)
	}
	d.Connected(spare, false)
	_, ok := d.Choose(rng, now, func(m ident.Member) bool { return m != spare })
	assert.False(t, ok, "out of reach")
	d.Connected(client.id, false)
	assert.Zero(t, d.Row()[client.id], "out of reach, attached or not")
}

// The chances depend on what is known at last, not on how it came about.
func TestChances_AnyHistory_Same(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(6)
	rapid.Check(t, func(t *rapid.T) {
		d, twin := directory.New(ca, list[0].id), directory.New(ca, list[0].id)
		endpoints, connected, revoked := map[int][]byte{}, map[int]bool{}, map[int]bool{}
		for _, s := range list {
			d.Admit(s.certificate(month))
		}
		for sequence := range uint64(rapid.IntRange(0, 25).Draw(t, "steps")) {
			n := rapid.IntRange(0, 5).Draw(t, "member")
			switch s := list[n]; rapid.IntRange(0, 7).Draw(t, "step") {
			case 0, 1, 2:
				endpoints[n] = someEndpoint(t, list, n, sequence)
				must(d.LearnEndpoint(endpoints[n]))
			case 3, 4, 5:
				connected[n] = !connected[n]
				d.Connected(s.id, connected[n])
			case 6:
				revoked[n] = true
				must(d.LearnRevocation(s.revocation(sequence + 1)))
			case 7:
				_, _ = d.Choose(seeded(sequence), now, nil)
			}
		}
		for n, s := range list {
			twin.Admit(s.certificate(month))
			if revoked[n] {
				must(twin.LearnRevocation(s.revocation(1)))
			}
			if endpoints[n] != nil {
				must(twin.LearnEndpoint(endpoints[n]))
			}
			twin.Connected(s.id, connected[n])
		}
		require.NoError(t, d.Check())
		require.Equal(t, twin.Row(), d.Row())
		require.Equal(t, twin.Candidates(), d.Candidates())
	})
}

func someEndpoint(t *rapid.T, list []someone, n int, sequence uint64) []byte {
	if rapid.Bool().Draw(t, "reachable") {
		return list[n].endpoint(sequence, "a.example:1")
	}
	var to []ident.Member
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, 5), 0, 3, rapid.ID).Draw(t, "attached") {
		if i != n {
			to = append(to, list[i].id)
		}
	}
	return list[n].attached(sequence, to...)
}

func TestPickAttachment_OnlyDialable_Taken(t *testing.T) {
	ca := newAuthority(1)
	self, dialled, out, mute, dead, expired := ca.member(0), ca.member(1), ca.member(2), ca.member(3), ca.member(4), ca.member(5)
	d := directory.New(ca, self.id)
	introduce(t, d, self, dialled, dead)
	must(d.LearnRevocation(dead.revocation(1)))
	for _, s := range []someone{out, mute, expired} {
		d.Admit(s.certificate(month))
		d.Connected(s.id, true)
	}
	must(d.LearnEndpoint(out.attached(1, dialled.id)))
	d.Admit(expired.issued(9, -time.Hour, 2*month))
	must(d.LearnEndpoint(expired.endpoint(1, "b.example:1")))
	for seed := range uint64(20) {
		m, ok := d.PickAttachment(seeded(seed), now.Add(month), func(m ident.Member) bool { return m == expired.id })
		require.False(t, ok)
		require.Zero(t, m)
		m, ok = d.PickAttachment(seeded(seed), now, func(m ident.Member) bool { return m == expired.id })
		require.True(t, ok)
		require.Equal(t, dialled.id, m)
	}
}

// The loads of those who are picked differ much less than if they were drawn at
// random: then one of twenty would have about seven attached to it.
func TestPickAttachment_Loads_Even(t *testing.T) {
	w := newCrowd(t, 40, 20, directory.Attachments)
	clients := map[ident.Member]int{}
	for _, s := range w.list[:w.reachable] {
		for m := range w.dirs[s.id].Row() {
			if slices.ContainsFunc(w.list[w.reachable:], func(o someone) bool { return o.id == m }) {
				clients[s.id]++
			}
		}
	}
	for _, s := range w.list[:w.reachable] {
		assert.LessOrEqual(t, clients[s.id], 5)
		assert.GreaterOrEqual(t, clients[s.id], 1)
	}
}

func TestChoose_AmongClients_NoAllocations(t *testing.T) {
	w := newCrowd(t, 8, 3, 3)
	rng := seeded(3)
	for _, s := range []someone{w.list[0], w.list[7]} {
		d := w.dirs[s.id]
		assert.Zero(t, testing.AllocsPerRun(100, func() { d.Choose(rng, now, nil) }))
	}
}
