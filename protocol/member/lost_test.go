package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// patient keeps a token for so long that it is too old for others meanwhile.
var patient = policy.Params{OperationTime: time.Second, MembersMax: 10, SkipDelay: time.Hour}

// TestToken_TooOldWhileResting_Dropped: the policy learns that the token is another one, and
// runs under that.
func TestToken_TooOldWhileResting_Dropped(t *testing.T) {
	for _, name := range []string{catalog.Wandering, catalog.Multitoken, catalog.Ring} {
		for _, preset := range catalog.Presets(name) {
			t.Run(name+" "+preset.Name, func(t *testing.T) {
				a := newAuthority(t)
				b := a.open(a.issue(1, 72*time.Hour), func(c *member.Config) { c.Found = true })
				b.after(13 * time.Hour) // the clock allowance is a day
				peer := a.issue(2, 72*time.Hour)
				b.meet(peer)
				params := patient
				params.Preset = preset.Name
				if name == catalog.Multitoken {
					params.TargetInterval = time.Second
				}
				b.reconfigure(a, 2, name, params)
				offer := said[*wire.Offer](b)
				for range 1000 { // a preset that finds nobody in need of the token keeps it for a while
					if offer == nil {
						b.after(100 * time.Millisecond)
						offer = said[*wire.Offer](b)
					}
				}
				require.NotNil(t, offer)
				b.hear(peer, &wire.Refuse{Token: offer.Token, Hop: offer.Hop, Reason: wire.RefuseClock})
				require.EqualValues(t, 1, b.Status().Dropped)

				b.step(member.Demand{Request: 1, Resource: resource})
				grant := granted(b)
				for range 10 {
					if grant == nil {
						b.after(time.Hour)
						grant = granted(b)
					}
				}
				require.NotNil(t, grant)
				assert.NotEqual(t, offer.Token, grant.Token)
			})
		}
	}
}

// TestToken_WasElsewhere_NotTooOld: nobody honest refuses it for its age, so
// nobody at all makes its generator drop it.
func TestToken_WasElsewhere_NotTooOld(t *testing.T) {
	a := newAuthority(t)
	me, peer := a.issue(1, 72*time.Hour), a.issue(2, 72*time.Hour)
	b := a.open(me, func(c *member.Config) { c.Found = true })
	b.meet(peer)
	var first *wire.Transfer
	for range 10 {
		if o := said[*wire.Offer](b); o != nil {
			b.hear(peer, &wire.Accept{Token: o.Token, Hop: 1, Incarnation: peer.incarnation, Accept: 1, Lifetime: 60_000})
		}
		if first = said[*wire.Transfer](b); first != nil {
			break
		}
		b.after(10 * time.Millisecond)
	}
	require.NotNil(t, first)
	sent := b.verified(first.Transfer, me)
	b.hear(peer, &wire.Void{Void: peer.answer(sent, token.Void)})
	b.after(13 * time.Hour)
	b.hear(peer, &wire.Refuse{Token: sent.Body().Token, Hop: 2, Reason: wire.RefuseClock})
	assert.Zero(t, b.Status().Dropped)
}
