package circulation

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
)

func (s *stage) roster(m int) *memberRoster { return &memberRoster{&s.Simulation.roster, int32(m)} }

func indices(ids []ident.Member) (list []int) {
	for _, id := range ids {
		list = append(list, memberIndex(id))
	}
	return list
}

// everybody's witnesses, as everybody names them.
func (s *stage) witnesses(n int) (lists [][]int) {
	for of := range s.Members() {
		list := indices(s.roster(0).Witnesses(MemberID(of), n, nil))
		require.Equal(s.t, list, indices(s.roster(of).Witnesses(MemberID(of), n, nil)))
		unique := slices.Compact(slices.Sorted(slices.Values(list)))
		require.Len(s.t, unique, len(list))
		require.NotContains(s.t, list, of)
		lists = append(lists, list)
	}
	return lists
}

// TestWitnesses: a death is felt once it counts, by those of whom the dead one was a
// witness; a join makes one of a few; who left or is dead has none.
func TestWitnesses(t *testing.T) {
	for _, members := range []int{40, 1000} {
		s := newStage(t, Config{Members: members}, nil)
		before := s.witnesses(12)
		s.Crash(7, time.Hour)
		s.run(9 * time.Second)
		require.Equal(t, before, s.witnesses(12), "it may come back")
		s.run(11 * time.Second)
		after := s.witnesses(12)
		for of := range before {
			switch {
			case of == 7:
				require.Empty(t, after[of])
			case !slices.Contains(before[of], 7):
				require.Equal(t, before[of], after[of])
			default:
				i := slices.Index(before[of], 7)
				require.Equal(t, slices.Delete(slices.Clone(before[of]), i, i+1), after[of][:11])
				require.NotContains(t, after[of], 7)
				require.Len(t, after[of], 12)
			}
		}
		require.True(t, s.Leave(8))
		for of, list := range s.witnesses(12) {
			require.NotContains(t, list, 8)
			require.Equal(t, of != 7 && of != 8, len(list) == 12)
		}
		s.run(2 * time.Hour)
		before = s.witnesses(12)
		s.Join(9)
		joined := 0
		for of, list := range s.witnesses(12)[:members] {
			if slices.Contains(list, members) {
				joined++
				i := slices.Index(list, members)
				list = slices.Delete(list, i, i+1)
			}
			require.Equal(t, before[of][:min(len(list), len(before[of]))], list[:min(len(list), len(before[of]))])
		}
		assert.Positive(t, joined)
		assert.Less(t, joined, 40)
	}
	s := newStage(t, Config{Members: 5}, nil)
	assert.Len(t, s.roster(0).Witnesses(MemberID(3), 12, nil), 4)
	assert.Empty(t, s.roster(0).Witnesses(MemberID(99), 4, nil))
	assert.Empty(t, s.roster(0).Witnesses(ident.Member{15: 1}, 4, nil))
}

// TestWitnesses_GroupChanges_FewChange: of whom one member is witness, nobody chooses, and
// each is of about as many.
func TestWitnesses_GroupChanges_FewChange(t *testing.T) {
	s := newStage(t, Config{Members: 1000}, nil)
	count := make([]int, 1000)
	for of := range count {
		for _, w := range indices(s.roster(0).Witnesses(MemberID(of), 12, nil)) {
			count[w]++
		}
	}
	assert.Less(t, slices.Max(count), 30)
	assert.Greater(t, slices.Min(count), 1)
}

// TestDraw: different members, each as likely as any other, with those that fell
// just now and never oneself.
func TestDraw(t *testing.T) {
	s := newStage(t, Config{Members: 10}, nil)
	s.Crash(9, time.Hour)
	s.Leave(8)
	const draws = 9000
	var count [10]int
	for range draws {
		got := indices(s.roster(3).Draw(2, nil))
		require.Len(t, got, 2)
		require.NotEqual(t, got[0], got[1])
		count[got[0]]++
		count[got[1]]++
	}
	assert.Zero(t, count[3])
	assert.Zero(t, count[8])
	for m, n := range count {
		if m != 3 && m != 8 {
			assert.InDelta(t, draws*2/8, n, 4*41, "four standard deviations: m%d", m)
		}
	}
	assert.Len(t, s.roster(3).Draw(100, nil), 8)
	s.run(time.Minute)
	assert.NotContains(t, indices(s.roster(3).Draw(100, nil)), 9, "it counts as dead")
}

// TestKnown: a member draws from a sample of its own, in which the dead are
// replaced, and witnesses stay who they were.
func TestKnown(t *testing.T) {
	s := newStage(t, Config{Members: 50, Known: 5}, nil)
	sample := indices(s.roster(7).Draw(100, nil))
	slices.Sort(sample)
	require.Len(t, slices.Compact(slices.Clone(sample)), 5)
	assert.NotContains(t, sample, 7)
	again := indices(s.roster(7).Draw(100, nil))
	slices.Sort(again)
	assert.Equal(t, sample, again)

	of := indices(s.roster(7).Witnesses(MemberID(1), 4, nil))
	s.Crash(sample[0], time.Hour)
	s.Crash(of[0], time.Hour)
	s.run(time.Minute)
	again = indices(s.roster(7).Draw(100, nil))
	assert.Len(t, again, 5)
	assert.NotContains(t, again, sample[0])
	assert.Subset(t, again, sample[2:])
	assert.Equal(t, of, indices(s.roster(9).Witnesses(MemberID(1), 4, nil)))
	s.Join(7)
	assert.Len(t, s.roster(50).Draw(100, nil), 5)
	assert.Len(t, s.roster(50).Witnesses(MemberID(50), 4, nil), 4)
}

// TestRoster_Steady_NoAllocations: once everything was asked for.
func TestRoster_Steady_NoAllocations(t *testing.T) {
	for _, known := range []int{0, 64} {
		s := newStage(t, Config{Members: 300, Known: known}, nil)
		ids := make([]ident.Member, 0, 64)
		ask := func() {
			for m := range 300 {
				s.roster(m).Draw(3, ids)
				s.roster(m).Witnesses(MemberID(299-m), 12, ids)
			}
		}
		ask()
		assert.Zero(t, testing.AllocsPerRun(10, ask))
	}
}
