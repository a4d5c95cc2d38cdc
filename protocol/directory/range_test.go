package directory_test

import (
	"crypto/sha256"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// talk is what two members say to each other about their directories.
type talk struct {
	t       require.TestingT
	rounds  int // from summary to summary
	parts   int // of summaries
	entries int // on pages
}

// reconcile lets each of two directories learn what the other knows in a range,
// by the messages that members have: whoever sees that a part differs answers
// with parts of that part, or, where few members are left, with a page, which is
// answered with a page.
func (k *talk) reconcile(a, b *directory.Directory, from, through ident.Member, round int) {
	k.rounds = max(k.rounds, round)
	at := from
	for _, p := range a.Split(from, through, wire.MaxParts) {
		k.parts++
		count, xor := b.Range(at, p.Through)
		switch {
		case count == p.Members && xor == p.Fingerprint:
		case max(count, p.Members) <= wire.MaxPage:
			k.page(a, b, at, p.Through)
			k.page(b, a, at, p.Through)
		default:
			k.reconcile(b, a, at, p.Through, round+1)
		}
		at = p.Through.Next()
	}
}

func (k *talk) page(from, to *directory.Directory, first, last ident.Member) {
	for more := true; more; first = first.Next() {
		var entries []wire.Entry
		entries, first, more = from.Page(first, last, wire.MaxPage, wire.MaxFrame)
		k.entries += len(entries)
		for _, l := range to.LearnPage(entries, nil) {
			if l.Err != nil {
				require.ErrorIs(k.t, l.Err, directory.ErrUnknown) // a witness on another page
			}
		}
	}
}

func (k *talk) everything(a, b *directory.Directory) {
	exchangeRevocations(k.t, a, b)
	exchangeRevocations(k.t, b, a)
	k.reconcile(a, b, ident.Member{}, ident.LastMember(), 1)
}

func exchangeRevocations(t require.TestingT, to, from *directory.Directory) {
	raws, _ := from.Revocations(0, 1000)
	for _, raw := range raws {
		_, err := to.LearnRevocation(raw)
		require.NoError(t, err)
	}
}

// Two members that know different things agree after two exchanges, and so do
// their fingerprints; the third finds nothing to do. (D-16)
func TestRanges_AnyDirectories_Converge(t *testing.T) {
	ca := newAuthority(1)
	all, members := facts(ca, 4), ca.members(4)
	rapid.Check(t, func(t *rapid.T) {
		fresh := anyQuorum(t, ca)
		a, b := fresh(), fresh()
		for _, s := range members { // who is known to one is so by its certificate
			for _, d := range []*directory.Directory{a, b} {
				if rapid.Bool().Draw(t, "known") {
					d.Admit(s.certificate(month))
				}
			}
		}
		for _, d := range []*directory.Directory{a, b} {
			for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(all)-1), 0, 30).Draw(t, "facts") {
				_, _ = all[i].learn(d)
			}
		}
		for range 2 {
			(&talk{t: t}).everything(a, b)
		}
		require.Equal(t, living(a, members), living(b, members))
		quiet := &talk{t: t}
		quiet.everything(b, a)
		require.Zero(t, quiet.entries)
	})
}

// In a large group a few differences are found in three rounds, and little else
// is sent.
func TestRanges_FewDifferences_FewMessages(t *testing.T) {
	const n, different = 5000, 7
	ca := newAuthority(1)
	a, b := directory.New(ca, ident.Member{}), directory.New(ca, ident.Member{})
	random := rand.New(rand.NewPCG(1, 2))
	odd := map[int]bool{}
	for len(odd) < different {
		odd[random.IntN(n)] = true
	}
	for i := range n {
		s := ca.member(uint64(i))
		cert := s.certificate(month)
		if !odd[i] || i%2 == 0 {
			a.Admit(cert)
		}
		if !odd[i] || i%2 != 0 {
			b.Admit(cert)
		}
	}
	k := &talk{t: t}
	k.everything(a, b)
	assert.LessOrEqual(t, k.rounds, 2)
	assert.LessOrEqual(t, k.parts, (1+different)*wire.MaxParts)
	assert.LessOrEqual(t, k.entries, 2*different*wire.MaxPage)
	assert.Equal(t, n, a.Len())
	assert.Equal(t, n, b.Len())
	count, xor := a.Fingerprint()
	assert.Equal(t, uint64(n), count)
	other, otherXor := b.Fingerprint()
	assert.Equal(t, count, other)
	assert.Equal(t, xor, otherXor)
}

