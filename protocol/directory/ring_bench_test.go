package directory_test

import (
	"fmt"
	"testing"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
)

// onlyDials is the endpoint record of one that only dials out, not to be verified.
func (s someone) onlyDials(sequence uint64) certificate.SignedEndpoint {
	return must(certificate.Endpoint{Member: s.id, Sequence: sequence, Mode: certificate.DialsOut}.Sign(s.ca.id, s.key))
}

// BenchmarkRing is what a member looks up when somebody connects (After and Before), and
// when the role of a member changes besides.
func BenchmarkRing(b *testing.B) {
	ca := newAuthority(1)
	for _, n := range []int{100, 1000, 10_000} {
		list := ca.members(n)
		for _, share := range []int{0, 1, 50} {
			b.Run(fmt.Sprintf("%d members, %d %% dial out", n, share), func(b *testing.B) {
				d := directory.New(ca, list[0].id)
				for i, s := range list {
					d.Admit(s.certificate(month))
					d.Trust(s.located(1))
					if i%100 < share {
						d.Trust(s.onlyDials(2))
						d.Connected(s.id, true)
					}
				}
				moves := []func(sequence uint64){
					func(q uint64) { d.Trust(list[n/2].located(q)) },
					func(q uint64) { d.Trust(list[n/2].onlyDials(q)) },
				}
				look := func(m ident.Member) {
					d.Be(m)
					d.After(now, nil)
					d.Before(now, nil)
				}
				b.Run("look", func(b *testing.B) {
					for i := range b.N {
						look(list[i%n].id)
					}
				})
				b.Run("changed", func(b *testing.B) {
					for i := range b.N {
						b.StopTimer()
						moves[i%2](uint64(3 + i))
						b.StartTimer()
						look(list[i%n].id)
					}
				})
			})
		}
	}
}
