package directory_test

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// populate makes a directory of n members that can be dialled. Their objects
// are real; those of a million take a minute or two to sign.
func populate(b testing.TB, ca *authority, n int) *directory.Directory {
	d := directory.New(ca, ca.member(0).id)
	for i := range n {
		s := ca.member(uint64(i))
		if !d.Admit(s.certificate(month)) {
			b.Fatal("a member is missing")
		}
		d.Trust(s.located(1))
	}
	return d
}

func (s someone) located(sequence uint64) certificate.SignedEndpoint {
	e := certificate.Endpoint{Member: s.id, Sequence: sequence, Mode: certificate.Reachable, Time: 1 << 40}
	e.Addresses = []string{fmt.Sprintf("m-%d.example.org:4133", s.n)}
	return must(e.Sign(s.ca.id, s.key))
}

// What a directory costs: memory for each member, and time for what a member
// does with it.
func BenchmarkDirectory(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run("members="+strconv.Itoa(n), func(b *testing.B) {
			ca := newAuthority(1)
			before := heap()
			d := populate(b, ca, n)
			each := float64(heap()-before) / float64(n)
			b.Run("memory", func(b *testing.B) {
				b.ReportMetric(each, "B/member")
				b.ReportMetric(0, "ns/op")
			})
			benchmarkQuestions(b, d)
			benchmarkChanges(b, ca, d, n)
			runtime.KeepAlive(d)
		})
	}
}

func benchmarkQuestions(b *testing.B, d *directory.Directory) {
	ends := make([]ident.Member, 256)
	for i := range ends {
		ends[i] = ident.Member{byte(i), 0x55}
	}
	b.Run("Range", func(b *testing.B) {
		for i := range b.N {
			d.Range(ends[i%64], ends[128+i%64])
		}
	})
	b.Run("Split", func(b *testing.B) {
		for i := range b.N {
			d.Split(ends[i%64], ident.LastMember(), wire.MaxParts)
		}
	})
	b.Run("Page", func(b *testing.B) {
		for i := range b.N {
			d.Page(ends[i%256], ident.LastMember(), wire.MaxPage, wire.MaxFrame-1024)
		}
	})
	b.Run("Choose", func(b *testing.B) {
		rng := seeded(1)
		for range b.N {
			d.Choose(rng, now, nil)
		}
	})
	b.Run("DrawSome", func(b *testing.B) {
		rng := seeded(1)
		var list []ident.Member
		for range b.N {
			list = d.DrawSome(rng, 32, now, nil, list[:0])
		}
	})
	b.Run("Witnesses", func(b *testing.B) {
		var list []ident.Member
		for i := range b.N {
			list = d.Witnesses(ends[i%256], 12, now, list[:0])
		}
	})
	b.Run("Forget", func(b *testing.B) {
		for range b.N {
			d.Forget(now.Add(-month), nobody)
		}
	})
}

func benchmarkChanges(b *testing.B, ca *authority, d *directory.Directory, n int) {
	b.Run("endpoint", func(b *testing.B) { // without its signature check
		var news []certificate.SignedEndpoint
		for i := range min(b.N, 1000) {
			news = append(news, ca.member(uint64(i*(n/1000))).located(2), ca.member(uint64(i*(n/1000))).located(3))
		}
		b.ResetTimer()
		for i := range b.N {
			d.Trust(news[i%len(news)])
		}
	})
	b.Run("join", func(b *testing.B) { // the certificate, without its signature check
		fresh := make([]certificate.Certificate, b.N)
		for i := range fresh {
			fresh[i] = ca.member(uint64(1<<30 + i)).certificate(month)
		}
		b.ResetTimer()
		for i := range b.N {
			d.Admit(fresh[i])
		}
	})
}

// Reading a page of 64 members, with a record and two statements each, of whom
// nothing is known: one by one, in a batch, and in a batch with a forged
// signature.
func BenchmarkPage(b *testing.B) {
	ca := newAuthority(1)
	list := ca.members(66)
	var page []wire.Entry
	for i, s := range list[:64] {
		page = append(page, entryOf(s, list[i+1], list[i+2]))
	}
	forged := append([]wire.Entry(nil), page...)
	forged[40].Endpoint = altered(forged[40].Endpoint)
	fresh := func() *directory.Directory {
		d := directory.New(ca, ident.Member{})
		d.Admit(list[64].certificate(month))
		d.Admit(list[65].certificate(month))
		return d
	}
	b.Run("without statements", func(b *testing.B) {
		plain := append([]wire.Entry(nil), page...)
		for i := range plain {
			plain[i].Failures = nil
		}
		for range b.N {
			fresh().LearnPage(plain, nil)
		}
	})
	b.Run("one by one", func(b *testing.B) {
		for range b.N {
			oneByOne(fresh(), page)
		}
	})
	b.Run("batch", func(b *testing.B) {
		for range b.N {
			fresh().LearnPage(page, nil)
		}
	})
	b.Run("forged", func(b *testing.B) {
		for range b.N {
			fresh().LearnPage(forged, nil)
		}
	})
	b.Run("known", func(b *testing.B) {
		d := fresh()
		d.LearnPage(page, nil)
		b.ResetTimer()
		for range b.N {
			d.LearnPage(page, nil)
		}
	})
}
