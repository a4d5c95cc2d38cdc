package directory_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
)

// accuse learns that each witness could not reach the subject at this number.
func accuse(t require.TestingT, d *directory.Directory, subject someone, sequence uint64, witnesses ...someone) (news bool) {
	for _, w := range witnesses {
		fresh, err := d.LearnFailure(w.failure(subject, sequence))
		require.NoError(t, err)
		news = news || fresh
	}
	return news
}

// Requirement D-14.
func TestFailure_Quorum_Failed(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(5)
	ben := list[1]
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	sequence, ok := d.Sequence(ben.id)
	assert.True(t, ok)
	assert.Equal(t, uint64(1), sequence)
	assert.Equal(t, 4, d.Candidates())

	assert.True(t, accuse(t, d, ben, 1, list[2]))
	assert.NoError(t, d.Eligible(ben.id, now), "nobody fails anybody alone")
	for later := uint64(2); later < 5; later++ {
		assert.True(t, accuse(t, d, ben, later, list[2]), "nor by many numbers")
	}
	assert.NoError(t, d.Eligible(ben.id, now))
	assert.Empty(t, d.Failures(ben.id), "which are not that of its record")

	assert.True(t, accuse(t, d, ben, 1, list[3], list[4]))
	assert.ErrorIs(t, d.Eligible(ben.id, now), directory.ErrFailed)
	assert.True(t, d.Failed(ben.id))
	assert.Equal(t, 3, d.Candidates())
	want := [][]byte{list[3].failure(ben, 1), list[4].failure(ben, 1)}
	if list[4].id.Compare(list[3].id) < 0 {
		slices.Reverse(want)
	}
	assert.Equal(t, want, d.Failures(ben.id))
	assert.False(t, accuse(t, d, ben, 1, list[3]), "which is known")

	news, err := d.LearnEndpoint(ben.endpoint(2, "back.example.org:4133"))
	require.NoError(t, err)
	assert.True(t, news)
	assert.NoError(t, d.Eligible(ben.id, now), "alive again")
	assert.False(t, d.Failed(ben.id))
	assert.Equal(t, 4, d.Candidates())
	assert.False(t, accuse(t, d, ben, 1, list[3], list[4]), "of the past")
	assert.Empty(t, d.Failures(ben.id))
}

// A statement that comes before the record that it names waits for it.
func TestFailure_BeforeItsRecord_Kept(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(4)
	ben := list[1]
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	assert.True(t, accuse(t, d, ben, 7, list[2], list[3]))
	assert.False(t, d.Failed(ben.id))
	must(d.LearnEndpoint(ben.endpoint(7, "a.example:1")))
	assert.True(t, d.Failed(ben.id))

	cleo := ca.member(9)
	d.Admit(cleo.certificate(month))
	assert.True(t, accuse(t, d, cleo, 0, list[2], list[3]))
	_, ok := d.Sequence(cleo.id)
	assert.False(t, ok)
	assert.False(t, d.Failed(cleo.id), "without a record there is no number to name")
	must(d.LearnEndpoint(cleo.endpoint(0, "a.example:1")))
	assert.True(t, d.Failed(cleo.id))
}

// Requirement D-14.
func TestFailure_WitnessRevoked_NotCounted(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(6)
	ben := list[1]
	for _, order := range [][]int{{2, 3, 0}, {0, 2, 3}, {2, 0, 3}} { // 0: the revocation of 2
		d := directory.New(ca, list[0].id)
		introduce(t, d, list...)
		for _, n := range order {
			if n == 0 {
				must(d.LearnRevocation(list[2].revocation(1)))
				continue
			}
			assert.True(t, accuse(t, d, ben, 1, list[n]))
		}
		assert.False(t, d.Failed(ben.id))
		assert.Equal(t, [][]byte{list[3].failure(ben, 1)}, d.Failures(ben.id))
		e, _ := d.Entry(ben.id)
		assert.Equal(t, d.Failures(ben.id), e.Failures, "nor is it handed on")
		assert.Len(t, d.KeptFailures(ben.id), 2)
		accuse(t, d, ben, 1, list[4])
		assert.True(t, d.Failed(ben.id))
	}
}

