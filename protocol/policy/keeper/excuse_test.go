package keeper

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// TestExcuses_OfOthers_FlushNone: P-77, P-81. Members that conspire, and are excused as often as they can be, have no excuse of
// another one forgotten. Of each member a bounded number is remembered.
func TestExcuses_OfOthers_FlushNone(t *testing.T) {
	const since, within = 0, time.Second
	var s excuses
	require.False(t, s.note(excuse{member: at(theHolder), at: 1}, since, within))
	for i := range maxExcused - 1 {
		for n := range uint64(40) {
			e := excuse{member: ident.Member{9, byte(i)}, custody: custody{token, n}, why: reason(n % 3), at: 2}
			assert.Equal(t, int(n/3) >= e.why.most(), s.note(e, since, within))
		}
	}
	require.LessOrEqual(t, len(s), maxExcused*(maxExcuses+maxMinted+maxForgotten+3))
	again := excuse{member: at(theHolder), custody: custody{token, 9}, at: 3}
	assert.True(t, s.note(again, since, within), "it is the second one")
	for i := range byte(maxExcused) { // the one of long ago makes room for one more member
		s.note(excuse{member: ident.Member{8, i}, at: 4}, since, within)
	}
	assert.False(t, s.has(at(theHolder), again.custody))
	var list members
	for _, e := range s {
		list.add(e.member)
	}
	assert.Len(t, list, maxExcused)
}

// insteadOf has the holder say that it has dropped a token for another one, which it had from theThird. That one has passed
// the other token on since.
func (c *court) insteadOf(of, other custody) {
	c.blames(theBlamer, of, theHolder, at(thePasser))
	c.says(theHolder, message{kind: instead, custody: of, member: at(theThird), other: other})
	c.says(theThird, message{kind: proof, receipt: receiptOf(theFourth, custody{other.token, other.hop + 90}, true)})
}

// TestInquest_InsteadForTwoReasons_CountedApart: P-77, 3 and 4. A member that bears with a minter has not spent the excuses that it has
// where a giver has forgotten a pass.
func TestInquest_InsteadForTwoReasons_CountedApart(t *testing.T) {
	c := newCourt()
	hop := uint64(9)
	for _, other := range []custody{{secondToken, newbornHop}, {secondToken, 5}} {
		for range maxMinted {
			hop += 2
			c.insteadOf(custody{token, hop}, other)
			require.False(t, c.isOpen(custody{token, hop}))
			require.False(t, c.isBarred(theHolder))
			c.after(DefaultSilence)
		}
	}
	c.insteadOf(custody{token, hop + 2}, custody{secondToken, 5})
	assert.True(t, c.isBarred(theHolder))
	assert.False(t, c.struck(theHolder))
}

// TestInquest_InsteadMadeUp_BarredAtOnce: P-77. This member knows that the pass was never made of which the giver has nothing to
// say any more.
func TestInquest_InsteadMadeUp_BarredAtOnce(t *testing.T) {
	other := custody{secondToken, 5}
	for _, test := range []struct {
		name   string
		before func(*court)
		of     custody
		barred bool
	}{
		{"this member knows nothing", func(*court) {}, blamedFrom, false},
		{"this member had that custody", func(c *court) { c.comes(other, thePasser) }, blamedFrom, true},
		{"this member had that custody, and passed it on", func(c *court) {
			c.passes(other, theFourth)
			c.delivered(other, theFourth, true)
			c.comes(custody{secondToken, 7}, theFourth)
		}, blamedFrom, true},
		{"this member passed it to another one", func(c *court) {
			c.passes(custody{secondToken, 4}, theFourth)
			c.delivered(custody{secondToken, 4}, theFourth, true)
		}, blamedFrom, true},
		{"this member passed it to that one", func(c *court) {
			c.passes(custody{secondToken, 4}, theHolder)
			c.delivered(custody{secondToken, 4}, theHolder, true)
		}, blamedFrom, false},
		{"it is the earlier token", func(c *court) {
			for _, came := range []custody{{secondToken, 2}, {thirdToken, 2}} {
				c.passes(came, theFourth)
				c.delivered(came, theFourth, true)
			}
		}, custody{thirdToken, 9}, true},
		{"it is the later token", func(c *court) {
			for _, came := range []custody{{secondToken, 2}, {token, 2}} {
				c.passes(came, theFourth)
				c.delivered(came, theFourth, true)
			}
		}, blamedFrom, false},
		{"and a cut explains that the giver is silent", func(c *court) {
			c.comes(other, thePasser)
			c.greet(theThird)
		}, blamedFrom, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			test.before(c)
			c.insteadOf(test.of, other)
			assert.Equal(t, test.barred, c.isBarred(theHolder))
			assert.False(t, c.struck(theHolder))
			assert.False(t, c.isOpen(test.of))
		})
	}
}

// comesFrom lets a token come that a member has made.
func (c *court) comesFrom(maker int, of custody, from int) {
	c.step(policy.Event{Kind: policy.Arrival, From: at(from), Token: policy.Token{ID: of.token, Hop: of.hop, Born: uint64(of.token[0]), Generator: at(maker)}})
}

