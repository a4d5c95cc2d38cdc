package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/weigh"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/wire"
)

// toldTo are the receivers of the policy messages of the last step.
func toldTo(b *box) (list []ident.Member) {
	for _, e := range b.effects {
		if s, ok := e.(effect.Send); ok {
			if _, ok := s.Message.(*wire.Policy); ok {
				list = append(list, s.To)
			}
		}
	}
	return list
}

func tellAll(list []*someone) (actions []policy.Action) {
	for _, s := range list {
		actions = append(actions, policy.Action{Kind: policy.Tell, To: s.id(), Field: []byte("served")})
	}
	return actions
}

// told has the policy act, and returns who is told at once.
func (s *marionette) told(actions ...policy.Action) []ident.Member {
	s.puppet.next = actions
	request := uint64(len(s.puppet.events)) + 100
	s.step(member.Demand{Request: request, Resource: resource})
	list := toldTo(s.box)
	s.step(member.Withdraw{Request: request})
	return list
}

// Members that are not connected are told as far as they may be dialled, and the
// others later; a member that is connected in the meantime is told without a dial.
func TestTellStrangers(t *testing.T) {
	a := newAuthority(t)
	b := a.marionette(a.issue(1, 24*time.Hour), nil)
	list := a.strangers(200)
	b.known(list...)
	assert.Len(t, b.told(tellAll(list)...), 64, "the burst")
	assert.Less(t, b.NextDeadline().Sub(b.now.Boot), 100*time.Millisecond)
	seen := 64
	for range 10 {
		b.after(time.Second)
		assert.LessOrEqual(t, len(toldTo(b.box)), 20)
		seen += len(toldTo(b.box))
	}
	assert.Equal(t, 200, seen)
	assert.Empty(t, b.told(policy.Action{Kind: policy.Tell, To: b.ID()}, policy.Action{Kind: policy.Tell, To: ident.Member{5}}))
	assert.Equal(t, uint64(2), b.Status().Rejected["policy message to nobody"])
}

func TestStranger_Connects_Told(t *testing.T) {
	a := newAuthority(t)
	b := a.marionette(a.issue(1, 24*time.Hour), nil)
	list := a.strangers(100)
	b.known(list...)
	assert.Len(t, b.told(tellAll(list)...), 64)
	b.step(member.Connected{Certificate: list[99].certificate})
	assert.Equal(t, []ident.Member{list[99].id()}, toldTo(b.box))
	var later []ident.Member
	for range 3 {
		b.after(time.Second)
		later = append(later, toldTo(b.box)...)
	}
	assert.Len(t, later, 35)
}

// However much a policy has to say, to whomever, what waits and what goes out is
// bounded; and so is what is heard of a peer.
func TestPolicyMessages_Many_Bounded(t *testing.T) {
	a := newAuthority(t)
	b := a.marionette(a.issue(1, 24*time.Hour), nil)
	peer, list := a.issue(2, 24*time.Hour), a.strangers(100)
	b.meet(peer)
	b.known(list...)
	bodies := make([]policy.Action, 0, 10_000)
	for i := range cap(bodies) {
		bodies = append(bodies, policy.Action{Kind: policy.Tell, To: list[i%100].id(), Field: make([]byte, policy.MaxField)})
	}
	before := weigh.Of(b.Member).Bytes
	assert.Len(t, b.told(bodies...), 64)
	assert.Less(t, weigh.Of(b.Member).Bytes-before, 1<<20)
	assert.Equal(t, uint64(10_000-64-1024), b.Status().Rejected["policy messages waiting"])

	for i := range bodies {
		bodies[i].To = peer.id()
	}
	assert.Len(t, b.told(bodies...), 400)

	heard := len(b.puppet.events)
	for range 2000 {
		b.hear(peer, &wire.Policy{Resource: resource, Policy: "wandering", Configuration: 1, Body: make([]byte, policy.MaxField)})
	}
	assert.Equal(t, 400, len(b.puppet.events)-heard)
	b.after(time.Second)
	for range 2000 {
		b.hear(peer, &wire.Policy{Resource: resource, Policy: "wandering", Configuration: 1})
	}
	assert.LessOrEqual(t, len(b.puppet.events)-heard, 400+200+2)
	assert.Equal(t, uint64(4000-600), b.Status().Rejected["policy rate"])
}

// ofKeeper is a body of a keeper, as far as a member looks at it.
var ofKeeper = []byte{policy.KeeperKind, 1}

