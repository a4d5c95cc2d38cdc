package directory_test

import (
	"cmp"
	"crypto/aes"
	"crypto/sha256"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
)

// witnessesOf are who witnesses a member among some, from the text of rule D-47.
func witnessesOf(group ident.Group, of ident.Member, among []ident.Member, n int) []ident.Member {
	key := sha256.Sum256(slices.Concat([]byte("wander witnesses\x00"), group[:], of[:]))
	c := must(aes.NewCipher(key[:16]))
	rank := func(m ident.Member) (r ident.Member) { c.Encrypt(r[:], m[:]); return r }
	list := slices.DeleteFunc(slices.Clone(among), func(m ident.Member) bool { return m == of })
	slices.SortFunc(list, func(a, b ident.Member) int {
		ra, rb := rank(a), rank(b)
		return cmp.Compare(string(rb[:]), string(ra[:]))
	})
	return list[:min(n, len(list))]
}

func idsOf(list []someone) (ids []ident.Member) {
	for _, s := range list {
		ids = append(ids, s.id)
	}
	return ids
}

// Whoever knows the same members names the same witnesses, whoever is connected
// with whom, and in whatever order they became known.
func TestWitnesses_KnownMembers_Determined(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(300) // several blocks
	one, other := directory.New(ca, list[0].id), directory.New(ca, list[1].id)
	introduce(t, one, list...)
	shuffled := slices.Clone(list)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
	introduce(t, other, shuffled...)
	for i, s := range list[:50] {
		one.Connected(s.id, i%2 == 0)
		want := witnessesOf(ca.id, s.id, idsOf(list), 12)
		require.Len(t, want, 12)
		assert.Equal(t, want, one.Witnesses(s.id, 12, now, nil))
		assert.Equal(t, want, other.Witnesses(s.id, 12, now, nil))
	}
	stranger := ca.member(1000).id
	assert.Equal(t, witnessesOf(ca.id, stranger, idsOf(list), 3), one.Witnesses(stranger, 3, now, nil), "also of who is not known")
	assert.Empty(t, one.Witnesses(stranger, 0, now, nil))
	assert.Equal(t, []ident.Member{{9}}, one.Witnesses(stranger, 0, now, []ident.Member{{9}}), "appends")
}

// Only eligible members that can be dialled are witnesses, and only
// eligible members have any, whatever the way in which one stops to be.
func TestWitnesses_Ineligible_None(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(40)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	good := slices.Clone(list[:30])
	must(d.LearnRevocation(list[30].revocation(1)))
	must(d.LearnLeave(list[31].leave(1)))
	must(d.LearnEndpoint(list[32].endpoint(2)))
	d.Connected(list[32].id, true) // few others are
	must(d.LearnFailure(list[1].failure(list[33], 1)))
	must(d.LearnFailure(list[2].failure(list[33], 1)))
	mute := ca.member(100)
	d.Admit(mute.certificate(month))
	good = append(good, list[34:]...)
	for i, s := range list {
		if i == 30 || i == 31 || i == 33 {
			assert.Empty(t, d.Witnesses(s.id, 16, now, nil), "who is not eligible has none")
			continue
		}
		assert.Equal(t, witnessesOf(ca.id, s.id, idsOf(good), 16), d.Witnesses(s.id, 16, now, nil))
	}
	assert.Empty(t, d.Witnesses(list[0].id, 12, now.Add(2*month), nil), "certificates run out")
	must(d.LearnEndpoint(list[33].endpoint(2, "again.example.org:1")))
	good = append(good, list[33])
	assert.Equal(t, witnessesOf(ca.id, list[0].id, idsOf(good), 16), d.Witnesses(list[0].id, 16, now, nil), "it lives")
}

