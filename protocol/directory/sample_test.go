package directory

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/ident"
)

// number is the n-th of many ids, none of them zero.
func number(n int) (m ident.Member) {
	binary.BigEndian.PutUint64(m[8:], uint64(n)+1)
	return m
}

func dice(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 2)) }

func TestSampleSize(t *testing.T) {
	for n, want := range map[int]int{-1: 1, 0: 1, 1: 1, 2: 6, 10: 19, 191: 43, 1000: 56, 10_000: 74, 1_000_000: 111} {
		assert.Equal(t, want, SampleSize(n), "of %d", n)
	}
	assert.Equal(t, 350, SampleSize(math.MaxInt))
}

// The members of a sample are the same whatever was shown before and after, and
// how often.
func TestPropertySampleIgnoresOrderAndRepetition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		once := rapid.SliceOfDistinct(rapid.IntRange(0, 50), rapid.ID).Draw(t, "shown")
		again := rapid.Permutation(append(once, once...)).Draw(t, "again")
		a, b := newSample(5, dice(seed)), newSample(5, dice(seed))
		for _, n := range once {
			a.show(number(n))
		}
		for _, n := range again {
			b.show(number(n))
		}
		require.Equal(t, a.held, b.held)
	})
}

// What show, drop and renew say and do agrees with what the slots hold.
func TestPropertySampleKeepsCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := dice(rapid.Uint64().Draw(t, "seed"))
		s := newSample(4, random)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			m := number(rapid.IntRange(0, 9).Draw(t, "member"))
			switch before := slotsOf(s); rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				s.drop(m)
				require.False(t, s.holds(m))
			case 1:
				s.renew(random)
				require.Equal(t, before, slotsOf(s), "nobody goes before another comes")
			default:
				wanted := s.wants(m)
				gone := s.show(m)
				after := slotsOf(s)
				require.Equal(t, wanted, after[m] > before[m])
				for _, g := range gone {
					require.Positive(t, before[g])
					require.Zero(t, after[g])
				}
				for g := range before {
					require.True(t, after[g] > 0 || slices.Contains(gone, g))
				}
			}
			require.Equal(t, slotsOf(s), s.held)
		}
	})
}

func slotsOf(s *sample) map[ident.Member]int {
	counts := map[ident.Member]int{}
	for _, at := range s.slots {
		if !at.id.IsZero() {
			counts[at.id]++
		}
	}
	return counts
}

// Everybody is in a slot with the same chance, also who is shown a hundred
// times as often as others, and also after the slots have been renewed. With 19
// degrees of freedom chi squared exceeds 43.8 once in a thousand times.
func TestSlotsAreUniform(t *testing.T) {
	const members, slots = 20, 4000
	for name, renewals := range map[string]int{"at first": 0, "renewed": slots} {
		t.Run(name, func(t *testing.T) {
			random := dice(5)
			s := newSample(slots, random)
			for i := range members {
				for range 1 + 99*(i%2) {
					s.show(number(i))
				}
			}
			for range renewals {
				s.renew(random)
			}
			for i := range members {
				s.show(number(members - 1 - i))
			}
			sum, share := 0.0, float64(slots)/members
			for i := range members {
				diff := float64(s.held[number(i)]) - share
				sum += diff * diff / share
			}
			assert.Less(t, sum, 43.8)
		})
	}
}

// A renewed slot is drawn anew: it holds the same member as before with the
// chance of any other.
func TestRenewedSlotsForget(t *testing.T) {
	const members, slots = 20, 2000
	random := dice(6)
	s := newSample(slots, random)
	show := func() {
		for i := range members {
			s.show(number(i))
		}
	}
	show()
	old := append([]slot(nil), s.slots...)
	for range slots {
		s.renew(random)
	}
	show()
	same := 0
	for i := range old {
		if old[i].id == s.slots[i].id {
			same++
		}
	}
	assert.InDelta(t, slots/members, same, 40, "four standard deviations")
}

func TestEmptySample(t *testing.T) {
	s := newSample(0, dice(1))
	s.renew(dice(1))
	assert.False(t, s.wants(number(1)))
	assert.Empty(t, s.show(number(1)))
	s.drop(number(1))
	assert.False(t, s.holds(number(1)))
}

func TestShowingAllocatesNothing(t *testing.T) {
	s := newSample(10, dice(1))
	for i := range 1000 {
		s.show(number(i))
	}
	n := 0
	assert.Zero(t, testing.AllocsPerRun(100, func() { n++; s.wants(number(n)) }))
}

func BenchmarkShow(b *testing.B) {
	s := newSample(SampleSize(1000), dice(1))
	for n := 0; b.Loop(); n++ {
		s.show(number(n))
	}
}
