package fuzz

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// FuzzDirectory: directories that learn the same objects in another order, in
// other portions and repeatedly are the same; fingerprints are equal exactly when
// the pages are; parts and pages are those of the whole.
//
//fuzz:of protocol/directory protocol/certificate
func FuzzDirectory(f *testing.F) { targets["FuzzDirectory"].Fuzz(f) }

// directoryMost bounds the objects of an input: their signatures are most of its
// cost.
const directoryMost = 12

// knownGroup is what a directory asks of its group.
type knownGroup struct{ authorities }

func (knownGroup) ID() ident.Group { return group }

// fact is one object about a member, and how it is learned.
type fact struct {
	raw         []byte
	certificate certificate.Certificate // for a certificate
	learn       func(d *directory.Directory, raw []byte) (bool, error)
}

// directoryFacts are all objects that an input can name, about four members.
var directoryFacts = makeFacts()

func makeFacts() (facts []fact) {
	keys := []*signature.PrivateKey{newKey(10), newKey(11), newKey(12), newKey(13)}
	id := func(key *signature.PrivateKey) ident.Member { return ident.MemberOf(group, publicBytes(key)) }
	for i, key := range keys {
		for n, ends := range []time.Duration{90, 30, -1} {
			c := must(certificate.Claims{
				Name: fmt.Sprintf("m%d", i), Serial: uint64(10*i + n + 1), NotBefore: epoch.AddDate(-1, 0, 0),
				NotAfter: epoch.Add(ends * 24 * time.Hour), IssuedAt: epoch.AddDate(-1, 0, 0), Key: key.Public().Bytes(), Group: group, ConfigVersion: 1,
			}.Sign(ca))
			facts = append(facts, fact{certificate: c, raw: c.Raw()})
		}
		for n := range 2 {
			e := certificate.Endpoint{Member: id(key), Sequence: uint64(n + 1), Mode: certificate.Reachable, Addresses: []string{fmt.Sprintf("h%d:1", n)}}
			facts = append(facts, fact{raw: must(e.Sign(group, key)).Raw(), learn: (*directory.Directory).LearnEndpoint})
			l := certificate.Leave{Member: id(key), Time: uint64(n)}
			facts = append(facts, fact{raw: must(l.Sign(group, key)).Raw(), learn: (*directory.Directory).LearnLeave})
			r := certificate.Revocation{Version: uint64(2*i + n + 1), Member: id(key)}
			facts = append(facts, fact{raw: must(r.Sign(group, ca)).Raw(), learn: (*directory.Directory).LearnRevocation})
		}
		for j, subject := range keys {
			for n := range uint64(3) {
				f := certificate.Failure{Witness: id(key), Subject: id(subject), Sequence: n, Time: n}
				if i != j {
					facts = append(facts, fact{raw: must(f.Sign(group, key)).Raw(), learn: (*directory.Directory).LearnFailure})
				}
			}
		}
	}
	return facts
}

// newDirectory is one for which the certificate of everybody who signs comes
// first.
func newDirectory() *directory.Directory { return directory.New(knownGroup{}, adaID) }

// teach tells of an object as it comes: alone, or on a page.
func teach(t require.TestingT, d *directory.Directory, f fact) {
	if f.learn == nil {
		d.Admit(f.certificate)
	} else if _, err := f.learn(d, f.raw); err != nil {
		isOneOf(t, err, append([]error{directory.ErrUnknown}, certificateRefusals...)...)
	}
	require.NoError(t, d.Check())
}

// everything is a directory's one page.
func everything(d *directory.Directory) []wire.Entry {
	entries, _, _ := d.Page(ident.Member{}, ident.LastMember(), 1<<10, 1<<20)
	return entries
}

