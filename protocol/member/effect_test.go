package member_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/wire"
)

// changed is a running member, and how its configuration is changed under it.
type changed struct {
	*box
	t       *testing.T
	a       *authority
	peers   []*someone
	version uint64
}

// to puts a configuration into force that differs from the first one in what is said.
func (c *changed) to(change func(*group.Settings)) {
	c.t.Helper()
	c.version++
	s := settings(c.version, quick)
	change(&s)
	signed, err := s.Sign(c.a.group.ID(), c.a.key)
	require.NoError(c.t, err)
	c.step(member.Learn{Configuration: signed.Raw()})
	require.Equal(c.t, c.version, c.Settings().Version)
}

// toResource does the same with the resource.
func (c *changed) toResource(change func(*group.Resource)) {
	c.t.Helper()
	c.to(func(s *group.Settings) { change(&s.Resources[0]) })
}

// greeted reports whether the member exchanges digests with somebody within a time.
func (c *changed) greeted(within time.Duration) bool {
	for range within / (100 * time.Millisecond) {
		if c.after(100 * time.Millisecond); said[*wire.Gossip](c.box) != nil {
			return true
		}
	}
	return false
}

// takesEffect is, for each field of the configuration, how it shows that a change has
// effect on a running member at once. A reason stands for those that concern no member,
// or that other tests show.
var takesEffect = map[string]any{
	"Settings.Version": func(c *changed) {
		c.to(func(*group.Settings) {})
		assert.EqualValues(c.t, 2, c.Status().Configuration)
	},
	"Settings.Name": func(c *changed) {
		c.to(func(s *group.Settings) { s.Name = "renamed" })
		assert.Equal(c.t, "renamed", c.Group().Name())
	},
	"Settings.Issued":    "says when the authority signed it; nobody acts on it",
	"Settings.Resources": "the fields of Resource, below; TestLeaving_IdleToken_Dropped, TestFounding_Messages_Answered",
	"Settings.MembersMax": func(c *changed) {
		known := c.Len()
		c.to(func(s *group.Settings) { s.MembersMax = known })
		stranger := c.a.issue(100, time.Hour)
		c.step(member.Learn{Certificates: [][]byte{stranger.certificate.Raw()}})
		assert.ErrorIs(c.t, c.Eligible(stranger.id()), directory.ErrUnknown)
		assert.Equal(c.t, known, c.Len(), "who is known stays")
		c.to(func(s *group.Settings) { s.MembersMax = known + 1 })
		c.step(member.Learn{Certificates: [][]byte{stranger.certificate.Raw()}})
		assert.NoError(c.t, c.Eligible(stranger.id()))
	},
	"Settings.UpdateCapacity":      "lab/experiment measures it; each token and receipt is filled by the configuration in force",
	"Settings.FailureQuorum":       "protocol/directory TestQuorum_Changed_EffectAtOnce",
	"Settings.CertificateLifetime": "the authority's: what it signs from then on",
	"Settings.ClockAllowance": func(c *changed) {
		maker := c.peers[0]
		offer := func() *wire.Refuse {
			title := maker.mint(uint64(c.now.Boot)) // a genesis of the time when the test began
			c.hear(maker, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
			return said[*wire.Refuse](c.box)
		}
		c.after(time.Minute)
		c.hear(maker, maker.hello())
		require.Nil(c.t, offer())
		c.to(func(s *group.Settings) { s.ClockAllowance = time.Second })
		c.after(time.Millisecond)
		require.NotNil(c.t, offer())
		assert.Equal(c.t, wire.RefuseClock, offer().Reason)
	},
	"Resource.Windows": "TestWindow_Configured_AtOnce",
	"Settings.SettlementTime": func(c *changed) {
		gone := c.peers[1]
		c.step(member.Learn{Revocations: [][]byte{c.a.revoke(1, gone)}})
		c.after(3 * time.Hour)
		_, there := c.Certificate(gone.id())
		require.True(c.t, there)
		c.now.Wall = c.now.Wall.Add(30 * 24 * time.Hour) // its certificate has ended by now
		c.to(func(s *group.Settings) { s.SettlementTime = time.Hour })
		c.after(time.Millisecond)
		_, there = c.Certificate(gone.id())
		assert.False(c.t, there, "forgotten")
	},
	"Settings.GossipInterval": func(c *changed) {
		c.after(time.Minute)
		c.to(func(s *group.Settings) { s.GossipInterval = time.Hour })
		for range 10 { // it knows too few to wait for long at first
			c.after(time.Hour)
		}
		require.False(c.t, c.greeted(time.Minute))
		c.to(func(s *group.Settings) { s.GossipInterval = time.Second })
		assert.True(c.t, c.greeted(1100*time.Millisecond))
	},
	"Settings.Silence": func(c *changed) {
		seen := new(madeWith)
		puppet := c.a.marionette(c.a.issue(9, 24*time.Hour), func(c *member.Config) { c.Observer = seen })
		c.box = puppet.box
		dead, other := c.peers[0], c.peers[1]
		puppet.known(dead, other)
		puppet.meet(other)
		puppet.watches(dead.id())
		c.to(func(s *group.Settings) { s.Silence = time.Minute })
		puppet.watches(dead.id()) // a new policy has no watches
		for began := c.now.Boot; c.now.Boot.Sub(began) < 50*time.Second; {
			puppet.pass(time.Second, dead)
			puppet.speaks(other)
		}
		require.Empty(c.t, puppet.puppet.silent())
		c.to(func(s *group.Settings) { s.Silence = time.Second })
		puppet.watches(dead.id())
		puppet.pass(15*time.Second, dead)
		puppet.speaks(other)
		assert.Len(c.t, puppet.puppet.silent(), 1)
		assert.Equal(c.t, time.Second, seen.silence)
	},
	"Settings.RenewGrace":  "ca/service TestRenew_Expired_WithinGrace; a member that has expired goes by the one that it knows, ca/live TestCertificate_ExpiredWithinGrace_RenewsItself",
	"Settings.Authorities": "protocol/member TestRotation_KeyRetired_ToldBefore; ca/live TestRotation",
	"Settings.RevocationFloor": func(c *changed) {
		require.Zero(c.t, c.RevocationVersion())
		c.to(func(s *group.Settings) { s.RevocationFloor = 7 })
		assert.EqualValues(c.t, 7, c.RevocationVersion())
	},
	"Settings.Extensions": "none has a meaning yet",

	"Resource.Name": "TestLeaving_IdleToken_Dropped, TestFounding_Messages_Answered",
	"Resource.Policy": func(c *changed) {
		c.toResource(func(r *group.Resource) {
			r.Policy, r.Params = catalog.Ring, policy.Params{OperationTime: time.Second, MembersMax: 3, SkipDelay: time.Second}
		})
		assert.Equal(c.t, catalog.Ring, c.Status().Slots[0].Policy)
	},
	"Resource.Slots": func(c *changed) {
		c.toResource(func(r *group.Resource) { r.Slots = 3 })
		require.Len(c.t, c.Status().Slots, 3)
		c.toResource(func(r *group.Resource) { r.Slots = 2 })
		require.Len(c.t, c.Status().Slots, 2)
	},
	"Resource.Params": "the fields of Params, below",
	"Resource.MaxHold": func(c *changed) {
		length := func(request uint64) time.Duration {
			c.step(member.Demand{Request: request, Resource: resource})
			for range 100 {
				if g := granted(c.box); g != nil {
					c.step(member.Ended{Grant: g.Grant})
					return g.Length
				}
				c.after(100 * time.Millisecond)
			}
			return 0
		}
		require.Equal(c.t, time.Second, length(1))
		c.toResource(func(r *group.Resource) { r.MaxHold = 300 * time.Millisecond })
		assert.Equal(c.t, 300*time.Millisecond, length(2))
		c.toResource(func(r *group.Resource) { r.MaxHold = 3 * time.Second })
		assert.Equal(c.t, 3*time.Second, length(3))
	},
	"Resource.Gate":       "the gate's, and of members that sign in there: a member of this version does not",
	"Resource.Extensions": "none has a meaning yet",
}

// TestConfiguration_EveryField_TakesEffect: whoever adds a field says here when a change
// of it has effect, and docs/configuration.md says it to operators.
func TestConfiguration_EveryField_TakesEffect(t *testing.T) {
	fields := make(map[string]bool)
	for _, of := range []reflect.Type{reflect.TypeFor[group.Settings](), reflect.TypeFor[group.Resource]()} {
		for i := range of.NumField() {
			name := of.Name() + "." + of.Field(i).Name
			fields[name] = true
			t.Run(name, func(t *testing.T) {
				switch shown := takesEffect[name].(type) {
				case func(*changed):
					shown(newChanged(t))
				default:
					require.NotEmpty(t, shown, "when does a change of %s take effect?", name)
				}
			})
		}
	}
	for name := range takesEffect {
		assert.True(t, fields[name], "%s is no field", name)
	}
}

func newChanged(t *testing.T) *changed {
	c := &changed{t: t, a: newAuthority(t), version: 1}
	c.peers = []*someone{c.a.issue(2, 24*time.Hour), c.a.issue(3, 24*time.Hour)}
	c.box = c.a.open(c.a.issue(1, 10*365*24*time.Hour), func(cfg *member.Config) { cfg.Found = true })
	for _, s := range c.peers {
		c.meet(s)
	}
	return c
}

// madeWith notes the parameters that policies are made with.
type madeWith struct {
	watcher
	params  policy.Params
	silence time.Duration
}

func (w *madeWith) PolicyMade(_ string, _ uint64, _ string, p policy.Params, _ [32]byte) {
	w.params, w.silence = p, p.Silence
	w.params.MaxHold = 0 // the resource's
	w.params.Silence = 0 // the group's
}

// TestConfiguration_EveryParameter_MakesPolicyAnew: a change of any parameter of a policy
// gives the slot a policy with the new one at once, and the token that is here to it.
func TestConfiguration_EveryParameter_MakesPolicyAnew(t *testing.T) {
	require.Equal(t, reflect.TypeFor[policy.Params]().NumField(), len(policy.Parameters)+5, "and the preset, the resource's max_hold, on_isolated and weights, and the group's silence")
	base := policy.Params{OperationTime: time.Second, MembersMax: 10, SkipDelay: 100 * time.Millisecond, TargetInterval: time.Minute}
	for _, p := range policy.Parameters {
		t.Run(p.Name, func(t *testing.T) {
			name, preset := userOf(t, p)
			params := base
			params.Preset = preset.Name
			for _, o := range policy.Parameters {
				if o.Optional && !uses(preset, o.Name) {
					o.SetWire(&params, 0)
				}
			}
			seen := new(madeWith)
			a := newAuthority(t)
			b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found, c.Observer = true, seen })
			b.reconfigure(a, 2, name, params)
			require.Equal(t, params, seen.params)
			seen.events = nil
			p.SetWire(&params, another(p, p.Wire(&params)))
			b.reconfigure(a, 3, name, params)
			assert.Equal(t, params, seen.params)
			resumed := 0
			for _, e := range seen.events {
				if e.Kind == policy.Resumed {
					resumed++
				}
			}
			assert.Equal(t, b.Holds(resource), resumed > 0)
		})
	}
}

