package directory_test

import (
	"fmt"
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
	"github.com/wandertoken/wander/protocol/wire"
)

const time24 = 24 * time.Hour

// entryOf is a member on a page, with what the witnesses say of it.
func entryOf(s someone, witnesses ...someone) wire.Entry {
	e := wire.Entry{
		Certificate: s.certificate(month).Raw(),
		Endpoint:    s.endpoint(1, fmt.Sprintf("m-%d.example.org:4133", s.n)),
	}
	for _, w := range witnesses {
		e.Failures = append(e.Failures, w.failure(s, 1))
	}
	return e
}

func altered(raw []byte) []byte {
	raw = slices.Clone(raw)
	raw[len(raw)-1] ^= 1
	return raw
}

func TestLearnPage(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(5)
	d := directory.New(ca, list[0].id)
	page := []wire.Entry{
		entryOf(list[1], list[3], list[4]), // who come later on the page
		entryOf(list[2]),
		entryOf(list[3]),
		{Certificate: list[4].certificate(month).Raw()},
	}
	page[1].Leave = list[2].leave(1)
	assert.Equal(t, []directory.Learned{
		{Member: list[1].id, Certificate: true, Endpoint: true, Failures: []int{0, 1}},
		{Member: list[2].id, Certificate: true, Endpoint: true, Leave: true},
		{Member: list[3].id, Certificate: true, Endpoint: true},
		{Member: list[4].id, Certificate: true},
	}, d.LearnPage(page, nil))
	assert.ErrorIs(t, d.Eligible(list[1].id, now), directory.ErrFailed)
	assert.ErrorIs(t, d.Eligible(list[2].id, now), directory.ErrLeft)
	assert.NoError(t, d.Eligible(list[3].id, now))

	asked := ca.asked
	for i, l := range d.LearnPage(page, nil) {
		assert.Equal(t, directory.Learned{Member: list[i+1].id}, l, "no news")
	}
	assert.Equal(t, asked, ca.asked, "and no signature check")
	assert.Empty(t, d.LearnPage(nil, nil))
}

// One forged signature keeps out what it is under, and nothing else. (D-18)
func TestPage_ForgedSignature_Found(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(40)
	var page []wire.Entry
	for _, s := range list[:32] {
		page = append(page, entryOf(s))
	}
	page[3].Failures = [][]byte{list[4].failure(list[3], 1), list[5].failure(list[3], 1), list[6].failure(list[3], 1)}
	page[7].Leave = list[7].leave(1)
	for name, forge := range map[string]struct {
		at    int
		spoil func(*wire.Entry)
		check func(*directory.Directory, directory.Learned)
	}{
		"certificate": {5, func(e *wire.Entry) { e.Certificate = altered(e.Certificate) }, func(d *directory.Directory, l directory.Learned) {
			assert.Nil(t, d.Key(list[5].id))
			assert.Len(t, d.Failures(list[3].id), 2, "nor its word against another")
			assert.False(t, l.Endpoint, "its record has nobody to be of")
		}},
		"endpoint record": {6, func(e *wire.Entry) { e.Endpoint = altered(e.Endpoint) }, func(d *directory.Directory, l directory.Learned) {
			assert.True(t, l.Certificate)
			assert.Empty(t, d.Addresses(list[6].id))
		}},
		"leave": {7, func(e *wire.Entry) { e.Leave = altered(e.Leave) }, func(d *directory.Directory, l directory.Learned) {
			assert.True(t, l.Certificate && l.Endpoint)
			assert.NoError(t, d.Eligible(list[7].id, now))
		}},
		"failure statement": {3, func(e *wire.Entry) { e.Failures[1] = altered(e.Failures[1]) }, func(d *directory.Directory, l directory.Learned) {
			assert.Equal(t, []int{0, 2}, l.Failures)
			assert.True(t, d.Failed(list[3].id))
		}},
	} {
		d := directory.New(ca, list[39].id)
		spoilt := slices.Clone(page)
		spoilt[forge.at].Failures = slices.Clone(spoilt[forge.at].Failures)
		forge.spoil(&spoilt[forge.at])
		learned := d.LearnPage(spoilt, rand.NewChaCha8([32]byte{1}))
		for i, l := range learned {
			switch {
			case i == forge.at:
				assert.ErrorIs(t, l.Err, certificate.ErrSignature, name)
			case name == "certificate" && i == 3:
				assert.ErrorIs(t, l.Err, directory.ErrUnknown, name)
			default:
				assert.NoError(t, l.Err, name)
				assert.True(t, l.Certificate && l.Endpoint, name)
			}
		}
		forge.check(d, learned[forge.at])
	}
}

