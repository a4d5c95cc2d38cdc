package directory_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
)

// Whoever knows the same members names the same voters, whoever is connected, failed or
// past its certificate's end; one that is revoked or has left is none.
func TestVoters_SameOnAllSides(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(40)
	one, other := directory.New(ca, list[0].id), directory.New(ca, list[1].id)
	introduce(t, one, list...)
	shuffled := slices.Clone(list)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
	introduce(t, other, shuffled...)
	slot := directory.SlotID("r", 0)
	want := witnessesOf(ca.id, slot, idsOf(list), len(list))

	all, n := one.Voters(slot, 100, nil)
	assert.Equal(t, want, all)
	assert.Equal(t, len(list), n)
	first, n := other.Voters(slot, 1, []ident.Member{{9}})
	assert.Equal(t, []ident.Member{{9}, want[0]}, first)
	assert.Equal(t, len(list), n)
	none, n := one.Voters(slot, 0, nil)
	assert.Empty(t, none)
	assert.Equal(t, len(list), n)

	one.Connected(want[0], true)
	one.Connected(want[0], false)
	assert.ErrorContains(t, one.Eligible(want[0], now.Add(100*365*24*time.Hour)), "expired")
	again, _ := one.Voters(slot, 100, nil)
	assert.Equal(t, want, again)

	at := slices.IndexFunc(list, func(s someone) bool { return s.id == want[0] })
	_, err := one.LearnRevocation(list[at].revocation(1))
	assert.NoError(t, err)
	left, n := one.Voters(slot, 1, nil)
	assert.Equal(t, want[1:2], left)
	assert.Equal(t, len(list)-1, n)
}
