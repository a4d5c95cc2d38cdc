package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/multitoken"
	"github.com/wandertoken/wander/protocol/wire"
)

func granted(b *box) *effect.Grant {
	for _, e := range b.effects {
		if g, ok := e.(effect.Grant); ok {
			return &g
		}
	}
	return nil
}

// A token under which an operation runs while the configuration changes walks
// on when the operation has ended.
func TestConfigurationChangesDuringAnOperation(t *testing.T) {
	a := newAuthority(t)
	me, peer := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour)
	b := a.open(me, func(c *member.Config) { c.Found, c.NoPreOffer = true, true })
	b.step(member.Demand{Request: 1, Resource: resource})
	g := granted(b)
	require.NotNil(t, g)
	other := quick
	other.SkipDelay *= 2
	c, err := settings(2, other).Sign(a.group.ID(), a.key)
	require.NoError(t, err)
	b.step(member.Learn{Configuration: c.Raw()})
	require.EqualValues(t, 2, b.Settings().Version)
	b.step(member.Ended{Grant: g.Grant, Operated: true})
	b.meet(peer)
	var offer *wire.Offer
	for range 100 {
		b.after(100 * time.Millisecond)
		if o := said[*wire.Offer](b); o != nil {
			offer = o
		}
	}
	assert.NotNil(t, offer)
}

// TestConfigurationTakesBackWhatWasLetGo: a token that the former policy has let
// go of, and that nobody has accepted yet, is the new policy's. It would else walk
// on while that one believes to have it, and run under it for ever.
func TestConfigurationTakesBackWhatWasLetGo(t *testing.T) {
	a := newAuthority(t)
	me, peer := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour)
	b := a.open(me, func(c *member.Config) { c.Found = true })
	for range 50 { // it has rested, and there is nobody to take it
		b.after(100 * time.Millisecond)
	}
	many := policy.Params{Preset: multitoken.Jittered, OperationTime: time.Second, MembersMax: 10, SkipDelay: 10 * time.Millisecond, TargetInterval: time.Hour}
	b.reconfigure(a, 2, catalog.Multitoken, many)
	b.meet(peer) // where it came too soon to go on
	for range 100 {
		require.Nil(t, said[*wire.Offer](b))
		b.after(100 * time.Millisecond)
	}
	require.True(t, b.Status().Slots[0].Held)
}

// reconfigure puts a configuration into force in which the resource has another
// policy.
func (b *box) reconfigure(a *authority, version uint64, name string, params policy.Params) {
	b.t.Helper()
	next := settings(version, quick)
	next.Resources = []group.Resource{group.Resource{Name: resource, Policy: name, Params: params}.WithDefaults()}
	c, err := next.WithDefaults().Sign(a.group.ID(), a.key)
	require.NoError(b.t, err)
	b.step(member.Learn{Configuration: c.Raw()})
	require.Equal(b.t, version, b.Settings().Version)
}