// Entries that are put together of what does not belong together. (D-18)
func TestPage_LyingEntries_Refused(t *testing.T) {
	ca, other := newAuthority(1), newAuthority(2)
	list := ca.members(6)
	ben, cleo, dan := list[1], list[2], list[3]
	d := directory.New(ca, list[0].id)
	introduce(t, d, cleo, dan, list[4])
	good := entryOf(ben)
	for name, c := range map[string]struct {
		entry wire.Entry
		want  error
	}{
		"nothing":                 {wire.Entry{}, certificate.ErrMalformed},
		"no certificate":          {wire.Entry{Certificate: good.Endpoint}, certificate.ErrMalformed},
		"of another group":        {wire.Entry{Certificate: other.member(1).certificate(month).Raw()}, certificate.ErrGroup},
		"record of another":       {wire.Entry{Certificate: good.Certificate, Endpoint: cleo.endpoint(5, "a.example:1")}, directory.ErrEntry},
		"no record":               {wire.Entry{Certificate: good.Certificate, Endpoint: good.Certificate}, directory.ErrEntry},
		"leave of another":        {wire.Entry{Certificate: good.Certificate, Leave: cleo.leave(1)}, directory.ErrEntry},
		"statement about another": {wire.Entry{Certificate: good.Certificate, Failures: [][]byte{dan.failure(cleo, 1)}}, directory.ErrEntry},
		"statement of a stranger": {wire.Entry{Certificate: good.Certificate, Failures: [][]byte{ca.member(77).failure(ben, 1)}}, directory.ErrUnknown},
		"no statement":            {wire.Entry{Certificate: good.Certificate, Failures: [][]byte{nil}}, certificate.ErrMalformed},
	} {
		l := d.LearnPage([]wire.Entry{c.entry, entryOf(list[5])}, nil)
		assert.ErrorIs(t, l[0].Err, c.want, name)
		assert.NoError(t, l[1].Err, name)
		assert.False(t, l[0].Endpoint || l[0].Leave || len(l[0].Failures) > 0, name)
	}
	for _, s := range []someone{cleo, dan, list[4]} {
		assert.NoError(t, d.Eligible(s.id, now))
		n, _ := d.Sequence(s.id)
		assert.Equal(t, uint64(1), n)
		assert.Empty(t, d.KeptFailures(s.id))
	}
}

// A page says what its objects say one by one, in whatever order its entries
// stand, and whichever of them are spoilt. (D-18)
func TestPage_AnyObjects_SameAsOneByOne(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(6)
	var whole []wire.Entry
	for i, s := range list {
		e := entryOf(s, list[(i+1)%6], list[(i+2)%6], list[(i+3)%6])
		if i == 4 {
			e.Leave = s.leave(1)
		}
		whole = append(whole, e)
	}
	rapid.Check(t, func(t *rapid.T) {
		var page []wire.Entry
		for _, e := range rapid.Permutation(whole).Draw(t, "order")[:rapid.IntRange(1, 6).Draw(t, "entries")] {
			e.Failures = slices.Clone(e.Failures)
			switch rapid.IntRange(0, 9).Draw(t, "spoilt") {
			case 0:
				e.Certificate = altered(e.Certificate)
			case 1:
				e.Endpoint = altered(e.Endpoint)
			case 2:
				e.Failures[1] = altered(e.Failures[1])
			}
			page = append(page, e)
		}
		known := rapid.SampledFrom(list).Draw(t, "known").certificate(month)
		a, b := directory.New(ca, ident.Member{}), directory.New(ca, ident.Member{})
		a.Admit(known)
		b.Admit(known)
		learned := a.LearnPage(page, nil)
		bad := oneByOne(b, page)
		require.Equal(t, picture(b, list), picture(a, list))
		for i, l := range learned {
			require.Equal(t, bad[i], l.Err != nil, "entry %d: %v", i, l.Err)
		}
	})
}