// Every part of what is known is in the fingerprint; who is revoked is not. (D-16)
func TestFingerprint_AnyDifference_Differs(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(4)
	ben := list[1]
	d := directory.New(ca, list[0].id)
	_, zero := d.Fingerprint()
	assert.Equal(t, directory.Fingerprint{}, zero)
	introduce(t, d, list...)
	seen := map[directory.Fingerprint]bool{zero: true}
	changes := func(what string, learn func()) {
		learn()
		_, xor := d.Fingerprint()
		assert.False(t, seen[xor], what)
		seen[xor] = true
		count, same := d.Range(ident.Member{}, ident.LastMember())
		all, _ := d.Fingerprint()
		assert.Equal(t, all, count)
		assert.Equal(t, xor, same)
	}
	changes("members", func() {})
	changes("certificate", func() { d.Admit(ben.issued(50, -time24, 2*month)) })
	changes("endpoint record", func() { must(d.LearnEndpoint(ben.endpoint(2, "b.example:1"))) })
	changes("failure statement", func() { accuse(t, d, ben, 2, list[2]) })
	changes("waiting failure statement", func() { accuse(t, d, ben, 3, list[3]) })
	changes("leave", func() { must(d.LearnLeave(ben.leave(1))) })
	changes("revoked witness", func() { must(d.LearnRevocation(list[2].revocation(1))) })
	count, _ := d.Fingerprint()
	assert.Equal(t, uint64(3), count)
	_, before := d.Fingerprint()
	d.Connected(list[3].id, true)
	_, after := d.Fingerprint()
	assert.Equal(t, before, after, "a connection is nobody else's business")
}

// A sample has no fingerprint to compare. (D-17)
func TestFingerprint_Sample_OfItsMembers(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(5)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	d.SetSample(2, seeded(1))
	count, xor := d.Fingerprint()
	assert.Zero(t, count)
	assert.Equal(t, directory.Fingerprint{}, xor)
}

// The fingerprint is the one that the specification describes. (D-16)
func TestFingerprint_Computed_AsSpecified(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(4)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list[0], list[2], list[3])
	d.Admit(list[1].certificate(month))
	accuse(t, d, list[0], 1, list[2], list[3])
	must(d.LearnLeave(list[2].leave(1)))
	var want directory.Fingerprint
	for _, s := range list {
		e, _ := d.Entry(s.id)
		var all []byte
		for _, raw := range append([][]byte{e.Certificate, e.Endpoint, e.Leave}, e.Failures...) {
			var sum [sha256.Size]byte
			if len(raw) > 0 {
				sum = sha256.Sum256(raw)
			}
			all = append(all, sum[:]...)
		}
		sum := sha256.Sum256(all)
		for i := range want {
			want[i] ^= sum[i]
		}
	}
	_, xor := d.Fingerprint()
	assert.Equal(t, want, xor)
}

// The largest entry that there can be fits a frame.
func TestEntry_Largest_FitsAFrame(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(directory.MaxFailureQuorum + 1)
	ben := list[0]
	value := append(canonical.Raw{0x58, 0xfe}, make([]byte, 254)...)
	full := canonical.Extensions{}.With(1, value).With(3, value).With(5, value).With(7, value).With(9, value).With(11, value).With(13, value).With(15, value)
	claims := ben.certificate(month).Body()
	claims.Name, claims.Extensions = strings.Repeat("a", certificate.MaxName), full
	e := wire.Entry{
		Certificate: must(claims.Sign(ca.key)).Raw(),
		Leave:       must(certificate.Leave{Member: ben.id, Time: 1 << 40, Extensions: full}.Sign(ca.id, ben.key)).Raw(),
	}
	located := certificate.Endpoint{Member: ben.id, Sequence: 1 << 60, Mode: certificate.Reachable, Time: 1 << 40}
	for i := range certificate.MaxAddresses {
		located.Addresses = append(located.Addresses, strings.Repeat("a", 250)+strconv.Itoa(i)+":4133")
	}
	located.Extensions = canonical.Extensions{}.With(1, value).With(3, value).With(5, value).With(7, value).With(9, value).With(11, value)
	e.Endpoint = must(located.Sign(ca.id, ben.key)).Raw()
	slices.SortFunc(list[1:], func(a, b someone) int { return a.id.Compare(b.id) })
	for _, w := range list[1:] {
		f := certificate.Failure{Witness: w.id, Subject: ben.id, Sequence: 1 << 60, Time: 1 << 40, Extensions: full}
		e.Failures = append(e.Failures, must(f.Sign(ca.id, w.key)).Raw())
	}
	d := directory.New(ca, ident.Member{})
	introduce(t, d, list[1:]...)
	l := d.LearnPage([]wire.Entry{e}, nil)
	require.NoError(t, l[0].Err)
	require.Len(t, l[0].Failures, directory.MaxFailureQuorum)
	entries, _, _ := d.Page(ben.id, ben.id, wire.MaxPage, 0)
	assert.Equal(t, []wire.Entry{e}, entries)
	body, err := wire.Encode(&wire.Members{Entries: entries, More: true})
	require.NoError(t, err)
	t.Logf("%d bytes", len(body))
	assert.Less(t, len(body), 46_000)
}
