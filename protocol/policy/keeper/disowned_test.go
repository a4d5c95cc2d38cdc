package keeper

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
			l.says(liar, message{kind: went, custody: custody{token, 2000}, member: at(honest)})
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
			require.Zero(t, l.told(honest, ask).hop)
			l.says(honest, message{kind: went, custody: custody{token, 5}, member: at(next)})
			l.says(next, old)
			l.says(liar, old)
			assert.Equal(t, following, l.search.stage)
			l.did = nil
			l.after(l.retry)
			assert.Equal(t, custody{token, 6}, l.told(next, ask).custody)
			l.says(next, message{kind: have, custody: custody{token, 7}})
			assert.Equal(t, calm, l.search.stage)
			assert.False(t, l.done(policy.Generate))
		})
	}
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
