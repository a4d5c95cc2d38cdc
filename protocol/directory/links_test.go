package directory

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

func TestLoads_EveryPart_Whole(t *testing.T) {
	for a := 1; a <= certificate.MaxAttached; a++ {
		assert.Zero(t, whole%a, "%d attachments", a)
	}
	assert.LessOrEqual(t, Attachments, certificate.MaxAttached)
}

// Loads and flow are what a look at all attachments gives, whatever came first.
func TestLinks_AnyFacts_AgreeWithNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLinks()
		attached := map[int][]int{}
		peers := map[ident.Member]bool{}
		isPeer := func(m ident.Member) bool { return peers[m] }
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			n := rapid.IntRange(0, 6).Draw(t, "member")
			if m := number(n); rapid.Bool().Draw(t, "attach") {
				attached[n] = rapid.SliceOfNDistinct(rapid.IntRange(0, 6), 0, 4, rapid.ID).Draw(t, "to")
				l.set(m, numbers(attached[n]), isPeer)
			} else if peers[m] = !peers[m]; peers[m] {
				l.enter(m)
			} else {
				l.leave(m)
			}
			checkLinks(t, &l, attached, peers)
		}
	})
}

func checkLinks(t *rapid.T, l *links, attached map[int][]int, peers map[ident.Member]bool) {
	loads, flow := map[ident.Member]uint32{}, uint64(0)
	for n, to := range attached {
		for _, r := range to {
			loads[number(r)] += uint32(whole / len(to))
			require.True(t, l.attachedTo(number(n), number(r)))
		}
		require.Len(t, l.attached[number(n)], len(to))
	}
	for m, is := range peers {
		if is {
			flow += uint64(min(loads[m], whole))
		}
	}
	require.Equal(t, loads, l.loads)
	require.Equal(t, flow, l.flow)
}

func numbers(list []int) (ids []ident.Member) {
	for _, n := range list {
		ids = append(ids, number(n))
	}
	return ids
}
