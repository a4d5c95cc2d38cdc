package member_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/wire"
)

// Two members whose directories differ, and what it takes until they do not.

// strangers are many members, of whom nobody plays the part.
func (a *authority) strangers(n int) (list []*someone) {
	for i := range n {
		var seed [signature.SeedSize]byte
		binary.BigEndian.PutUint64(seed[:], uint64(i)+1)
		key, err := signature.NewPrivateKey(seed[:])
		require.NoError(a.t, err)
		a.next++
		c, err := certificate.Claims{
			Name: "m", Serial: a.next, NotBefore: began.Add(-time.Hour), NotAfter: began.Add(24 * time.Hour), IssuedAt: began,
			Key: key.Public().Bytes(), Group: a.group.ID(), ConfigVersion: 1,
		}.Sign(a.key)
		require.NoError(a.t, err)
		list = append(list, &someone{t: a.t, group: a.group.ID(), key: key, certificate: c})
	}
	return list
}

// converse lets two members talk until neither has anything to say to the other,
// and counts the questions of the first.
func converse(one, other *box) (questions int) {
	type said struct {
		to  *box
		msg member.Received
	}
	var queue []said
	take := func(from, to *box) {
		for _, e := range from.effects {
			s, ok := e.(effect.Send)
			if !ok || s.To != to.ID() {
				continue
			}
			body, err := wire.Encode(s.Message)
			require.NoError(from.t, err)
			queue = append(queue, said{to, member.Received{From: from.ID(), Body: body}})
			if _, ok := s.Message.(*wire.Want); ok && from == one {
				questions++
			}
		}
	}
	one.step(member.Connected{Certificate: other.cfg.Certificate})
	take(one, other)
	other.step(member.Connected{Certificate: one.cfg.Certificate})
	take(other, one)
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		next.to.step(next.msg)
		if next.to == one {
			take(one, other)
		} else {
			take(other, one)
		}
	}
	return questions
}

// pair is two members who know nobody yet.
func pair(t *testing.T) (a *authority, one, other *box) {
	a = newAuthority(t)
	one, other = a.open(a.issue(201, 24*time.Hour), nil), a.open(a.issue(202, 24*time.Hour), nil)
	for i, b := range []*box{one, other} {
		b.step(member.Announce{Addresses: []string{[]string{"one.example.org:1", "two.example.org:1"}[i]}})
	}
	return a, one, other
}

func introduce(b *box, list []*someone, sequence uint64) {
	var in member.Learn
	for _, s := range list {
		in.Certificates = append(in.Certificates, s.certificate.Raw())
		in.Endpoints = append(in.Endpoints, s.endpoint(sequence))
	}
	b.step(in)
}

// differ is of how many members two know different things.
func differ(one, other *box) (n int) {
	for _, id := range other.IDs() {
		mine, _ := one.Endpoint(id)
		theirs, _ := other.Endpoint(id)
		if string(mine) != string(theirs) {
			n++
		}
	}
	return n
}

func TestExchange(t *testing.T) {
	const n = 500
	for name, test := range map[string]struct {
		know, newer func(i int) bool // by one; at the other
		questions   int              // at most
	}{
		"joiner":                {func(int) bool { return false }, func(int) bool { return false }, 30},
		"all are elsewhere":     {func(int) bool { return true }, func(int) bool { return true }, 150},
		"half are missing":      {func(i int) bool { return i%2 == 0 }, func(int) bool { return false }, 150},
		"one in ten is missing": {func(i int) bool { return i%10 > 0 }, func(int) bool { return false }, 250},
		"one is elsewhere":      {func(int) bool { return true }, func(i int) bool { return i == 250 }, 5},
	} {
		t.Run(name, func(t *testing.T) {
			a, one, other := pair(t)
			var mine, theirs, moved []*someone
			for i, s := range a.strangers(n) {
				if test.know(i) {
					mine = append(mine, s)
				}
				if test.newer(i) {
					moved = append(moved, s)
				}
				theirs = append(theirs, s)
			}
			introduce(one, mine, 1)
			introduce(other, theirs, 1)
			introduce(other, moved, 2)
			questions := converse(one, other)
			t.Log(questions, "questions")
			assert.Zero(t, differ(one, other))
			assert.LessOrEqual(t, questions, test.questions)
		})
	}
}

