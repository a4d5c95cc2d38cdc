package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/multitoken"
	"github.com/wandertoken/wander/protocol/policy/wandering"
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
func TestConfiguration_DuringOperation_Applied(t *testing.T) {
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

// TestConfiguration_SlotReturns_TokenTakenBack: a token that the former policy has released,
// and that nobody has accepted yet, is the new policy's. It would else walk
// on while that one believes to have it, and run under it without end.
func TestConfiguration_SlotReturns_TokenTakenBack(t *testing.T) {
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

// TestPolicyChange_Field_Discarded: P-27. What a policy has written on a token that is
// here is the next one's only if that is the same with other constants.
func TestPolicyChange_Field_Discarded(t *testing.T) {
	for name, c := range map[string]struct {
		policy, preset string
		kept           bool
	}{
		"another policy": {catalog.Ring, "", false},
		"another preset": {catalog.Wandering, wandering.Fair, false},
		"other times":    {catalog.Wandering, wandering.Paper, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t)
			maker := a.issue(2, 24*time.Hour)
			seen := new(watcher)
			b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Observer = seen })
			b.step(member.Demand{Request: 1, Resource: resource})
			b.meet(maker)
			title := maker.mint(1)
			b.hear(maker, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
			accept := said[*wire.Accept](b)
			body := title.Next(b.ID(), accept.Reservation())
			body.Field = []byte("written")
			b.hear(maker, maker.transfer(title, body))
			g := granted(b)
			require.NotNil(t, g)
			params := policy.Params{Preset: c.preset, OperationTime: 2 * time.Second, MembersMax: 10, SkipDelay: time.Second}
			b.reconfigure(a, 2, c.policy, params)
			seen.events = nil
			b.step(member.Ended{Grant: g.Grant, Operated: true})
			var field []byte
			for _, e := range seen.events {
				if e.Kind == policy.Resumed {
					field = e.Token.Field
				}
			}
			assert.Equal(t, c.kept, len(field) > 0)
		})
	}
}

// TestConfiguration_NewPolicies_ToldWhoIsConnected: P-70. In the eyes of a policy that has begun under other parameters, and of
// one in a fresh slot, a member that is connected is steady from then on. The policy of a slot that stays as it was hears nothing.
func TestConfiguration_NewPolicies_ToldWhoIsConnected(t *testing.T) {
	slower := quick
	slower.SkipDelay *= 2
	for name, c := range map[string]struct {
		params policy.Params
		slots  int
		times  int
	}{
		"other parameters":               {slower, 1, 1},
		"a fresh slot":                   {quick, 2, 1},
		"other parameters, a fresh slot": {slower, 2, 2},
		"nothing new":                    {quick, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t)
			m := a.marionette(a.issue(1, 24*time.Hour), nil)
			peer, silent := a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
			m.meet(peer)
			m.step(member.Connected{Certificate: silent.certificate}) // and has not greeted
			m.puppet.events = nil
			next := settings(2, c.params)
			next.Resources[0].Slots = c.slots
			signed, err := next.Sign(a.group.ID(), a.key)
			require.NoError(t, err)
			m.step(member.Learn{Configuration: signed.Raw()})
			require.EqualValues(t, 2, m.Settings().Version)
			var greeted []ident.Member
			for _, e := range m.puppet.events {
				if e.Kind == policy.Greeted {
					greeted = append(greeted, e.From)
				}
			}
			assert.Len(t, greeted, c.times)
			assert.NotContains(t, greeted, silent.id())
		})
	}
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
