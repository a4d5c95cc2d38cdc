package keeper

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// TestSearch_CustodyDisowned_TokenThatMovesFollowed: P-57, 8. One liar tells of a hop that the token has not reached, and the
// member that it names has none. The token moves while all are asked, so that nobody has it: whoever has passed it on says so, at
// whatever hop.
func TestSearch_CustodyDisowned_TokenThatMovesFollowed(t *testing.T) {
	const liar, honest, next = theHolder, thePasser, theDead
	ahead := custody{token, 1000}
	old := message{kind: none, span: math.MaxUint32}
	tests := map[string]func(l *lone){
		"of itself": func(l *lone) {
			l.says(liar, message{kind: rest, custody: ahead, promise: promise{7, 1}})
			l.says(honest, message{kind: want})
			l.after(time.Second)
			require.Equal(t, ahead, l.told(liar, ask).custody)
			l.says(liar, old)
		},
		"of another one": func(l *lone) {
			l.says(liar, message{kind: have, custody: ahead})
			l.says(next, message{kind: want})
			l.after(time.Second)
			require.Equal(t, ahead, l.told(liar, ask).custody)
			l.says(liar, message{kind: went, custody: ahead, member: at(honest)})
			require.Equal(t, ahead.hop+1, l.told(honest, ask).hop)
			l.says(honest, old)
		},
		"of another one that tells of an earlier custody": func(l *lone) {
			l.says(liar, message{kind: have, custody: ahead})
			l.says(next, message{kind: want})
			l.after(time.Second)
			l.says(liar, message{kind: went, custody: ahead, member: at(honest)})
			require.Equal(t, ahead.hop+1, l.told(honest, ask).hop)
			l.says(honest, message{kind: went, custody: custody{token, 900}, member: at(liar)}) // it has heard of that
		},
		"of another one, unasked": func(l *lone) {
			l.says(next, message{kind: have, custody: custody{token, 5}})
			l.says(liar, message{kind: want})
			l.says(liar, message{kind: went, custody: ahead, member: at(honest)})
			require.Equal(t, ahead.hop+1, l.told(honest, ask).hop)
			l.says(honest, old)
		},
		"of itself, and then of another one": func(l *lone) {
			l.says(liar, message{kind: rest, custody: ahead, promise: promise{7, 1}})
			l.says(honest, message{kind: want})
			l.after(time.Second)
			l.says(liar, old)
			l.says(liar, message{kind: went, custody: ahead, member: at(next)})
			require.Equal(t, everybody, l.search.stage)
		},
	}
	for name, tell := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLone(true)
			tell(l)
			require.Equal(t, everybody, l.search.stage)
			l.did = nil
			l.after(l.retry)
			require.Equal(t, custody{token, anyHop}, l.told(honest, ask).custody)
			l.says(honest, message{kind: went, custody: custody{token, 5}, member: at(next)})
			l.says(next, old)
			l.says(liar, old)
			require.Equal(t, following, l.search.stage)
			l.did = nil
			l.after(l.retry)
			assert.Equal(t, custody{token, anyHop}, l.told(next, ask).custody)
			l.says(next, message{kind: have, custody: custody{token, 7}})
			assert.Equal(t, calm, l.search.stage)
			assert.False(t, l.done(policy.Generate))
		})
	}
}

// TestSearch_NextCustodyTold_TokenThatComesThereFollowed: P-57, 8. One liar tells of a custody that comes next. The member that it names has
// none yet. Its token comes while all are asked, by that very custody.
func TestSearch_NextCustodyTold_TokenThatComesThereFollowed(t *testing.T) {
	const liar, next, honest = thePasser, theHolder, theDead
	l := newLone(true)
	l.says(honest, message{kind: have, custody: custody{token, 5}})
	l.says(liar, message{kind: want})
	l.says(liar, message{kind: went, custody: custody{token, 5}, member: at(next)})
	require.Equal(t, custody{token, 6}, l.told(next, ask).custody)
	l.says(next, message{kind: none, span: math.MaxUint32})
	require.Equal(t, everybody, l.search.stage)
	l.says(next, message{kind: none, span: math.MaxUint32})
	l.says(honest, message{kind: went, custody: custody{token, 5}, member: at(next)})
	l.says(liar, message{kind: none, span: math.MaxUint32})
	require.Equal(t, following, l.search.stage)
	assert.True(t, l.asked(next))
	l.says(next, message{kind: have, custody: custody{token, 6}})
	assert.Equal(t, calm, l.search.stage)
	assert.False(t, l.done(policy.Generate))
	l.says(liar, message{kind: want})
	l.after(time.Second)
	assert.Equal(t, custody{token, 6}, l.told(next, ask).custody, "the next search begins without doubt")
}

