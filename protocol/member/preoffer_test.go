package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/wire"
)

// A policy that names the next holder while the operation runs, changes its mind, and
// sees the second one die: nothing but the last word counts.

// sentTo is the last message of a type to somebody in the last step, or nil.
func sentTo[M wire.Message](b *box, to *someone) (m M) {
	for _, e := range b.effects {
		if s, ok := e.(effect.Send); ok && s.To == to.id() {
			if found, ok := s.Message.(M); ok {
				m = found
			}
		}
	}
	return m
}

// acts has the policy act when a peer's policy says something, and leaves the effects
// to be looked at.
func (s *marionette) acts(peer *someone, actions ...policy.Action) {
	s.puppet.next = actions
	s.hear(peer, &wire.Policy{Resource: resource, Policy: "wandering", Configuration: 1})
}

// holding is a marionette that holds a token under which the operation runs.
func (a *authority) holding(self *someone, others ...*someone) (s *marionette, held ident.Token, g *effect.Grant) {
	s = a.marionette(self, nil)
	for _, o := range others {
		s.meet(o)
	}
	s.step(member.Demand{Request: 1, Resource: resource})
	s.acts(others[0], policy.Action{Kind: policy.Generate})
	held = s.puppet.events[len(s.puppet.events)-1].Token.ID
	require.NotZero(a.t, held)
	s.acts(others[0], policy.Action{Kind: policy.Run, Token: held})
	g = granted(s.box)
	require.NotNil(a.t, g)
	return s, held, g
}

func (o *someone) accepts(s *marionette, offer *wire.Offer, number uint64) {
	s.t.Helper()
	require.NotNil(s.t, offer, "nothing was offered")
	s.hear(o, &wire.Accept{Token: offer.Token, Hop: offer.Hop, Incarnation: o.incarnation, Accept: number, Lifetime: 60_000})
}

// With the ACCEPT in hand only the transfer is left to be sent when the policy passes
// the token on: the next holder has it half a round trip later.
func TestChosenNext_Running_AcceptedBefore(t *testing.T) {
	a := newAuthority(t)
	self, ann, ben := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
	s, held, g := a.holding(self, ann, ben)
	s.acts(ann, policy.Action{Kind: policy.Prepare, Token: held, To: ben.id()})
	assert.Nil(t, sentTo[*wire.Offer](s.box, ann))
	ben.accepts(s, sentTo[*wire.Offer](s.box, ben), 1)
	assert.Nil(t, said[*wire.Transfer](s.box), "the operation runs")
	s.puppet.next = []policy.Action{{Kind: policy.Pass, Token: held, To: ben.id(), Field: []byte("oldest")}}
	s.step(member.Ended{Grant: g.Grant, Operated: true})
	sent := sentTo[*wire.Transfer](s.box, ben)
	require.NotNil(t, sent)
	assert.Equal(t, "oldest", string(s.verified(sent.Transfer, self).Body().Field))
}

// Who was asked first is told that it was for nothing; who dies before the token is
// passed on does not get it; and the third one does.
func TestChosenNext_Changes_OfferMoves(t *testing.T) {
	a := newAuthority(t)
	self, ann, ben, cid := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour), a.issue(4, 24*time.Hour)
	s, held, g := a.holding(self, ann, ben, cid)
	s.acts(ann, policy.Action{Kind: policy.Prepare, Token: held, To: ann.id()})
	ann.accepts(s, sentTo[*wire.Offer](s.box, ann), 1)
	s.acts(ann, policy.Action{Kind: policy.Prepare, Token: held, To: ben.id()})
	require.NotNil(t, sentTo[*wire.Cancel](s.box, ann), "it was for nothing")
	ben.accepts(s, sentTo[*wire.Offer](s.box, ben), 1)
	s.step(member.Unreachable{Peer: ben.id(), Silent: true})

	s.puppet.next = []policy.Action{{Kind: policy.Pass, Token: held, To: ben.id()}}
	s.step(member.Ended{Grant: g.Grant, Operated: true})
	assert.Nil(t, said[*wire.Transfer](s.box), "it would wait for the dead")
	for range 20 {
		if n := len(s.puppet.events); s.puppet.events[n-1].Kind == policy.PassEnded {
			break
		}
		s.after(s.NextDeadline().Sub(s.now.Boot))
		s.step(member.Unreachable{Peer: ben.id(), Silent: true})
	}
	last := s.puppet.events[len(s.puppet.events)-1]
	require.Equal(t, policy.PassEnded, last.Kind)
	assert.Equal(t, policy.Returned, last.Outcome)

	s.acts(ann, policy.Action{Kind: policy.Pass, Token: held, To: cid.id()})
	cid.accepts(s, sentTo[*wire.Offer](s.box, cid), 1)
	require.NotNil(t, sentTo[*wire.Transfer](s.box, cid))
	ann.accepts(s, &wire.Offer{Token: held, Hop: 1}, 2) // late, and for nothing
	assert.Nil(t, said[*wire.Transfer](s.box))
}

