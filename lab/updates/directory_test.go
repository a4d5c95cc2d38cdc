package updates_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/lab/updates"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/update"
)

var token ident.Token

// group is four founders whom others will join; each update has 300 bytes.
func group(change func(*updates.Config)) *updates.Directory {
	cfg := updates.Config{
		Founders: 4, Capacity: 10, Contacts: 1, Receipts: true, Rand: rand.New(rand.NewPCG(1, 1)),
	}
	for i := range 30 {
		cfg.Joins = append(cfg.Joins, fmt.Appendf(nil, "%0300d", i))
	}
	change(&cfg)
	return updates.New(cfg)
}

func plain(*updates.Config) {}

// A joining is told on the token and, in the other direction, on its receipt.
func TestJoin_Exchange_BothWays(t *testing.T) {
	d := group(plain)
	d.Joined(4, 0)
	assert.True(t, d.Knows(0, 4), "its contact")
	assert.True(t, d.Knows(4, 4))
	d.Passed(token, 0, 1)
	assert.True(t, d.Knows(1, 4), "by the token")
	d.Passed(token, 2, 1)
	assert.True(t, d.Knows(2, 4), "by the receipt")
	assert.False(t, d.Knows(3, 4))

	traffic := d.Traffic()
	assert.Equal(t, updates.Load{Updates: 1, Bytes: 303}, traffic.Tokens)
	assert.Equal(t, updates.Load{Updates: 1, Bytes: 303}, traffic.Receipts, "not what the token has just told")
	d.Passed(token, 1, 2)
	assert.Equal(t, updates.Traffic{Hops: 1, Tokens: updates.Load{Updates: 1, Bytes: 303}}, d.Traffic().Since(traffic))

	d = group(func(c *updates.Config) { c.Receipts = false })
	d.Joined(4, 0)
	d.Passed(token, 1, 0)
	assert.False(t, d.Knows(1, 4))
}

// Each member tells so often, and a message holds so many.
func TestLimits(t *testing.T) {
	d := group(func(c *updates.Config) { c.Receipts, c.Capacity = false, 2 })
	for m := 4; m < 7; m++ {
		d.Joined(m, 0)
	}
	d.Passed(token, 0, 1)
	assert.Equal(t, []bool{false, true, true}, []bool{d.Knows(1, 4), d.Knows(1, 5), d.Knows(1, 6)}, "the newest first")
	for range 100 {
		d.Passed(token, 0, 1)
	}
	assert.Equal(t, 3*update.Times(7), d.Traffic().Tokens.Updates)
}

// A joiner takes in what its contacts know, which is no news, and makes itself
// known to each of them.
func TestSnapshot(t *testing.T) {
	var learned [][2]int
	d := group(func(c *updates.Config) {
		c.Contacts = 2
		c.Learned = func(member, subject int) { learned = append(learned, [2]int{member, subject}) }
	})
	d.Joined(4, 0)
	assert.Len(t, learned, 3, "itself and two contacts")
	assert.Equal(t, [][2]int{{4, 4}, {0, 4}}, learned[:2])
	learned = nil
	d.Joined(5, 0)
	assert.True(t, d.Knows(5, 4))
	assert.Len(t, learned, 3)
	for m := range 4 {
		assert.True(t, d.Knows(5, m), "founders are known")
	}
	d.Joined(6, 5)
	assert.True(t, d.Knows(6, 5), "the contact itself")
	before := d.Traffic()
	d.Passed(token, 6, 3)
	assert.Equal(t, 1, d.Traffic().Since(before).Tokens.Updates, "of itself only")
}

func TestCompare(t *testing.T) {
	d := group(plain)
	d.Joined(4, 0)
	d.Joined(5, 1)
	d.Compare(0, 1)
	assert.True(t, d.Knows(0, 5) && d.Knows(1, 4))
	assert.Equal(t, updates.Traffic{Compared: 1, Repaired: 2}, d.Traffic())
	d.Compare(4, 2)
	assert.True(t, d.Knows(2, 4), "the peer itself")
	assert.Equal(t, 3, d.Traffic().Repaired)
	d.Passed(token, 2, 3)
	assert.True(t, d.Knows(3, 4), "what was repaired is told on")
}

// Whom a member knows it chooses, and all equally often.
func TestChoose(t *testing.T) {
	d := group(plain)
	d.Joined(4, 0)
	rng := rand.New(rand.NewPCG(1, 1))
	counts := func(from int) map[int]int {
		all := map[int]int{}
		for range 4000 {
			to, ok := d.Choose(from, rng)
			require.True(t, ok)
			all[to]++
		}
		return all
	}
	for _, c := range []struct {
		from   int
		others []int
	}{{0, []int{1, 2, 3, 4}}, {1, []int{0, 2, 3}}, {4, []int{0, 1, 2, 3}}} {
		got := counts(c.from)
		assert.Len(t, got, len(c.others))
		for _, to := range c.others {
			assert.InDelta(t, 4000/len(c.others), got[to], 150)
		}
	}
	lonely := group(func(c *updates.Config) { c.Founders = 1 })
	_, ok := lonely.Choose(0, rng)
	assert.False(t, ok)
}