// inDoubt is a search in which a member has disowned a custody of which this one had only told: all are asked for any custody.
func inDoubt(t *testing.T, told int) *lone {
	t.Helper()
	l := newLone(true)
	l.says(theHolder, message{kind: have, custody: custody{token, 5}})
	l.says(told, message{kind: want})
	l.says(told, message{kind: went, custody: custody{token, 1000}, member: at(theHolder)})
	require.True(t, l.asked(theHolder))
	l.says(theHolder, message{kind: none, span: math.MaxUint32})
	require.Equal(t, everybody, l.search.stage)
	return l
}

// TestSearch_ToldOfCustodyThatIsDisowned_RefutedOnceAllAreAskedForAny: P-57, 8. A member that told of a custody which was disowned may
// only have heard of it. One that does so once it is asked for any custody lies, and is not believed again in that search.
func TestSearch_ToldOfCustodyThatIsDisowned_RefutedOnceAllAreAskedForAny(t *testing.T) {
	const liar, honest = thePasser, theDead
	for name, lie := range map[string]message{
		"of another one": {kind: went, custody: custody{token, 2000}, member: at(theHolder)},
		"on its way":     {kind: went, custody: custody{token, 2000}, member: at(theHolder), span: 1},
		"of itself":      {kind: went, custody: custody{token, 2000}, member: at(liar)},
	} {
		t.Run(name, func(t *testing.T) {
			l := inDoubt(t, liar)
			answer := func(m message) {
				l.says(theHolder, message{kind: none, span: math.MaxUint32})
				l.says(honest, message{kind: none, span: math.MaxUint32})
				l.says(liar, m)
			}
			answer(lie)
			require.Equal(t, following, l.search.stage, "it is believed: it may have repeated before what it heard")
			asked := l.search.target
			require.True(t, asked == at(liar) || asked == at(theHolder))
			switch name {
			case "of another one":
				l.says(theHolder, message{kind: none, span: math.MaxUint32})
			case "on its way":
				l.says(liar, message{kind: none, span: math.MaxUint32})
			default:
				lie.hop++ // so that it tells of no earlier custody
				l.says(liar, lie)
			}
			require.Equal(t, everybody, l.search.stage)
			lie.hop += 1000
			lie.member, lie.span = at(theHolder), 1-lie.span // or on its way, where it was not
			answer(lie)
			assert.True(t, l.done(policy.Generate), "nobody else knows of the token")
		})
	}
}

// TestSearch_RepeatedWhatALiarSaid_Believed: P-57, 8. A member that only repeated, before it was asked for any custody, is believed then.
func TestSearch_RepeatedWhatALiarSaid_Believed(t *testing.T) {
	l := inDoubt(t, thePasser)
	l.says(theHolder, message{kind: none, span: math.MaxUint32})
	l.says(theDead, message{kind: none, span: math.MaxUint32})
	l.says(thePasser, message{kind: went, custody: custody{token, 6}, member: at(theDead)})
	assert.Equal(t, following, l.search.stage)
	assert.Equal(t, at(theDead), l.search.target)
}

// TestSearch_ChainWithoutEnd_AllAskedForAnyCustody: P-57, 8. Two members name each other, at a later hop each time.
func TestSearch_ChainWithoutEnd_AllAskedForAnyCustody(t *testing.T) {
	l := newLone(true)
	l.says(theHolder, message{kind: have, custody: custody{token, 5}})
	l.says(theDead, message{kind: want})
	l.after(time.Second)
	two := [2]int{theHolder, thePasser}
	for i := range maxChain {
		require.Equal(t, following, l.search.stage)
		l.says(two[i%2], message{kind: went, custody: custody{token, uint64(5 + i)}, member: at(two[1-i%2])})
	}
	require.Equal(t, everybody, l.search.stage)
	assert.Equal(t, custody{token, anyHop}, l.told(theDead, ask).custody)
}

