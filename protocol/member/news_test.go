package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/wire"
)

// News of the group: revocations, configurations, the directory.

func (a *authority) revoke(version uint64, s *someone) []byte {
	a.t.Helper()
	r, err := certificate.Revocation{
		Version: version, Member: s.id(), Serial: s.certificate.Body().Serial, Reason: "lost", Time: uint64(began.UnixMilli()),
	}.Sign(a.group.ID(), a.key)
	require.NoError(a.t, err)
	return r.Raw()
}

func expelled(b *box) (list []ident.Member) {
	for _, e := range b.effects {
		if x, ok := e.(effect.Expel); ok {
			list = append(list, x.Member)
		}
	}
	return list
}

func TestRevoked_Peer_ExpelledAndDisseminated(t *testing.T) {
	a := newAuthority(t)
	b, bad, good := a.open(a.issue(1, time.Hour), nil), a.issue(2, time.Hour), a.issue(3, time.Hour)
	b.meet(bad)
	b.meet(good)
	raw := a.revoke(1, bad)
	b.step(member.Learn{Revocations: [][]byte{raw}})
	assert.Equal(t, []ident.Member{bad.id()}, expelled(b))
	told := said[*wire.Revocations](b)
	require.NotNil(t, told)
	assert.Equal(t, [][]byte{raw}, told.Revocations)
	b.step(member.Learn{Revocations: [][]byte{raw}})
	assert.Nil(t, said[*wire.Revocations](b), "no news")

	b.step(member.Connected{Certificate: bad.certificate})
	assert.Equal(t, []ident.Member{bad.id()}, expelled(b), "it is not let in again")
	b.restart()
	b.step(member.Connected{Certificate: bad.certificate})
	assert.Equal(t, []ident.Member{bad.id()}, expelled(b), "nor after a restart")
	b.hear(bad, bad.hello())
	assert.EqualValues(t, 1, b.Status().Rejected["not connected"])
}

func TestRevoked_ThisMember_Ends(t *testing.T) {
	a := newAuthority(t)
	me, peer := a.issue(1, time.Hour), a.issue(2, time.Hour)
	b := a.open(me, func(c *member.Config) { c.Found = true })
	b.step(member.Connected{Certificate: peer.certificate})
	b.hear(peer, &wire.Revocations{Revocations: [][]byte{a.revoke(1, me)}}) // before any greeting
	stopped := false
	for _, e := range b.effects {
		if s, ok := e.(effect.Stop); ok {
			stopped = true
			assert.ErrorIs(t, s.Reason, member.ErrRevoked)
		}
	}
	assert.True(t, stopped)
	assert.True(t, b.Status().Revoked)
	b.step(member.Demand{Request: 1, Resource: resource})
	assert.ErrorIs(t, refusal(b), member.ErrRevoked)
}

func TestRevocation_Forged_ChangesNothing(t *testing.T) {
	a := newAuthority(t)
	b, peer := a.open(a.issue(1, time.Hour), nil), a.issue(2, time.Hour)
	b.meet(peer)
	raw := a.revoke(1, peer)
	raw[len(raw)-1] ^= 1
	b.hear(peer, &wire.Revocations{Revocations: [][]byte{raw}})
	assert.Empty(t, expelled(b))
	assert.EqualValues(t, 1, b.Status().Rejected["forged revocation"])
	require.Len(t, b.Status().Faults, 1)
	assert.Equal(t, peer.id(), b.Status().Faults[0].Member)
}

func TestNews_Behind_AskedFor(t *testing.T) {
	a := newAuthority(t)
	b, peer := a.open(a.issue(1, time.Hour), nil), a.issue(2, time.Hour)
	b.step(member.Connected{Certificate: peer.certificate})
	h := peer.hello()
	h.Configuration, h.Revocations = 9, 4
	b.hear(peer, h)
	topics := map[wire.Topic]bool{}
	for _, e := range b.effects {
		if s, ok := e.(effect.Send); ok {
			if w, ok := s.Message.(*wire.Want); ok {
				topics[w.Topic] = true
			}
		}
	}
	assert.Equal(t, map[wire.Topic]bool{wire.WantConfiguration: true, wire.WantRevocations: true}, topics)
	assert.NotNil(t, said[*wire.Gossip](b), "and directories are compared")
}

