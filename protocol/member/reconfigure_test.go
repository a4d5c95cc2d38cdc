package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/member"
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