// TestSearch_PromiseDisowned_CountsNoMore: P-57, 8. Whoever disowns what it promised may have promised what it never had: the keeper waits for
// the programs that may run.
func TestSearch_PromiseDisowned_CountsNoMore(t *testing.T) {
	l := newLone(true)
	l.says(theHolder, message{kind: rest, custody: custody{token, 1000}, promise: promise{7, 1}})
	l.says(theDead, message{kind: want})
	l.after(time.Second)
	begun := l.now
	for ; !l.done(policy.Generate); l.after(l.retry) {
		require.Less(t, l.now.Sub(begun), 2*longHold)
		l.says(thePasser, message{kind: want})
		for _, m := range []int{theHolder, thePasser} { // theDead says nothing any more
			l.says(m, message{kind: none, span: math.MaxUint32})
		}
	}
	assert.GreaterOrEqual(t, l.now.Sub(begun), longHold)
}

// TestSearch_HolderDisowns_PasserKnown: P-57, 8 and P-72. The member that passed a lost token to its last holder is asked for account
// as well, although what it says is not followed.
func TestSearch_HolderDisowns_PasserKnown(t *testing.T) {
	l := newLone(true)
	l.says(theHolder, message{kind: have, custody: custody{token, 5}})
	l.says(theDead, message{kind: want})
	l.after(time.Second)
	l.says(theHolder, message{kind: none, span: math.MaxUint32})
	l.says(theHolder, message{kind: none, span: math.MaxUint32})
	l.says(thePasser, message{kind: went, custody: custody{token, 4}, member: at(theHolder)})
	l.says(theDead, message{kind: none, span: math.MaxUint32})
	_, holder, from := l.search.lastKnown()
	assert.Equal(t, at(theHolder), holder)
	assert.Equal(t, at(thePasser), from)
}

// TestAsk_AnyHop_WhatWasHeardIsNotRepeated: P-56. A member that is asked for any custody of a token says where it passed that last, and not what others
// have told it.
func TestAsk_AnyHop_WhatWasHeardIsNotRepeated(t *testing.T) {
	heard, other := custody{token, 1000}, custody{ident.Token{2}, anyHop}
	l := newLone(true)
	l.after(time.Hour)
	l.says(theHolder, message{kind: have, custody: heard})
	l.says(thePasser, message{kind: ask, custody: custody{token, 5}})
	require.Equal(t, at(theHolder), l.told(thePasser, went).member, "it has heard of it")
	l.says(thePasser, message{kind: ask, custody: other})
	require.Equal(t, at(theHolder), l.told(thePasser, went).member, "it is another token")
	l.says(thePasser, message{kind: ask, custody: custody{token, anyHop}})
	require.Equal(t, none, l.told(thePasser, none).kind)

	c := newCourt()
	c.offers(custody{token, 3}, theHolder)
	c.parts(custody{token, 3}, at(theHolder))
	c.delivered(custody{token, 3}, theHolder, true)
	c.says(theBlamer, message{kind: have, custody: heard})
	c.says(theThird, message{kind: ask, custody: custody{token, anyHop}})
	pass := c.told(theThird, went)
	assert.Equal(t, uint64(3), pass.hop)
	assert.Equal(t, at(theHolder), pass.member)
}

// TestSearch_HoldersMemoryLost_FewQuestions: P-57, 8. A holder that has forgotten its token disowns it, too. Those that passed it there
// name it each time, and are asked a few times.
func TestSearch_HoldersMemoryLost_FewQuestions(t *testing.T) {
	l := newLone(true)
	l.says(theHolder, message{kind: have, custody: custody{token, 5}})
	l.says(theDead, message{kind: want})
	polls, stage := 0, calm
	for range 200 {
		l.after(l.retry / 4)
		if l.search.stage == everybody && stage != everybody {
			polls++
		}
		if stage = l.search.stage; l.done(policy.Generate) {
			break
		}
		l.says(theHolder, message{kind: none, span: 3_600_000})
		l.says(thePasser, message{kind: went, custody: custody{token, 4}, member: at(theHolder)})
		l.says(theDead, message{kind: went, custody: custody{token, 3}, member: at(thePasser)})
	}
	assert.True(t, l.done(policy.Generate))
	t.Log(polls, "times all were asked")
	assert.LessOrEqual(t, polls, 4)
}
