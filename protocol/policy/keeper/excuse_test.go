package keeper

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
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
