package member_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/weigh"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/wire"
)

// TestPolicies_Nonsense_Ignored: however long a peer's policy talks nonsense, little is
// kept of it, and no more is said than what a flood may cost.
func TestPolicies_Nonsense_Ignored(t *testing.T) {
	for _, c := range choices() {
		t.Run(c.name+" "+c.params.Preset, func(t *testing.T) {
			a := newAuthority(t)
			b, peer := a.open(a.issue(1, 24*time.Hour), nil), a.issue(2, 24*time.Hour)
			b.reconfigure(a, 2, c.name, c.params)
			b.meet(peer)
			for _, o := range a.strangers(20) {
				b.meet(o)
			}
			random, said := rand.New(rand.NewPCG(1, 2)), 0
			talk := func(seconds int) int {
				for range seconds {
					for range 300 { // of which 200 are heard
						body := make([]byte, 1+random.IntN([]int{80, wire.MaxPolicyBody}[random.IntN(2)]))
						for i := range body {
							body[i] = byte(random.Uint32() & random.Uint32())
						}
						body[0] = byte(random.IntN(16)) // often a kind that there is
						b.hear(peer, &wire.Policy{Resource: resource, Policy: c.name, Configuration: 2, Body: body})
						for _, e := range b.effects {
							if s, ok := e.(effect.Send); ok {
								if _, ok := s.Message.(*wire.Policy); ok {
									said++
								}
							}
						}
					}
					b.after(time.Second)
				}
				return weigh.Of(b.Member).Bytes
			}
			before := talk(5)
			assert.Less(t, talk(10)-before, 64<<10)
			assert.Less(t, said, 2*(15*200+400), "two answers at most to what is heard")
		})
	}
}