// TestFilling_PolicyField_NoneShown: what a joiner has just fetched, nobody else fetches from
// it; when nothing more comes, it shows its own.
func TestFilling_PolicyField_NoneShown(t *testing.T) {
	a := newAuthority(t)
	one, first, second := a.open(a.issue(201, 24*time.Hour), nil), a.issue(202, 24*time.Hour), a.issue(203, 24*time.Hour)
	one.step(member.Announce{Addresses: []string{"one.example.org:1"}})
	introduce(one, []*someone{first, second}, 1)
	one.meet(first)
	one.meet(second)
	shown := func() wire.Gossip {
		one.hear(second, &wire.Gossip{})
		require.NotNil(t, said[*wire.Gossip](one))
		return *said[*wire.Gossip](one)
	}
	assert.Positive(t, shown().Members)

	one.hear(first, &wire.Gossip{Members: 50, Fingerprint: wire.Fingerprint{1}, Answer: true})
	require.NotNil(t, said[*wire.Want](one))
	filling := shown()
	assert.Zero(t, filling.Members)
	assert.Zero(t, filling.Fingerprint)

	one.after(time.Minute) // no answer came
	assert.Positive(t, shown().Members)
}

// TestGossip_SomeConnected_MostlyWithThem: an exchange with who is connected needs no dial.
// The others are met in time, too.
func TestGossip_SomeConnected_MostlyWithThem(t *testing.T) {
	const n, rounds = 20, 600
	a, one, _ := pair(t)
	near := []*someone{a.issue(203, 24*time.Hour), a.issue(204, 24*time.Hour), a.issue(205, 24*time.Hour)}
	introduce(one, near, 1)
	introduce(one, a.strangers(n), 1)
	for _, s := range near {
		one.meet(s)
		members, fingerprint := one.fingerprint()
		one.hear(s, &wire.Gossip{Configuration: 1, Members: members, Fingerprint: fingerprint, Answer: true})
	}
	met, far := map[ident.Member]bool{}, 0
	for range rounds {
		one.after(one.NextDeadline().Sub(one.now.Boot))
		for _, id := range one.IDs() {
			if gossipTo(one, id) == 0 {
				continue
			}
			met[id] = true
			if !slices.ContainsFunc(near, func(s *someone) bool { return s.id() == id }) {
				far++
			}
		}
	}
	assert.Greater(t, len(met), n, "all but a few")
	assert.Less(t, far, rounds/3)
}

// TestGossip_PeerHasBegunOne_OwnAtOnce: a member's own exchange comes up to half an interval
// early when a peer's has woken it anyway, but the one after it not.
func TestGossip_PeerHasBegunOne_OwnAtOnce(t *testing.T) {
	a, one, _ := pair(t)
	near := []*someone{a.issue(203, 24*time.Hour), a.issue(204, 24*time.Hour), a.issue(205, 24*time.Hour)}
	introduce(one, near, 1)
	members, fingerprint := one.fingerprint()
	same := &wire.Gossip{Configuration: 1, Members: members, Fingerprint: fingerprint}
	begun := func() (n int) {
		for _, e := range one.effects {
			if s, ok := e.(effect.Send); ok {
				if g, ok := s.Message.(*wire.Gossip); ok && !g.Answer {
					n++
				}
			}
		}
		return n
	}
	for _, s := range near {
		one.meet(s)
		answer := *same
		answer.Answer = true
		one.hear(s, &answer)
	}
	for range 1000 { // to an exchange
		if one.after(one.NextDeadline().Sub(one.now.Boot)); begun() == 1 {
			break
		}
	}
	interval := group.DefaultGossipInterval
	one.after(interval * 4 / 10)
	one.hear(near[0], same)
	assert.Zero(t, begun(), "too early")
	one.after(interval * 2 / 10)
	one.hear(near[0], same)
	assert.Equal(t, 1, begun(), "with the peer's")
	one.hear(near[1], same)
	assert.Zero(t, begun(), "once")
	one.after(interval * 8 / 10) // 1.4 since the first one
	assert.Zero(t, begun(), "no sooner for that")
	one.after(interval * 7 / 10)
	assert.Equal(t, 1, begun(), "in its time")
}
