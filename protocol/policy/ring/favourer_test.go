package ring

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/clock"
)

// favoured is a ring in which member 0 passes tokens to one member only.
func favoured(t tester, preset string, liked int) *network {
	s := four
	s.members, s.params.MembersMax, s.params.Preset = 6, 6, preset
	w := newNetwork(t, s)
	w.mint(5)
	w.run(clock.Instant(10 * time.Second)) // it has been around
	w.favours = map[int]int{0: liked}
	return w
}

// TestFavourer_AllWant_EachServedOnceARound: the member to which the favourer passes a token passes it back to those between
// them. Nobody gains turns by that.
func TestFavourer_AllWant_EachServedOnceARound(t *testing.T) {
	for _, preset := range []string{"e", "d", "q", "s"} {
		for liked := 2; liked < 6; liked++ {
			t.Run(fmt.Sprintf("%s/%d", preset, liked), func(t *testing.T) {
				w := favoured(t, preset, liked)
				for range 3000 {
					for i := range w.sites {
						w.want(i)
					}
					w.run(w.now.Add(100 * time.Millisecond))
				}
				least, most := w.served, 0
				for _, s := range w.sites {
					least, most = min(least, s.served), max(most, s.served)
				}
				assert.Greater(t, least, 10)
				assert.LessOrEqual(t, most, least+1)
			})
		}
	}
}

// TestFavourer_OneWants_Served: also in a quiet ring, whoever wants, and the token rests again.
func TestFavourer_OneWants_Served(t *testing.T) {
	for _, preset := range []string{"e", "d", "q"} {
		for liked := 2; liked < 6; liked++ {
			for i := range 6 {
				t.Run(fmt.Sprintf("%s/%d/%d", preset, liked, i), func(t *testing.T) {
					w := favoured(t, preset, liked)
					for range 20 {
						w.want(i)
						w.run(w.now.Add(15 * time.Second)) // two rounds
						assert.Zero(t, w.waiting())
						before := w.messages
						w.run(w.now.Add(10 * time.Second))
						assert.Equal(t, before, w.messages)
					}
				})
			}
		}
	}
}

// TestFavourer_Two_OthersServed: a liar that is passed over by another one gets tokens back, and passes
// them to the member before that one. The token does not go back twice in a row.
func TestFavourer_Two_OthersServed(t *testing.T) {
	for _, preset := range []string{"e", "d", "q", "s"} {
		t.Run(preset, func(t *testing.T) {
			w := favoured(t, preset, 2)
			w.favours[1] = 5
			for range 3000 {
				for i := range w.sites {
					w.want(i)
				}
				w.run(w.now.Add(100 * time.Millisecond))
			}
			for i, s := range w.sites[2:] {
				assert.Greater(t, 8*s.served, w.served/2, "member %d", i+2)
			}
		})
	}
}

// TestFavourer_AnyDemand_Served: requests overtake tokens that have gone back, and follow them.
func TestFavourer_AnyDemand_Served(t *testing.T) {
	for _, preset := range []string{"e", "d", "q"} {
		t.Run(preset, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w := favoured(t, preset, rapid.IntRange(2, 5).Draw(t, "liked"))
				w.load(t, 5*time.Second)
				w.run(w.now.Add(35 * time.Second)) // twice a round, and as long as a request waits to be repeated
				require.Zero(t, w.waiting())
				require.Len(t, w.tokens, 1)
			})
		})
	}
}
