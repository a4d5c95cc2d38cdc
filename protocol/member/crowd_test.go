package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/wire"
)

// More tokens than a policy can keep apart, and nobody to pass one to: the
// member waits, and does not ask in a circle.
func TestTokens_ManyAndNobodyThere_Bounded(t *testing.T) {
	a := newAuthority(t)
	me, evil := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour)
	b := a.open(me, nil)
	b.meet(evil)
	for n := range uint64(40) {
		title := evil.mint(n + 1)
		b.hear(evil, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
		accept := said[*wire.Accept](b)
		require.NotNil(t, accept)
		b.hear(evil, evil.transfer(title, title.Next(me.id(), accept.Reservation())))
	}
	b.step(member.Disconnected{Peer: evil.id()})
	steps := 0
	for until := b.now.Boot.Add(time.Minute); b.now.Boot < until; steps++ {
		b.after(max(0, b.NextDeadline().Sub(b.now.Boot)))
		require.Less(t, steps, 20_000)
	}
	assert.True(t, b.Holds(resource))
}
