package directory_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
)

// Pieces of any size, each begun where the one before ended, are all members,
// each once, with what Status says of them.
func TestStates_Pieces_Whole(t *testing.T) {
	ca := newAuthority(1)
	d := directory.New(ca, ca.member(0).id)
	list := ca.members(1300) // more than two blocks
	for i, s := range list {
		left := time.Hour
		if i%3 == 0 {
			left = -time.Minute
		}
		require.True(t, d.Admit(s.issued(1, -2*time.Hour, left)))
	}
	_, err := d.LearnRevocation(list[1].revocation(1))
	require.NoError(t, err)
	for _, size := range []int{1, 500, 512, 1299, 1300, 5000} {
		seen := make(map[ident.Member]error)
		for next, more := (ident.Member{}), true; more; {
			left := size
			more = false
			for id, err := range d.States(next, now) {
				if left == 0 {
					next, more = id, true
					break
				}
				_, again := seen[id]
				require.False(t, again)
				seen[id] = err
				left--
			}
		}
		require.Len(t, seen, len(list))
		for i, s := range list {
			switch {
			case i == 1:
				assert.ErrorIs(t, seen[s.id], directory.ErrRevoked)
			case i%3 == 0:
				assert.ErrorIs(t, seen[s.id], certificate.ErrExpired)
			default:
				assert.NoError(t, seen[s.id])
			}
		}
	}
}
