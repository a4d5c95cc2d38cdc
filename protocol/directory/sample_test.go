package directory

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
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
func TestSample_OrderAndRepetition_Ignored(t *testing.T) {
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
		require.Equal(t, a.used, b.used)
	})
}

// What show, drop and renew say and do agrees with what the slots hold.
func TestSample_AnyFacts_CountKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := dice(rapid.Uint64().Draw(t, "seed"))
		s := newSample(4, random)
		s.least = 0
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			m := number(rapid.IntRange(0, 9).Draw(t, "member"))
			before, drawn := inUse(s)
			var moved []ident.Member
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				moved = s.drop(m)
				require.False(t, s.needs(m))
			case 1:
				moved = s.renew(random)
			default:
				wanted := s.wants(m)
				moved = s.show(m)
				_, after := inUse(s)
				require.Equal(t, wanted, after[m] > drawn[m])
			}
			used, drawn := inUse(s)
			require.Equal(t, used, s.used)
			require.Equal(t, drawn, s.drawn)
			for n := range 10 {
				if m := number(n); (before[m] > 0) != (used[m] > 0) {
					require.Contains(t, moved, m)
				}
				require.Equal(t, used[number(n)] > 0 || drawn[number(n)] > 0, s.needs(number(n)))
			}
		}
	})
}

// inUse counts those in the sample, and those whom it has drawn.
func inUse(s *sample) (used, drawn map[ident.Member]int) {
	used, drawn = map[ident.Member]int{}, map[ident.Member]int{}
	for i := range s.slots {
		count(used, s.slots[i].use(), 1)
		count(drawn, s.slots[i].next, 1)
	}
	return used, drawn
}

// Everybody is in a slot with the same chance, also who is shown a hundred
// times as often as others, and also after the slots have been renewed. With 19
// degrees of freedom chi squared exceeds 43.8 once in a thousand times.
func TestSlots_Drawn_Uniform(t *testing.T) {
	const members, slots = 20, 4000
	random := dice(5)
	s := newSample(slots, random)
	s.least = 0
	show := func() {
		for i := range members {
			for range 1 + 99*(i%2) {
				s.show(number(i))
			}
		}
	}
	uniform := func() {
		sum, share := 0.0, float64(slots)/members
		for i := range members {
			diff := float64(s.used[number(i)]) - share
			sum += diff * diff / share
		}
		assert.Less(t, sum, 43.8)
	}
	show()
	uniform()
	first := s.members()
	for range 2 { // what was drawn at first comes to be held, then what is drawn now
		for range slots {
			s.renew(random)
		}
		show()
		uniform()
	}
	same := 0
	for i, m := range s.members() {
		if m == first[i] {
			same++
		}
	}
	assert.InDelta(t, slots/members, same, 55, "four standard deviations: drawn anew")
}

func (s *sample) members() (ids []ident.Member) {
	for i := range s.slots {
		ids = append(ids, s.slots[i].use())
	}
	return ids
}

// A slot that was shown few members goes on drawing, and holds the one it had.
func TestSlots_Draw_AmongEnough(t *testing.T) {
	random := dice(6)
	s := newSample(SampleSize(100), random)
	assert.Equal(t, uint64(306), s.least, "three times 102, for which the size is right, too")
	s.show(number(1))
	for range 100 {
		s.renew(random)
	}
	assert.Equal(t, map[ident.Member]int{number(1): 37}, s.drawn, "no slot has begun anew")
	s.shown = s.least
	s.renew(random)
	assert.Equal(t, map[ident.Member]int{number(1): 36}, s.drawn)
	s.show(number(2))
	assert.Equal(t, number(1), s.slots[0].use())
	assert.Equal(t, number(2), s.slots[0].next, "the only one it was shown")
	s.renew(random)
	assert.Equal(t, 2, s.turn, "each in its turn")
}

func TestEmptySample(t *testing.T) {
	s := newSample(3, dice(1))
	assert.Empty(t, s.renew(dice(1)))
	assert.Empty(t, s.drop(number(1)))
	assert.False(t, s.holds(number(1)))
	assert.True(t, s.wants(number(1)))
	assert.Equal(t, []ident.Member{number(1)}, s.show(number(1)), "until there is one drawn, the one that is being drawn")
	assert.True(t, s.holds(number(1)))
}

func TestShow_Steady_NoAllocations(t *testing.T) {
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