// TestInquest_InsteadOfOwnToken_Excused: P-77, 3. A founder drops the token of another founder for the later one that it has made
// itself. The member that passed it the earlier one does not bar it, unless it knows better; but not each time.
func TestInquest_InsteadOfOwnToken_Excused(t *testing.T) {
	own := custody{secondToken, 0}
	for _, test := range []struct {
		name   string
		before func(*court)
		of     ident.Token // that is dropped
		other  custody
		from   int
		barred bool
	}{
		{"it has made that", func(c *court) { c.comesFrom(theHolder, custody{secondToken, 3}, theThird) }, token, own, theHolder, false},
		{"it was just made", func(c *court) { c.comesFrom(theHolder, custody{secondToken, newbornHop}, theHolder) }, token, own, theHolder, false},
		{"another one has made it", func(c *court) { c.comesFrom(theFourth, custody{secondToken, 3}, theThird) }, token, own, theHolder, true},
		{"this member has not had it", func(c *court) { c.comesFrom(theHolder, custody{thirdToken, 3}, theThird) }, token, own, theHolder, false},
		{"it names a later custody of it", func(c *court) { c.comesFrom(theHolder, custody{secondToken, 3}, theThird) }, token, custody{secondToken, 2}, theHolder, true},
		{"it says that it came from another one", func(c *court) { c.comesFrom(theHolder, custody{secondToken, 3}, theThird) }, token, own, theThird, true},
		{"it is the earlier one", func(c *court) { c.comesFrom(theHolder, custody{secondToken, 3}, theThird) }, thirdToken, own, theHolder, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			of := custody{test.of, 8}
			c.passes(of, theHolder)
			c.delivered(of, theHolder, true)
			test.before(c)
			c.after(DefaultSilence) // the check of a newborn token is over
			of.hop++
			require.True(t, c.isOpen(of))
			c.says(theHolder, message{kind: instead, custody: of, member: at(test.from), other: test.other})
			assert.False(t, c.isOpen(of))
			assert.Equal(t, test.barred, c.isBarred(theHolder))
			assert.False(t, c.struck(theHolder))
		})
	}
	c := newCourt()
	c.comesFrom(theFourth, custody{token, 2}, theFourth)
	c.comesFrom(theHolder, custody{secondToken, 3}, theThird)
	for n := range uint64(maxMinted + 1) {
		of := custody{token, 9 + 2*n}
		c.blames(theBlamer, of, theHolder, at(thePasser))
		require.Equal(t, false, c.isBarred(theHolder))
		c.says(theHolder, message{kind: instead, custody: of, member: at(theHolder), other: own})
		c.after(DefaultSilence)
	}
	assert.True(t, c.isBarred(theHolder))
}

// TestAccount_DroppedForOwnToken_NamesItself: P-71, 3. Also after a restart, while the token is where it was made.
func TestAccount_DroppedForOwnToken_NamesItself(t *testing.T) {
	for _, kind := range []policy.EventKind{policy.Generated, policy.Resumed} {
		c := newCourt()
		c.step(policy.Event{Kind: kind, Token: policy.Token{ID: secondToken, Born: 2, Generator: at(theSelf)}})
		of := custody{token, 9}
		c.comes(of, thePasser)
		c.holder.act(&policy.Action{Kind: policy.Drop, Token: token})
		c.says(thePasser, message{kind: account, custody: of})
		m := c.told(thePasser, instead)
		require.Equal(t, instead, m.kind)
		assert.Equal(t, of, m.custody)
		assert.Equal(t, at(theSelf), m.member)
		assert.Equal(t, custody{secondToken, 0}, m.other)
	}
}

// TestAccount_DroppedWhileAnotherIsNewborn_NamesItsMaker: P-71, 3. Of two newborn tokens the later one stays, which the policy does not
// have yet.
func TestAccount_DroppedWhileAnotherIsNewborn_NamesItsMaker(t *testing.T) {
	later, earlier := custody{secondToken, newbornHop}, custody{token, newbornHop}
	for _, first := range []custody{later, earlier} {
		c := newCourt()
		makers := map[custody]int{later: theThird, earlier: thePasser}
		second := later
		if first == later {
			second = earlier
		}
		for _, of := range []custody{first, second} {
			c.comesFrom(makers[of], of, makers[of])
		}
		require.True(t, c.newborn.frozen)
		require.True(t, c.done(policy.Drop))
		c.says(thePasser, message{kind: account, custody: earlier})
		assert.Equal(t, message{kind: instead, custody: earlier, member: at(theThird), other: later}, c.told(thePasser, instead))
	}
}

// TestInquest_OwnNewbornDropped_Excused: P-77, 3. A member may have to drop a newborn token, as the maker says that it has another one
// (P-69, 5), or as a back-off has begun since it accepted it.
func TestInquest_OwnNewbornDropped_Excused(t *testing.T) {
	for _, hop := range []uint64{0, 2} {
		c := newCourt()
		c.passes(custody{token, hop}, theHolder)
		c.delivered(custody{token, hop}, theHolder, true)
		c.comes(custody{secondToken, 3}, theThird)
		of := custody{token, hop + 1}
		require.True(t, c.isOpen(of))
		c.says(theHolder, message{kind: instead, custody: of})
		assert.False(t, c.isOpen(of))
		assert.Equal(t, hop > 0, c.isBarred(theHolder))
	}
}
