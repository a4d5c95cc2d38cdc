package directory_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
)

func TestSample_Draw_OnlyFromIt(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(40)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	members, whole := d.Fingerprint()
	d.SetSample(8, seeded(1))
	require.NoError(t, d.Check())
	row := d.Row()
	require.Equal(t, len(row), d.Candidates())
	assert.Less(t, len(row), 9)
	assert.Greater(t, len(row), 4, "eight slots, some with the same member")
	assert.Equal(t, 40, d.Len(), "nobody is forgotten by itself")
	count, xor := d.Fingerprint()
	assert.Zero(t, count)
	assert.Zero(t, xor, "nobody knows the same sample")
	for seed := range uint64(50) {
		m, ok := d.Choose(seeded(seed), now, nil)
		require.True(t, ok)
		require.Contains(t, row, m)
	}
	stranger := list[slices.IndexFunc(list, func(s someone) bool { return s.id != list[0].id && row[s.id] == 0 })].id
	_, ok := d.Choose(seeded(1), now, func(m ident.Member) bool { return m != stranger })
	assert.False(t, ok)
	d.Connected(stranger, true)
	if _, in := d.Row()[stranger]; !in {
		assert.Equal(t, row, d.Row(), "a connection gives no share")
	}
	_, ok = d.Choose(seeded(1), now, func(m ident.Member) bool { return m != stranger })
	assert.True(t, ok, "when nobody else is there")
	d.SetSample(0, nil)
	require.NoError(t, d.Check())
	assert.Len(t, d.Row(), 39)
	count, xor = d.Fingerprint()
	assert.Equal(t, members, count)
	assert.Equal(t, whole, xor)
	d.Refresh(nil) // which has nothing to do
}

// Whoever dies leaves the sample, and whoever comes takes the place.
func TestSample_DepartedMember_Leaves(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(20)
	d := directory.New(ca, list[0].id)
	d.SetSample(6, seeded(2))
	introduce(t, d, list[:10]...)
	for i, s := range list[1:10] {
		switch i % 3 {
		case 0:
			must(d.LearnRevocation(s.revocation(uint64(i + 1))))
		case 1:
			must(d.LearnEndpoint(s.endpoint(2)))
		case 2:
			must(d.LearnLeave(s.leave(1)))
		}
		require.NoError(t, d.Check())
		assert.NotContains(t, d.Row(), s.id)
	}
	assert.Zero(t, d.Candidates())
	for _, s := range list[10:] {
		assert.True(t, d.Wants(s.id), "there is room for anybody")
	}
	introduce(t, d, list[10:]...)
	assert.Greater(t, d.Candidates(), 2)
}

// Entries that the sample does not want cost no check of a signature.
func TestPage_Sample_ReadForItOnly(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(60)
	all, d := directory.New(ca, list[1].id), directory.New(ca, list[0].id)
	introduce(t, all, list...)
	introduce(t, d, list[:30]...)
	d.SetSample(4, seeded(1))
	entries, _, more := all.Page(ident.Member{}, ident.LastMember(), 100, 1<<20)
	require.False(t, more)
	wanted := 0
	for _, s := range list[30:] {
		if d.Wants(s.id) {
			wanted++
		}
	}
	require.Less(t, wanted, 15)
	require.Positive(t, wanted)
	learned := d.LearnPage(entries, bytes.NewReader(make([]byte, 1<<16)))
	news := 0
	for _, l := range learned {
		require.NoError(t, l.Err)
		if l.Certificate {
			news++
			assert.True(t, l.Endpoint)
		}
	}
	assert.Equal(t, wanted, news)
	assert.Equal(t, 30+wanted, d.Len())
	require.NoError(t, d.Check())
}