// A join or a death changes one witness of few: of r out of n for each it is r/n.
func TestWitnesses_OneMemberMore_FewChange(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(201)
	before, after := directory.New(ca, list[0].id), directory.New(ca, list[0].id)
	introduce(t, before, list[:200]...)
	introduce(t, after, list...)
	changed, duties := 0, 0
	for _, s := range list[:200] {
		was, is := before.Witnesses(s.id, 12, now, nil), after.Witnesses(s.id, 12, now, nil)
		gone := slices.DeleteFunc(was, func(m ident.Member) bool { return slices.Contains(is, m) })
		assert.LessOrEqual(t, len(gone), 1)
		changed += len(gone)
		if slices.Contains(is, list[200].id) {
			duties++
		}
	}
	assert.Equal(t, changed, duties)
	assert.InDelta(t, 12, changed, 10, "the expectation; the deviation is 3.4")
}

// Duties are spread by chance alone: nobody witnesses for half of the group.
func TestWitnesses_Duties_Even(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(400)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	duties := map[ident.Member]int{}
	for _, s := range list {
		for _, w := range d.Witnesses(s.id, 12, now, nil) {
			duties[w]++
		}
	}
	sum := 0.0
	for _, s := range list {
		sum += float64((duties[s.id] - 12) * (duties[s.id] - 12))
		assert.Less(t, duties[s.id], 30)
	}
	assert.InDelta(t, 12, sum/400, 3, "the variance of a Poisson distribution")
}

// With samples two members name the same witness as often as the text says.
func TestWitnesses_Samples_MostlyAgree(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(400)
	const k, n, views = 100, 12, 24
	var all []*directory.Directory
	for i := range views {
		d := directory.New(ca, list[0].id)
		random := rand.New(rand.NewPCG(uint64(i), 3))
		for _, at := range random.Perm(len(list))[:k] {
			introduce(t, d, list[at])
		}
		all = append(all, d)
	}
	common, pairs := 0, 0
	for i := range all {
		for j := range i {
			a, b := all[i].Witnesses(list[i].id, n, now, nil), all[j].Witnesses(list[i].id, n, now, nil)
			for _, w := range a {
				if slices.Contains(b, w) {
					common++
				}
			}
			pairs++
		}
	}
	assert.InDelta(t, float64(n)*k/400, float64(common)/float64(pairs), 0.5)
}

// What is drawn is drawn uniformly, without repetition, whether few are asked for or
// nearly all.
func TestDrawSome_Repeated_Uniform(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(41)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	rng := seeded(5)
	for _, n := range []int{3, 15, 30} {
		const times = 4000
		counts := map[ident.Member]int{}
		for range times {
			drawn := d.DrawSome(rng, n, now, nil, nil)
			require.Len(t, drawn, n)
			for _, m := range drawn {
				counts[m]++
			}
		}
		assert.Zero(t, counts[list[0].id])
		assert.Less(t, chiSquared(counts, list[1:], n*times), 72.1, "%d at once", n) // see TestChoose_Repeated_Uniform
	}
	assert.Len(t, d.DrawSome(rng, 1000, now, nil, nil), 40)
	assert.Empty(t, d.DrawSome(rng, 0, now, nil, nil))
	assert.Empty(t, d.DrawSome(rng, 3, now.Add(2*month), nil, nil))
}

// Nobody is drawn twice, or who may not be, and nobody is missing who is asked for.
func TestDrawSome_AnyCount_Distinct(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(60)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	rapid.Check(t, func(t *rapid.T) {
		excluded := rapid.IntRange(0, 59).Draw(t, "excluded")
		n := rapid.IntRange(0, 70).Draw(t, "n")
		out := idsOf(list[1 : 1+excluded])
		drawn := d.DrawSome(seeded(rapid.Uint64().Draw(t, "seed")), n, now, func(m ident.Member) bool { return slices.Contains(out, m) }, []ident.Member{{7}})
		require.Len(t, drawn, 1+min(n, 59-excluded))
		slices.SortFunc(drawn, ident.Member.Compare)
		require.Len(t, slices.Compact(drawn), len(drawn))
		for _, m := range drawn {
			require.NotContains(t, out, m)
			require.NotEqual(t, list[0].id, m)
		}
	})
}