// checkDirectory: the first byte divides the objects among two directories, the
// second turns their order, and each further one names an object.
func checkDirectory(t require.TestingT, data []byte) bool {
	if len(data) < 2 || len(data) > 2+directoryMost {
		return false
	}
	var certificates, others []fact
	for _, b := range data[2:] {
		if int(b) >= len(directoryFacts) {
			return false
		}
		if f := directoryFacts[b]; f.learn == nil {
			certificates = append(certificates, f)
		} else {
			others = append(others, f)
		}
	}
	facts := append(certificates, others...)
	one, other := newDirectory(), newDirectory()
	for _, f := range facts {
		teach(t, one, f)
	}
	divided(t, other, certificates, others, data[0], data[1])
	countOne, sumOne := one.Fingerprint()
	countOther, sumOther := other.Fingerprint()
	require.Equal(t, everything(one), everything(other), "another order, another directory")
	require.Equal(t, countOne, countOther)
	require.Equal(t, sumOne, sumOther)
	require.Equal(t, one.RevocationVersion(), other.RevocationVersion())
	for _, f := range facts {
		if f.learn != nil { // once more is no news
			news, _ := f.learn(other, f.raw)
			require.False(t, news)
		}
	}
	less := newDirectory()
	for _, f := range facts[:len(facts)*int(data[0])/256] {
		teach(t, less, f)
	}
	compare(t, one, less)
	divides(t, one)
	return true
}

// divided teaches certificates and others in another order, some twice, and half
// of the others through a third directory's page.
func divided(t require.TestingT, d *directory.Directory, certificates, others []fact, split, turn byte) {
	third := newDirectory()
	rotate := func(list []fact) []fact {
		n := int(turn) % max(1, len(list))
		return slices.Concat(list[n:], list[:n])
	}
	for _, f := range rotate(certificates) {
		teach(t, d, f)
		teach(t, third, f)
	}
	for i, f := range rotate(others) {
		if split>>(i%8)&1 == 0 {
			teach(t, d, f)
		} else {
			teach(t, third, f)
		}
	}
	for _, learned := range d.LearnPage(everything(third), rand.NewChaCha8([32]byte{})) {
		require.NoError(t, learned.Err, "a page that a directory has made")
	}
	require.NoError(t, d.Check())
	// Revocations travel by version and not on pages, nor does who is revoked.
	revocations, _ := third.Revocations(0, 1<<10)
	for _, raw := range revocations {
		_, err := d.LearnRevocation(raw)
		require.NoError(t, err)
	}
	for _, f := range others {
		teach(t, d, f)
	}
}

// compare checks that fingerprints say whether pages are the same.
func compare(t require.TestingT, a, b *directory.Directory) {
	countA, sumA := a.Fingerprint()
	countB, sumB := b.Fingerprint()
	pagesA, pagesB := everything(a), everything(b)
	require.Len(t, pagesA, int(countA))
	same := fmt.Sprint(pagesA) == fmt.Sprint(pagesB)
	require.Equal(t, same, countA == countB && sumA == sumB, "a fingerprint that lies")
}

// divides checks that parts, and small pages, add up to the whole.
func divides(t require.TestingT, d *directory.Directory) {
	count, sum := d.Fingerprint()
	from := ident.Member{}
	for _, p := range d.Split(ident.Member{}, ident.LastMember(), 3) {
		members, xor := d.Range(from, p.Through)
		require.Equal(t, p.Members, members)
		require.Equal(t, p.Fingerprint, xor)
		count -= members
		for i := range sum {
			sum[i] ^= xor[i]
		}
		from = following(p.Through)
	}
	require.Zero(t, count, "members in no part")
	require.Zero(t, sum)
	var pages []wire.Entry
	for from, more := (ident.Member{}), true; more; {
		var entries []wire.Entry
		var last ident.Member
		entries, last, more = d.Page(from, ident.LastMember(), 2, 1)
		require.LessOrEqual(t, len(entries), 2)
		pages, from = append(pages, entries...), following(last)
	}
	require.Equal(t, len(everything(d)), len(pages))
}

// following is the id after m.
func following(m ident.Member) ident.Member {
	for i := len(m) - 1; i >= 0; i-- {
		if m[i]++; m[i] != 0 {
			break
		}
	}
	return m
}

func directorySeeds() map[string][]byte {
	seeds := map[string][]byte{
		"bad-empty": {}, "bad-short": {1}, "bad-object": {0, 0, 255}, "bad-many": make([]byte, 3+directoryMost),
		"good-nothing": {0, 0},
	}
	for i := 0; i < len(directoryFacts); i += 5 {
		at := byte(i)
		next := byte((i + 7) % len(directoryFacts))
		seeds[fmt.Sprintf("good-%03d", i)] = []byte{at * 3, at, 0, 18, 36, 54, at, next, byte((i * 5) % len(directoryFacts))}
	}
	return seeds
}
