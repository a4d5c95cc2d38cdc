package directory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
)

// The version stated is the last one without a gap below: who asks for all
// above it misses none.
func TestRevocationVersion_Gap_Stops(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(8)
	d := directory.New(ca, list[0].id)
	assert.Zero(t, d.RevocationVersion())
	for i, c := range []struct{ learn, want uint64 }{{2, 0}, {1, 2}, {5, 2}, {6, 2}, {4, 2}, {3, 6}, {7, 7}} {
		news, err := d.LearnRevocation(list[c.learn].revocation(c.learn))
		require.NoError(t, err)
		assert.True(t, news)
		assert.Equal(t, c.want, d.RevocationVersion(), "after %d", i)
	}
}

// A CA may put several revocations into one version of its list.
func TestRevocation_SameVersionTwice_BothKept(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(4)
	d := directory.New(ca, list[0].id)
	for i, version := range []uint64{1, 1, 2, 1} {
		news, err := d.LearnRevocation(list[i].revocation(version))
		require.NoError(t, err)
		assert.True(t, news)
	}
	assert.Equal(t, uint64(2), d.RevocationVersion())
	raws, more := d.Revocations(0, 10)
	assert.Len(t, raws, 4)
	assert.False(t, more)
}

func TestRevocation_SecondOfAMember_Kept(t *testing.T) {
	ca := newAuthority(1)
	ben := ca.member(2)
	d := directory.New(ca, ca.member(1).id)
	for _, version := range []uint64{2, 1, 3} {
		news, err := d.LearnRevocation(ben.revocation(version))
		require.NoError(t, err)
		assert.True(t, news, "without it there would be a gap")
	}
	raw, ok := d.Revocation(ben.id)
	require.True(t, ok)
	assert.Equal(t, ben.revocation(1), raw, "the one by which it died")
	assert.Equal(t, uint64(3), d.RevocationVersion())
}

func TestRevocations_Pages_Whole(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(9)
	d := directory.New(ca, list[0].id)
	for _, version := range []uint64{8, 3, 1, 5, 2} {
		_, err := d.LearnRevocation(list[version].revocation(version))
		require.NoError(t, err)
	}
	for name, c := range map[string]struct {
		above uint64
		most  int
		want  []uint64
		more  bool
	}{
		"all":               {0, 5, []uint64{1, 2, 3, 5, 8}, false},
		"first page":        {0, 2, []uint64{1, 2}, true},
		"next page":         {2, 2, []uint64{3, 5}, true},
		"last page":         {5, 2, []uint64{8}, false},
		"above a gap":       {4, 9, []uint64{5, 8}, false},
		"above all":         {8, 9, nil, false},
		"above all numbers": {1<<64 - 1, 9, nil, false},
		"none wanted":       {0, 0, nil, true},
	} {
		raws, more := d.Revocations(c.above, c.most)
		var versions []uint64
		for _, raw := range raws {
			r, err := certificate.ParseRevocation(ca.id, raw, ca)
			require.NoError(t, err)
			versions = append(versions, r.Body().Version)
		}
		assert.Equal(t, c.want, versions, name)
		assert.Equal(t, c.more, more, name)
	}
}

// Two directories that ask each other for all above their version end with
// the same revocations, whatever each had and in which order it came.
func TestRevocations_AskedAboveVersion_NoneMissed(t *testing.T) {
	ca := newAuthority(1)
	const n = 12
	list := ca.members(n + 1)
	raws := make([][]byte, n+1)
	for v := 1; v <= n; v++ {
		raws[v] = list[v].revocation(uint64(v))
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := directory.New(ca, list[0].id), directory.New(ca, list[0].id)
		for _, v := range rapid.Permutation(versions(n)).Draw(t, "order") {
			who := rapid.IntRange(0, 2).Draw(t, "who")
			if who != 0 {
				_, err := a.LearnRevocation(raws[v])
				require.NoError(t, err)
			}
			if who != 1 {
				_, err := b.LearnRevocation(raws[v])
				require.NoError(t, err)
			}
		}
		for _, ask := range []struct{ from, to *directory.Directory }{{a, b}, {b, a}} {
			answer, _ := ask.to.Revocations(ask.from.RevocationVersion(), n)
			for _, raw := range answer {
				_, err := ask.from.LearnRevocation(raw)
				require.NoError(t, err)
			}
		}
		require.Equal(t, uint64(n), a.RevocationVersion())
		require.Equal(t, uint64(n), b.RevocationVersion())
	})
}

func versions(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i + 1
	}
	return list
}
