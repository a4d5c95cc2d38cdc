package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/member"
)

func refused(b *box) (list []error) {
	for _, e := range b.effects {
		if r, ok := e.(effect.Refuse); ok {
			list = append(list, r.Reason)
		}
	}
	return list
}

// A member whose certificate runs out while it runs says so to those who wait,
// and grants nothing any more, whether or not it holds the token.
func TestOwnCertificate_Expires_Ends(t *testing.T) {
	for _, holds := range []bool{false, true} {
		a := newAuthority(t)
		b := a.open(a.issue(1, time.Hour), func(c *member.Config) { c.Found = holds })
		b.step(member.Demand{Request: 1, Resource: resource})
		if holds {
			require.NotNil(t, granted(b))
			b.step(member.Ended{Grant: granted(b).Grant, Operated: true})
			b.step(member.Demand{Request: 2, Resource: resource})
		}
		b.now.Wall = b.now.Wall.Add(2 * time.Hour) // the clock steps
		b.step(member.Tick{})
		assert.Nil(t, granted(b))
		require.Len(t, refused(b), 1)
		assert.ErrorIs(t, refused(b)[0], member.ErrExpired)
		b.step(member.Demand{Request: 3, Resource: resource})
		require.Len(t, refused(b), 1)
		assert.ErrorIs(t, refused(b)[0], member.ErrExpired)
		assert.Nil(t, granted(b))

		b.now.Wall = b.now.Wall.Add(-2 * time.Hour) // and back: it was wrong
		b.step(member.Demand{Request: 4, Resource: resource})
		assert.Empty(t, refused(b))
	}
}