// Requirement D-14.
func TestQuorum_Changed_EffectAtOnce(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(20)
	ben := list[1]
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	accuse(t, d, ben, 1, list[2], list[3], list[4])
	accuse(t, d, ben, 2, list[5])
	for _, c := range []struct {
		quorum int
		failed bool
	}{{3, true}, {4, false}, {5, false}, {-1, true}, {2, true}} {
		d.SetQuorum(c.quorum)
		assert.Equal(t, c.failed, d.Failed(ben.id), "%+v", c)
		assert.Equal(t, !c.failed, d.Candidates() == 19)
	}
	accuse(t, d, list[6], 1, list[2])
	d.SetQuorum(-1)
	assert.False(t, d.Failed(list[6].id), "the least quorum is 2")
	accuse(t, d, ben, 1, list[7:]...)
	d.SetQuorum(100)
	assert.Equal(t, directory.MaxFailureQuorum, len(d.KeptFailures(ben.id)))
	accuse(t, d, list[6], 1, list[3:6]...)
	accuse(t, d, list[6], 1, list[7:19]...)
	assert.True(t, d.Failed(list[6].id), "the greatest is sixteen")
}

// A member hears that it is said to have failed: it signs a higher number then.
func TestFailure_OfThisMember_Accepted(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(3)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	accuse(t, d, list[0], 1, list[1], list[2])
	assert.True(t, d.Failed(list[0].id))
	must(d.LearnEndpoint(list[0].endpoint(2, "a.example:1")))
	assert.False(t, d.Failed(list[0].id))
}

func TestRefusedFailures(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(3)
	stranger := ca.member(9)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	good := list[1].failure(list[2], 1)
	altered := slices.Clone(good)
	altered[len(altered)-1] ^= 1
	stolen := stranger.failure(list[2], 1)
	copy(stolen[8:], list[1].id[:]) // the key id in the header
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"nothing":            {nil, certificate.ErrMalformed},
		"another kind":       {list[1].endpoint(2, "a.example:1"), certificate.ErrMalformed},
		"altered":            {altered, certificate.ErrSignature},
		"of a stranger":      {stranger.failure(list[2], 1), directory.ErrUnknown},
		"against a stranger": {list[1].failure(stranger, 1), directory.ErrUnknown},
		"in another's name":  {stolen, certificate.ErrSigner},
	} {
		news, err := d.LearnFailure(c.raw)
		assert.ErrorIs(t, err, c.want, name)
		assert.False(t, news, name)
	}
	assert.Empty(t, d.KeptFailures(list[2].id))
	places, _ := d.Traces()
	assert.Equal(t, 3, places, "no place for a stranger")
}

// However many a member says have failed: alone it changes nothing.
func TestFailure_OneLiar_AllEligible(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(12)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	for _, s := range list[:11] {
		for _, sequence := range []uint64{0, 1, 2, 1<<64 - 1} {
			accuse(t, d, s, sequence, list[11])
		}
	}
	for _, s := range list {
		assert.NoError(t, d.Eligible(s.id, now))
		assert.LessOrEqual(t, len(d.KeptFailures(s.id)), 1)
	}
}

func TestDrawFailed(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(12)
	d := directory.New(ca, list[0].id)
	_, ok := d.DrawFailed(seeded(1), now)
	assert.False(t, ok)
	introduce(t, d, list...)
	d.Admit(list[5].issued(99, -2*month, 13*month)) // the only one that is valid for long
	must(d.LearnEndpoint(list[6].endpoint(2)))      // dials out only
	witnesses := list[10:]
	for _, s := range list[:9] {
		n, _ := d.Sequence(s.id)
		accuse(t, d, s, n, witnesses...)
	}
	must(d.LearnLeave(list[7].leave(1)))
	must(d.LearnRevocation(list[8].revocation(1)))

	drawn := func(at time.Time) map[ident.Member]int {
		counts := map[ident.Member]int{}
		rng := seeded(2)
		for range 1000 {
			if m, ok := d.DrawFailed(rng, at); ok {
				counts[m]++
			}
		}
		return counts
	}
	counts := drawn(now)
	assert.Len(t, counts, 5)
	for _, s := range list[1:6] {
		assert.InDelta(t, 200, counts[s.id], 60)
	}
	assert.Equal(t, map[ident.Member]int{list[5].id: 1000}, drawn(now.Add(12*month)))
	must(d.LearnEndpoint(list[5].endpoint(2, "a.example:1")))
	assert.Empty(t, drawn(now.Add(12*month)), "who is back is not among them")
	assert.Len(t, drawn(now), 4)
}

