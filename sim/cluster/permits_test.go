package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/permit"
)

// TestPermits_UnderFaults_Verify: at each grant, and when a token comes back by a void, whatever crashed before, the member has a
// permit that verifies and names it; also of its own new tokens.
func TestPermits_UnderFaults_Verify(t *testing.T) {
	born, returned, later := 0, 0, 0
	for _, seed := range []uint64{1, 2, 11, 13} { // in the last two members decline tokens
		set, f := Setting{Seed: seed, For: 30 * time.Second}.draw()
		c, err := newCluster(set, nil)
		require.NoError(t, err)
		c.watch = func(m Moment) {
			token, hop := m.Token, m.Hop
			back, isBack := m.Record.(*journal.Reclaimed)
			n := c.find(m.Member)
			switch {
			case n == nil || n.member == nil:
				return
			case isBack:
				token, hop = back.Token, back.Hop
			case m.Deed != Granted:
				return
			}
			raw := member.PermitOf(n.member, token, hop)
			if raw == nil {
				return // a later step of the batch has lost it
			}
			form, err := permit.Decode(raw)
			require.NoError(t, err)
			own, _ := n.member.Certificate(m.Member)
			p, err := permit.Verify(form, permit.Conditions{
				Group: m.Group, Authorities: n.member.Group().History(), Settings: n.member.Group().Config().Settings(), At: own.Body().NotBefore,
			})
			if !assert.NoError(t, err, "seed %d at %v: hop %d", seed, m.At, hop) {
				return
			}
			assert.Equal(t, m.Member, p.Title().Holder())
			assert.Equal(t, token, ident.Token(p.Title().Genesis.Hash()))
			switch {
			case hop == 0:
				born++
			case !p.Title().Void.IsZero():
				returned++
			default:
				later++
			}
		}
		(&schedule{c, f}).run(Setting{Seed: seed, For: 30 * time.Second})
	}
	t.Logf("%d permits at hop 0, %d of tokens that came back, %d others", born, returned, later)
	assert.Positive(t, born)
	assert.Positive(t, returned)
	assert.Positive(t, later)
}