// What a policy says, and a liar in its name, leaves the keepers' messages their share, and
// the other way round: both where they are sent and where they are heard.
func TestTells_OneShareSpent_OtherStays(t *testing.T) {
	shares := map[string][]byte{"a policy": []byte("served"), "a keeper": ofKeeper, "a newer keeper": {255}}
	for spends, first := range shares {
		for stays, second := range shares {
			if (first[0] >= policy.KeeperKind) == (second[0] >= policy.KeeperKind) {
				continue
			}
			t.Run(spends+" spends, "+stays+" stays", func(t *testing.T) {
				a := newAuthority(t)
				b := a.marionette(a.issue(1, 24*time.Hour), nil)
				peer := a.issue(2, 24*time.Hour)
				b.meet(peer)
				tell := make([]policy.Action, 1000)
				for i := range tell {
					tell[i] = policy.Action{Kind: policy.Tell, To: peer.id(), Field: first}
				}
				assert.Len(t, b.told(tell...), 400)
				assert.Len(t, b.told(policy.Action{Kind: policy.Tell, To: peer.id(), Field: second}), 1)

				heard := len(b.puppet.events)
				for range 1000 {
					b.hear(peer, &wire.Policy{Resource: resource, Policy: "wandering", Configuration: 1, Body: first})
				}
				assert.Equal(t, 400, len(b.puppet.events)-heard)
				b.hear(peer, &wire.Policy{Resource: resource, Policy: "wandering", Configuration: 1, Body: second})
				assert.Equal(t, 401, len(b.puppet.events)-heard)
			})
		}
	}
}

// A keeper's message to a member that has to be dialled goes before the hints of a policy
// that wait, and finds room where they take all of theirs.
func TestTells_HintsWait_KeeperGoesFirst(t *testing.T) {
	a := newAuthority(t)
	b := a.marionette(a.issue(1, 24*time.Hour), nil)
	list := a.strangers(101)
	b.known(list...)
	hints := make([]policy.Action, 64+1024)
	for i := range hints {
		hints[i] = policy.Action{Kind: policy.Tell, To: list[i%100].id(), Field: []byte("served")}
	}
	b.told(hints...)
	keeper := policy.Action{Kind: policy.Tell, To: list[100].id(), Field: ofKeeper}
	assert.Empty(t, b.told(keeper), "all dials are spent")
	b.after(100 * time.Millisecond)
	assert.Contains(t, toldTo(b.box), list[100].id())
}

// events are those of a kind that the policy was told.
func (s *marionette) events(kind policy.EventKind) (list []policy.Event) {
	for _, e := range s.puppet.events {
		if e.Kind == kind {
			list = append(list, e)
		}
	}
	return list
}

// Questions to all go last where they wait for a dial, and the policy hears of that and of
// those that do not go at all.
func TestTells_Questions_GoLastAndAreCounted(t *testing.T) {
	a := newAuthority(t)
	b := a.marionette(a.issue(1, 24*time.Hour), nil)
	list := a.strangers(100)
	b.known(list...)
	ask := tellAll(list[:90])
	for i := range ask {
		ask[i].Field, ask[i].Question = ofKeeper, true
	}
	assert.Len(t, b.told(ask...), 64)
	require.Len(t, b.events(policy.Queued), 1)
	assert.Positive(t, b.events(policy.Queued)[0].Members)
	b.told(policy.Action{Kind: policy.Tell, To: list[90].id(), Field: ofKeeper})
	b.after(100 * time.Millisecond)
	assert.Contains(t, toldTo(b.box), list[90].id(), "it goes before the questions")

	b.step(member.Unreachable{Peer: list[0].id()})
	require.Len(t, b.events(policy.Unsent), 1, "a dial that failed on this side has to be made again")
	assert.Equal(t, list[0].id(), b.events(policy.Unsent)[0].From)
	b.step(member.Unreachable{Peer: list[1].id(), Silent: true})
	assert.Empty(t, b.told(ask[1]), "not so soon")
	assert.Len(t, b.events(policy.Unsent), 1)

	for range 3 {
		b.after(time.Second)
	}
	require.Len(t, b.events(policy.Queued), 2)
	assert.Zero(t, b.events(policy.Queued)[1].Members)

	more := make([]policy.Action, 2000)
	for i := range more {
		more[i] = policy.Action{Kind: policy.Tell, To: list[91+i%9].id(), Field: ofKeeper, Question: true}
	}
	sent := len(b.told(more...))
	assert.Len(t, b.events(policy.Unsent), 1+2000-1024-sent)
}