func TestForget_NotInTheSample_Dropped(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(30)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	d.SetSample(5, seeded(1))
	row := d.Row()
	var others []ident.Member
	for _, s := range list[1:] {
		if _, in := row[s.id]; !in {
			others = append(others, s.id)
		}
	}
	d.Connected(others[0], true)
	d.Forget(now, func(m ident.Member) bool { return m == others[1] })
	require.NoError(t, d.Check())
	assert.LessOrEqual(t, d.Len(), 2*5+3, "the sample, the next one, self, the connected one and the needed one")
	for _, m := range []ident.Member{list[0].id, others[0], others[1]} {
		_, known := d.Certificate(m)
		assert.True(t, known)
	}
	for m := range row {
		_, known := d.Certificate(m)
		assert.True(t, known)
	}
}

// Whatever happens, in whatever order, each member has the role that the facts
// and the sample give it.
func TestSample_AnyFacts_RolesFollow(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(8)
	rapid.Check(t, func(t *rapid.T) {
		d := directory.New(ca, list[0].id)
		d.SetSample(rapid.IntRange(0, 5).Draw(t, "k"), seeded(1))
		for step := range uint64(rapid.IntRange(0, 25).Draw(t, "steps")) {
			n := rapid.IntRange(0, 7).Draw(t, "member")
			s := list[n]
			switch rapid.IntRange(0, 8).Draw(t, "step") {
			case 0, 1, 2:
				d.Admit(s.certificate(month))
			case 3, 4:
				_, _ = d.LearnEndpoint(someEndpoint(t, list[:6], n%6, step))
			case 5:
				d.Connected(s.id, rapid.Bool().Draw(t, "live"))
			case 6:
				_, err := d.LearnRevocation(s.revocation(step + 1))
				require.NoError(t, err)
			case 7:
				d.Draw(seeded(step))
			case 8:
				d.Forget(now.Add(-time.Hour), func(m ident.Member) bool { return m == list[1].id })
			}
			require.NoError(t, d.Check())
		}
	})
}

// newSampledCrowd makes a group in which everybody knows a sample of k, and only
// those it is attached to know of a member that only dials out.
func newSampledCrowd(t require.TestingT, members, dialOut, k int) *crowd {
	w := newCrowd(t, members, dialOut, 0)
	rng := seeded(21)
	for i, s := range w.list {
		if d := w.dirs[s.id]; i < w.reachable {
			d.SetSample(k, rng)
		} else {
			to := pick(d, rng, directory.Attachments)
			all := w.dirs
			w.dirs = map[ident.Member]*directory.Directory{s.id: d}
			for _, m := range to {
				w.dirs[m] = all[m]
			}
			w.attach(t, s, 2, to)
			w.dirs = all
			d.SetSample(k, rng)
		}
	}
	return w
}

// compare has everybody tell one of its sample whom it knows, and be told.
func (w *crowd) compare(rng rand.Source) {
	for _, s := range w.list {
		d := w.dirs[s.id]
		d.Refresh(rng)
		peer, _ := d.Choose(rng, now, nil)
		w.dirs[peer].Hear(s.id)
		d.Hear(peer)
		row := w.dirs[peer].Row()
		for _, o := range w.list[:w.reachable] {
			if row[o.id] > 0 {
				d.Hear(o.id)
			}
		}
	}
}

// Samples and members that only dial out go together: a walk visits everybody
// equally often in the long run.
func TestWalk_AmongSamplesAndDialOut_Fair(t *testing.T) {
	w := newSampledCrowd(t, 60, 18, 12)
	rng, visits, share := seeded(22), map[ident.Member]int{}, map[ident.Member]float64{}
	at := w.list[0].id
	for range 80 * 12 {
		for range 5 {
			at, _ = w.dirs[at].Choose(rng, now, nil)
			visits[at]++
		}
		w.compare(rng)
	}
	for _, s := range w.list {
		share[s.id] = 1
	}
	requireShares(t, visits, share, "60 members, 18 dial out")
	for m, d := range w.dirs {
		require.NoError(t, d.Check(), "%v", m)
	}
}