func TestQuestions_EachKind_Answered(t *testing.T) {
	a := newAuthority(t)
	b, peer, gone := a.open(a.issue(1, time.Hour), nil), a.issue(2, time.Hour), a.issue(3, time.Hour)
	raw := a.revoke(1, gone)
	b.step(member.Learn{Revocations: [][]byte{raw}, Endpoints: nil})
	b.meet(peer)
	b.hear(peer, &wire.Want{Topic: wire.WantConfiguration})
	assert.Equal(t, a.group.Config().Raw(), said[*wire.Configuration](b).Configuration)
	b.hear(peer, &wire.Want{Topic: wire.WantRevocations})
	assert.Equal(t, [][]byte{raw}, said[*wire.Revocations](b).Revocations)
	b.hear(peer, &wire.Want{Topic: wire.WantRevocations, Version: 1})
	assert.Empty(t, said[*wire.Revocations](b).Revocations)
	b.hear(peer, &wire.Want{Topic: wire.WantMembers, Through: ident.LastMember()})
	assert.Len(t, said[*wire.Members](b).Entries, 2, "itself and the peer")
}

func TestConfiguration_Newer_AdoptedAndPassedOn(t *testing.T) {
	a := newAuthority(t)
	b, peer, other := a.open(a.issue(1, time.Hour), nil), a.issue(2, time.Hour), a.issue(3, time.Hour)
	b.meet(peer)
	b.meet(other)
	newer, err := settings(2, quick).Sign(a.group.ID(), a.key)
	require.NoError(t, err)
	b.hear(peer, &wire.Configuration{Configuration: newer.Raw()})
	assert.EqualValues(t, 2, b.Status().Configuration)
	assert.Empty(t, messages[*wire.Configuration](b, peer.id()))
	require.Len(t, messages[*wire.Configuration](b, other.id()), 1)
	assert.Equal(t, newer.Raw(), said[*wire.Configuration](b).Configuration)
	b.hear(peer, &wire.Configuration{Configuration: newer.Raw()})
	assert.Nil(t, said[*wire.Configuration](b), "no news")
	b.hear(peer, &wire.Configuration{Configuration: a.group.Config().Raw()})
	assert.EqualValues(t, 2, b.Status().Configuration, "a version only grows")
	assert.EqualValues(t, 1, b.Status().Rejected["older configuration"])
	require.Len(t, messages[*wire.Configuration](b, peer.id()), 1, "who has an older one is given the newer")
	b.restart()
	assert.EqualValues(t, 2, b.Status().Configuration)
}

func TestMessage_NotAllowed_Rejected(t *testing.T) {
	a := newAuthority(t)
	b, peer := a.open(a.issue(1, time.Hour), nil), a.issue(2, time.Hour)
	b.hear(peer, peer.hello())
	b.step(member.Connected{Certificate: peer.certificate})
	b.hear(peer, &wire.Want{Topic: wire.WantMembers, Through: ident.LastMember()})
	h := peer.hello()
	h.Versions = [2]uint64{2, 3}
	b.hear(peer, h)
	b.step(member.Received{From: peer.id(), Body: []byte{0xff}})
	b.hear(peer, peer.hello())
	b.hear(peer, &wire.Policy{Resource: "unknown", Policy: "wandering", Configuration: 1})
	b.hear(peer, &wire.Transfer{Transfer: []byte{1}, Genesis: []byte{1}})
	b.hear(peer, &wire.Members{Entries: []wire.Entry{{Certificate: []byte{1}}}})
	for _, reason := range []string{"not connected", "before hello", "protocol version", "malformed", "policy mismatch", "malformed object", "not asked for"} {
		assert.EqualValues(t, 1, b.Status().Rejected[reason], reason)
	}
}

// A policy may say a few things for each operation. More is not heard.
func TestPolicyMessages_Fast_Rationed(t *testing.T) {
	a := newAuthority(t)
	b, peer := a.open(a.issue(1, time.Hour), nil), a.issue(2, time.Hour)
	b.meet(peer)
	m := &wire.Policy{Resource: resource, Policy: "wandering", Configuration: 1}
	for range 1000 {
		b.hear(peer, m)
	}
	over := b.Status().Rejected["policy rate"]
	assert.Greater(t, over, uint64(500))
	b.after(time.Second)
	b.hear(peer, m)
	assert.Equal(t, over, b.Status().Rejected["policy rate"], "after a while it is heard again")
}
