package keeper

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestKeeper_MostReturnAtOnce_OneProgram: most of a group lose power, and all of them are back
// at once, with tokens that were replaced or on their way to them. They ask each other, and none
// of them knows of the token that the others use.
func TestKeeper_MostReturnAtOnce_OneProgram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNetwork(rapid.IntRange(5, 9).Draw(t, "members"), rapid.Uint64().Draw(t, "seed"))
		n.log = t.Logf
		busy := func(d time.Duration) {
			for end := n.now.Add(d); n.now < end; n.run(250 * time.Millisecond) {
				for i, s := range n.sites {
					if s.up {
						n.want(i)
					}
				}
			}
		}
		busy(time.Duration(rapid.IntRange(1_000, 20_000).Draw(t, "first")) * time.Millisecond)
		away := make([]int, len(n.sites))
		for i := range away {
			away[i] = i
		}
		away = rapid.Permutation(away).Draw(t, "away")[:len(n.sites)-rapid.IntRange(1, 2).Draw(t, "left")]
		for _, i := range away {
			n.die(i)
		}
		busy(time.Minute)
		for _, i := range away {
			n.sites[i].start()
		}
		busy(30 * time.Second)
		require.Zero(t, n.overlap)
	})
}