func TestFailure_OfStranger_Refused(t *testing.T) {
	ca := newAuthority(1)
	d := directory.New(ca, ca.member(1).id)
	m := ca.member(2).id
	assert.False(t, d.Failed(m))
	assert.Nil(t, d.Failures(m))
	_, ok := d.Sequence(m)
	assert.False(t, ok)
	_, ok = d.Left(m)
	assert.False(t, ok)
	_, ok = d.Entry(m)
	assert.False(t, ok)
}

func TestLeave(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(3)
	ben := list[1]
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	_, ok := d.Left(ben.id)
	assert.False(t, ok)
	for i, c := range []struct {
		at   uint64
		news bool
		kept uint64
	}{{5, true, 5}, {5, false, 5}, {6, false, 5}, {4, true, 4}, {5, false, 4}} {
		news, err := d.LearnLeave(ben.leave(c.at))
		require.NoError(t, err)
		assert.Equal(t, c.news, news, "learning %d", i)
		raw, ok := d.Left(ben.id)
		assert.True(t, ok)
		assert.Equal(t, ben.leave(c.kept), raw, "the first")
	}
	assert.ErrorIs(t, d.Eligible(ben.id, now), directory.ErrLeft)
	assert.Equal(t, 1, d.Candidates())
	d.Connected(ben.id, true)
	assert.Equal(t, 1, d.Candidates())

	d.Admit(ben.issued(99, -time.Hour, 2*month))
	must(d.LearnEndpoint(ben.endpoint(9, "back.example.org:4133")))
	assert.ErrorIs(t, d.Eligible(ben.id, now), directory.ErrLeft, "permanently")
}

func TestLeave_Invalid_Refused(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(3)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	altered := list[1].leave(1)
	altered[len(altered)-1] ^= 1
	stolen := list[2].leave(1)
	copy(stolen[8:], list[1].id[:])
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"nothing":       {nil, certificate.ErrMalformed},
		"another kind":  {list[1].failure(list[2], 1), certificate.ErrMalformed},
		"altered":       {altered, certificate.ErrSignature},
		"of a stranger": {ca.member(9).leave(1), directory.ErrUnknown},
		"of another":    {stolen, certificate.ErrSigner},
	} {
		news, err := d.LearnLeave(c.raw)
		assert.ErrorIs(t, err, c.want, name)
		assert.False(t, news, name)
	}
	for _, s := range list {
		assert.NoError(t, d.Eligible(s.id, now))
	}
}

// Eligible is the first that applies. (D-4)
func TestStatusOrder(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(4)
	ben := list[1]
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	late := now.Add(12 * month)
	for _, c := range []struct {
		learn func()
		want  error
	}{
		{func() {}, certificate.ErrExpired},
		{func() { accuse(t, d, ben, 1, list[2], list[3]) }, directory.ErrFailed},
		{func() { must(d.LearnLeave(ben.leave(1))) }, directory.ErrLeft},
		{func() { must(d.LearnRevocation(ben.revocation(1))) }, directory.ErrRevoked},
	} {
		c.learn()
		assert.ErrorIs(t, d.Eligible(ben.id, late), c.want)
	}
}

// Who has left makes room, who has failed does not: it may come back. (D-10)
func TestLimit_DepartedMembers_NotCounted(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(4)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	d.SetLimit(4)
	accuse(t, d, list[1], 1, list[2], list[3])
	assert.False(t, d.Admit(ca.member(9).certificate(month)))
	must(d.LearnLeave(list[1].leave(1)))
	assert.True(t, d.Admit(ca.member(9).certificate(month)))
	assert.False(t, d.Admit(ca.member(10).certificate(month)))
}
