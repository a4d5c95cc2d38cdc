package circulation

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

func (s *stage) roster(m int) *memberRoster { return &memberRoster{&s.World.roster, int32(m)} }

func indices(ids []ident.Member) (list []int) {
	for _, id := range ids {
		list = append(list, MemberIndex(id))
	}
	return list
}

// ranked is the twin of Witnesses: all that count, by their hash.
func (s *stage) ranked(of int, all ...int) []int {
	all = slices.DeleteFunc(slices.Clone(all), func(m int) bool { return m == of })
	r := &s.World.roster
	slices.SortFunc(all, func(x, y int) int {
		if r.hash(int32(of), int32(x)) > r.hash(int32(of), int32(y)) {
			return -1
		}
		return 1
	})
	return all[:min(len(all), policy.MaxWitnesses)]
}

// TestWitnesses: whoever asks is named the same, which is what counting anew
// gives, and a dead member stays until it counts as dead.
func TestWitnesses(t *testing.T) {
	s := newStage(t, Config{Members: 40}, nil)
	alive := make([]int, 40)
	for i := range alive {
		alive[i] = i
	}
	compare := func() {
		t.Helper()
		for of := range s.Members() {
			got := indices(s.roster(0).Witnesses(MemberID(of), policy.MaxWitnesses, nil))
			if !slices.Contains(alive, of) {
				require.Empty(t, got)
				continue
			}
			require.Equal(t, s.ranked(of, alive...), got)
			require.Equal(t, got[:3], indices(s.roster(of).Witnesses(MemberID(of), 3, nil)))
		}
	}
	compare()
	for i := range 25 {
		s.run(s.second(20 * i))
		s.Crash(i, time.Hour)
		compare()
		s.run(s.second(20*i + 9))
		compare()
		s.run(s.second(20*i + 11))
		alive = slices.DeleteFunc(alive, func(m int) bool { return m == i })
		if i%3 > 0 {
			compare()
		}
	}
	s.Join(30)
	alive = append(alive, 40)
	compare()
	s.Leave(39)
	alive = slices.DeleteFunc(alive, func(m int) bool { return m == 39 })
	compare()
	s.run(2 * time.Hour)
	alive = append(alive, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)
	compare()
	assert.Empty(t, s.roster(0).Witnesses(MemberID(99), 4, nil))
	assert.Empty(t, s.roster(0).Witnesses(ident.Member{15: 1}, 4, nil))
}

func (s *stage) second(n int) time.Duration { return time.Duration(n) * time.Second }

// TestWitnessesChangeLittle: of whom one member is witness, nobody chooses, and
// each is of about as many.
func TestWitnessesChangeLittle(t *testing.T) {
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

// TestRosterAllocatesNothing: once everything was asked for.
func TestRosterAllocatesNothing(t *testing.T) {
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