// TestPass_AcceptedLate_GoesThere: H-22. A member that was to get the token, and accepts it when it is for another one already, gets it
// if it is shunned only for that. A firm pass is for nobody else.
func TestPass_AcceptedLate_GoesThere(t *testing.T) {
	for name, test := range map[string]struct {
		shun policy.Action
		all  bool // others are shunned, too
		firm bool
		is   bool
	}{
		"not shunned":                 {is: true},
		"shunned for that":            {shun: policy.Action{Kind: policy.Shun, Untaken: true}, is: true},
		"shunned for more":            {shun: policy.Action{Kind: policy.Shun}},
		"all are shunned for more":    {shun: policy.Action{Kind: policy.Shun}, all: true, is: true},
		"struck":                      {shun: policy.Action{Kind: policy.Shun, Struck: true, Untaken: true}},
		"the pass is for nobody else": {firm: true},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t)
			self, ann, ben := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
			s, held, g := a.holding(self, ann, ben)
			s.puppet.next = []policy.Action{{Kind: policy.Pass, Token: held, To: ann.id()}}
			s.step(member.Ended{Grant: g.Grant, Operated: true})
			offer := sentTo[*wire.Offer](s.box, ann)
			require.NotNil(t, offer)
			returned := func() bool {
				e := s.puppet.events[len(s.puppet.events)-1]
				return e.Kind == policy.PassEnded && e.Outcome == policy.Returned
			}
			for n := 0; !returned(); n++ {
				require.Less(t, n, 20)
				s.after(s.NextDeadline().Sub(s.now.Boot))
			}
			if test.shun.Kind == policy.Shun {
				test.shun.To, test.shun.At = ann.id(), s.now.Boot.Add(time.Hour)
				s.does(test.shun)
			}
			if test.all {
				test.shun.To = ben.id()
				s.does(test.shun)
			}
			s.acts(ben, policy.Action{Kind: policy.Pass, Token: held, To: ben.id(), Firm: test.firm})
			require.NotNil(t, sentTo[*wire.Offer](s.box, ben))
			ann.accepts(s, offer, 1)
			assert.Equal(t, test.is, sentTo[*wire.Transfer](s.box, ann) != nil)
		})
	}
}

// An offer to somebody without a connection waits for one, and is said once: it is
// behind the HELLO. When that connection was closed before an answer came, it is
// said again on the next.
func TestOffer_WaitsForConnection_SentOnce(t *testing.T) {
	a := newAuthority(t)
	self, ann, ben := a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
	s, held, _ := a.holding(self, ann, ben)
	offers := 0
	meet := func() {
		s.step(member.Connected{Certificate: ben.certificate})
		require.NotNil(t, sentTo[*wire.Hello](s.box, ben))
		s.hear(ben, ben.hello())
		if sentTo[*wire.Offer](s.box, ben) != nil {
			offers++
		}
	}
	s.step(member.Disconnected{Peer: ben.id()})
	s.acts(ann, policy.Action{Kind: policy.Prepare, Token: held, To: ben.id()})
	require.NotNil(t, sentTo[*wire.Offer](s.box, ben), "it waits")
	meet()
	assert.Zero(t, offers)
	s.step(member.Disconnected{Peer: ben.id()}) // another one takes its place
	meet()
	assert.Equal(t, 1, offers)
	ben.accepts(s, &wire.Offer{Token: held, Hop: 1}, 1)
	s.step(member.Disconnected{Peer: ben.id()})
	meet()
	assert.Equal(t, 1, offers, "it was answered")
}