// another is a value that a parameter does not have.
func another(p policy.Parameter, now uint64) uint64 {
	low, _ := p.Range()
	switch {
	case p.Quantity == policy.Span:
		return now + uint64((30 * time.Minute).Milliseconds())
	case now < low:
		return low
	}
	return now + 1
}

// userOf is a policy with a preset in which a parameter has an effect.
func userOf(t *testing.T, p policy.Parameter) (string, catalog.Preset) {
	for _, name := range catalog.Names() {
		for _, preset := range catalog.Presets(name) {
			if !p.Optional && preset.Name == wandering.Fair || uses(preset, p.Name) {
				return name, preset
			}
		}
	}
	require.Fail(t, fmt.Sprintf("nobody uses %s", p.Name))
	return "", catalog.Preset{}
}

func uses(preset catalog.Preset, parameter string) bool {
	for _, u := range preset.Uses {
		if u == parameter {
			return true
		}
	}
	return false
}

// TestPolicyChange_WhileOperating_MinIntervalHolds: an operation that ran over the change
// of its policy counts for the new one's min_interval.
func TestPolicyChange_WhileOperating_MinIntervalHolds(t *testing.T) {
	for _, preset := range []string{wandering.Fair, wandering.Light, wandering.Paper, wandering.Report} {
		t.Run(preset, func(t *testing.T) {
			a := newAuthority(t)
			b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found = true })
			b.step(member.Demand{Request: 1, Resource: resource})
			g := granted(b)
			require.NotNil(t, g)
			params := policy.Params{Preset: preset, OperationTime: time.Second, MembersMax: 10, SkipDelay: time.Second, MinInterval: time.Hour}
			b.reconfigure(a, 2, catalog.Wandering, params)
			b.step(member.Demand{Request: 2, Resource: resource})
			b.step(member.Ended{Grant: g.Grant, Operated: true})
			for range 100 {
				require.Nil(t, granted(b))
				b.after(time.Second / 2)
			}
		})
	}
}