// Whatever a page has in place of objects, and whatever is forgotten meanwhile:
// nothing panics, and nothing is left half done.
func TestPage_Hostile_NoHarm(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(6)
	var objects [][]byte
	for i, s := range list {
		e := entryOf(s, list[(i+1)%6], list[(i+2)%6])
		objects = append(objects, e.Certificate, e.Endpoint, s.issued(9, -3*month, -month).Raw(), s.attached(2, list[(i+1)%6].id), s.leave(1))
		objects = append(objects, e.Failures...)
		objects = append(objects, list[(i+3)%6].failure(s, 2))
	}
	object := rapid.Custom(func(t *rapid.T) []byte {
		raw := rapid.SampledFrom(objects).Draw(t, "object")
		switch rapid.IntRange(0, 9).Draw(t, "spoilt") {
		case 0:
			return rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		case 1:
			raw = slices.Clone(raw)
			raw[rapid.IntRange(0, len(raw)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		return raw
	})
	entry := rapid.Custom(func(t *rapid.T) wire.Entry {
		s := rapid.IntRange(0, 5).Draw(t, "member")
		e := wire.Entry{Certificate: objects[8*s+2*rapid.IntRange(0, 1).Draw(t, "old")]}
		if rapid.IntRange(0, 5).Draw(t, "other") == 0 {
			e.Certificate = object.Draw(t, "certificate")
		}
		if rapid.Bool().Draw(t, "located") {
			e.Endpoint = objects[8*s+1]
		} else {
			e.Endpoint = object.Draw(t, "endpoint")
		}
		if rapid.IntRange(0, 3).Draw(t, "left") == 0 {
			e.Leave = object.Draw(t, "leave")
		}
		for range rapid.IntRange(0, 4).Draw(t, "statements") {
			if rapid.Bool().Draw(t, "any") {
				e.Failures = append(e.Failures, object.Draw(t, "statement"))
			} else {
				e.Failures = append(e.Failures, objects[8*s+rapid.IntRange(5, 7).Draw(t, "witness")])
			}
		}
		return e
	})
	rapid.Check(t, func(t *rapid.T) {
		d := anyQuorum(t, ca)()
		d.SetLimit(rapid.IntRange(3, 10).Draw(t, "limit"))
		for range rapid.IntRange(2, 5).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				d.Forget(now.Add(time.Duration(rapid.IntRange(-2, 1).Draw(t, "months"))*month), func(ident.Member) bool { return rapid.Bool().Draw(t, "needed") })
			case 1:
				must(d.LearnRevocation(list[rapid.IntRange(0, 5).Draw(t, "revoked")].revocation(1)))
			default:
				page := rapid.SliceOfN(entry, 6, 12).Draw(t, "page")
				require.Len(t, d.LearnPage(page, nil), len(page))
			}
			require.NoError(t, d.Check())
		}
	})
}

// oneByOne learns a page without a batch, and says which entries are bad.
func oneByOne(d *directory.Directory, page []wire.Entry) (bad []bool) {
	bad = make([]bool, len(page))
	note := func(i int, err error) { bad[i] = bad[i] || err != nil }
	for i, e := range page {
		_, _, err := d.Learn(e.Certificate)
		note(i, err)
	}
	for i, e := range page {
		_, err := d.LearnEndpoint(e.Endpoint)
		note(i, err)
		if len(e.Leave) > 0 {
			_, err := d.LearnLeave(e.Leave)
			note(i, err)
		}
		for _, raw := range e.Failures {
			_, err := d.LearnFailure(raw)
			note(i, err)
		}
	}
	return bad
}

func TestPage_FullDirectory_Bounded(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(4)
	d := directory.New(ca, list[0].id)
	d.SetLimit(2)
	l := d.LearnPage([]wire.Entry{entryOf(list[1]), entryOf(list[2]), entryOf(list[3])}, nil)
	assert.NoError(t, l[0].Err)
	assert.NoError(t, l[1].Err)
	assert.ErrorIs(t, l[2].Err, directory.ErrFull)
	assert.False(t, l[2].Certificate || l[2].Endpoint)
	assert.Equal(t, 2, d.Len())
	places, _ := d.Traces()
	assert.Equal(t, 2, places)
}

// Requirement D-20.
func TestExpectedVersions(t *testing.T) {
	ca := newAuthority(1)
	d := directory.New(ca, ident.Member{})
	certified := func(n, config, revocations uint64) certificate.Certificate {
		s := ca.member(n)
		return must(certificate.Claims{
			Name: "a", Serial: n + 1, NotBefore: now, NotAfter: now.Add(month), IssuedAt: now,
			Key: s.key.Public().Bytes(), Group: ca.id, ConfigVersion: config, RevocationVersion: revocations,
		}.Sign(ca.key))
	}
	expect := func(config, revocations uint64) {
		c, r := d.Expected()
		assert.Equal(t, [2]uint64{config, revocations}, [2]uint64{c, r})
	}
	expect(0, 0)
	d.Admit(certified(1, 4, 2))
	expect(4, 2)
	_, _, err := d.Learn(certified(2, 3, 9).Raw())
	require.NoError(t, err)
	expect(4, 9)
	_, _, err = d.Learn(altered(certified(3, 100, 100).Raw()))
	require.Error(t, err)
	d.LearnPage([]wire.Entry{{Certificate: altered(certified(3, 100, 100).Raw())}}, nil)
	expect(4, 9)
	d.LearnPage([]wire.Entry{{Certificate: certified(3, 5, 5).Raw()}}, nil)
	expect(5, 9)
}

// The keys that were asked for last are ready; the others are read again.
func TestKeys_ManyMembers_Found(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(30)
	d := directory.New(ca, list[0].id)
	d.LimitKeys(10)
	for _, s := range list {
		d.Admit(s.certificate(month))
	}
	for range 2 {
		for _, s := range list {
			assert.True(t, d.Key(s.id).Equal(s.key.Public()))
		}
	}
	kept := d.Key(list[1].id)
	for _, s := range list[2:11] {
		d.Key(s.id)
	}
	assert.Same(t, kept, d.Key(list[1].id), "from the generation before")
	for _, s := range list[2:] {
		d.Key(s.id)
	}
	assert.NotSame(t, kept, d.Key(list[1].id))
}
