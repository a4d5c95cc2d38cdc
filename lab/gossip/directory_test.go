package gossip_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/lab/gossip"
	"github.com/wandertoken/wander/protocol/ident"
)

var token ident.Token

// known is which of the first n a member knows.
func known(d *gossip.Directory, member, n int) (all []int) {
	for m := range n {
		if d.Knows(member, m) {
			all = append(all, m)
		}
	}
	return all
}

// chosen is to whom a member may pass a token.
func chosen(d *gossip.Directory, from int) map[int]bool {
	rng := rand.New(rand.NewPCG(1, 1))
	all := map[int]bool{}
	for range 200 {
		if to, ok := d.Choose(from, rng); ok {
			all[to] = true
		}
	}
	return all
}

func TestFounders_Start_KnowEachOther(t *testing.T) {
	d := gossip.New(3, gossip.Config{})
	assert.Equal(t, []int{0, 1, 2}, known(d, 1, 3))
	assert.Equal(t, map[int]bool{0: true, 2: true}, chosen(d, 1))
	assert.Zero(t, d.News(1), "they are no news")

	_, ok := gossip.New(1, gossip.Config{}).Choose(0, rand.New(rand.NewPCG(1, 1)))
	assert.False(t, ok, "alone")
}

// A joiner knows its contact, and all it can do is to send it a token with its
// own joining, which then travels on.
func TestJoining(t *testing.T) {
	var learned [][2]int
	d := gossip.New(3, gossip.Config{Learned: func(m, s int) { learned = append(learned, [2]int{m, s}) }})
	d.Joined(3, 1)
	assert.Equal(t, map[int]bool{1: true}, chosen(d, 3))
	assert.False(t, d.Knows(1, 3), "before its token has come")
	d.Passed(token, 3, 1)
	d.Passed(token, 1, 2)
	d.Passed(token, 1, 2)
	assert.Equal(t, []int{0, 1, 2, 3}, known(d, 2, 4))
	assert.False(t, d.Knows(0, 3))
	assert.Equal(t, [][2]int{{3, 1}, {1, 3}, {2, 3}}, learned, "each once")
	assert.Equal(t, 1, d.News(2))
}

func TestSnapshot(t *testing.T) {
	d := gossip.New(3, gossip.Config{Snapshot: true})
	d.Left(2)
	d.Passed(token, 2, 1)
	d.Joined(3, 1)
	assert.Equal(t, map[int]bool{0: true, 1: true}, chosen(d, 3), "not whom the contact knows to be gone")
	d.Passed(token, 0, 3)
	assert.Equal(t, 1, d.News(3), "what it was given is no news")
}

func TestSenders(t *testing.T) {
	for _, c := range []struct {
		senders gossip.Senders
		known   bool
		news    int
	}{{gossip.Registered, true, 1}, {gossip.Ignored, false, 1}, {gossip.Reported, true, 2}} {
		d := gossip.New(3, gossip.Config{Senders: c.senders})
		d.Joined(3, 1)
		d.Passed(token, 2, 3)
		d.Passed(token, 2, 3)
		assert.Equal(t, c.known, d.Knows(3, 2))
		assert.Equal(t, c.news, d.News(3), "its own joining is one")
	}
}

// The list holds its capacity, and the oldest news go first.
func TestCapacity(t *testing.T) {
	d := gossip.New(2, gossip.Config{Capacity: 2, Senders: gossip.Ignored})
	for m := 2; m < 5; m++ {
		d.Joined(m, 0)
		d.Passed(token, m, 0)
	}
	assert.Equal(t, 2, d.News(0))
	d.Passed(token, 0, 1)
	assert.Equal(t, []int{0, 1, 3, 4}, known(d, 1, 5), "2 was pushed out")
	assert.Equal(t, 10, gossip.Capacity)
}

// What is known already does not push out a receiver's own news, unless the
// merge echoes.
func TestEcho(t *testing.T) {
	for _, echo := range []bool{false, true} {
		d := gossip.New(3, gossip.Config{Capacity: 1, Echo: echo, Senders: gossip.Ignored})
		d.Joined(3, 0)
		d.Passed(token, 3, 0)
		d.Passed(token, 0, 1) // both have 3 on their lists
		d.Joined(4, 1)
		d.Passed(token, 4, 1) // and now 1 has 4
		d.Passed(token, 0, 1) // which 3, known to it, pushes out if it may
		d.Passed(token, 1, 2)
		assert.Equal(t, echo, d.Knows(2, 3))
		assert.Equal(t, !echo, d.Knows(2, 4))
	}
}

// Who leaves is chosen no more by those who heard of it, and stays gone
// although its joining is still on the way.
func TestLeaving(t *testing.T) {
	d := gossip.New(3, gossip.Config{})
	d.Joined(3, 0)
	d.Passed(token, 3, 0)
	d.Passed(token, 0, 1)
	d.Left(3)
	d.Passed(token, 3, 0)
	assert.Equal(t, map[int]bool{1: true, 2: true}, chosen(d, 0))
	assert.Equal(t, 2, d.Peers(0))
	d.Passed(token, 1, 0)
	assert.Equal(t, map[int]bool{1: true, 2: true}, chosen(d, 0))
	d.Passed(token, 0, 2)
	assert.Equal(t, map[int]bool{0: true, 1: true}, chosen(d, 2), "it hears of both")
}
