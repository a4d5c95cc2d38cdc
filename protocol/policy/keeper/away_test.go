package keeper

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/policy"
)

// newReplacing is a lone keeper that replaces the token of a silent holder at once.
func newReplacing() *lone {
	l := newLone(true)
	l.atOnce = true
	return l
}

// made lets the others want a token, and a silent holder stay silent, until a token is made, and returns how long that
// takes: max at most.
func (l *lone) made(max time.Duration, each func()) (d time.Duration) {
	for ; !l.done(policy.Generate) && d < max; d += time.Second / 2 {
		l.says(thePasser, message{kind: want})
		for _, m := range []int{thePasser, theDead} {
			if l.search.poll.asked.has(at(m)) {
				l.says(m, message{kind: none, span: 3_600_000})
			}
		}
		if each != nil {
			each()
		}
		l.after(time.Second / 2)
	}
	return d
}

var absentFor = message{kind: have, custody: custody{token, 5}, span: uint32(millis(longHold)), away: true}

// P-101. A holder that is away is not asked, not watched and not replaced before the time that it has said, and soon after.
func TestAway_HolderSilent_NotReplacedBefore(t *testing.T) {
	for name, c := range map[string]struct {
		says   message
		before bool // it is replaced before
	}{
		"away": {absentFor, false},
		"have": {message{kind: have, custody: absentFor.custody, span: absentFor.span}, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newReplacing()
			l.says(theHolder, c.says)
			asked, watched := false, false
			made := l.made(2*longHold, func() {
				if l.now < l.search.absence.until {
					asked = asked || l.search.stage != calm
					watched = watched || l.search.appendAwaited(nil).has(at(theHolder))
				}
			})
			assert.Equal(t, c.before, made < longHold, made)
			assert.Less(t, made, longHold+8*DefaultSilence)
			assert.False(t, asked)
			assert.False(t, watched)
		})
	}
}

// P-101. A search that goes on ends when its last holder says that it is away.
func TestAway_HeardInASearch_SearchEnds(t *testing.T) {
	l := newReplacing()
	l.says(theHolder, message{kind: have, custody: absentFor.custody})
	for range 100 {
		if l.search.stage != calm {
			break
		}
		l.says(thePasser, message{kind: want})
		l.after(time.Second / 2)
	}
	require.NotEqual(t, calm, l.search.stage)
	l.says(theHolder, absentFor)
	assert.Equal(t, calm, l.search.stage)
	assert.GreaterOrEqual(t, l.made(2*longHold, nil), longHold)
}

// P-100. A holder that says it again and again, while a member waits, gains nothing; and nobody counts on more than H.
func TestAway_SaidAgainWhileAMemberWaits_CountsOnce(t *testing.T) {
	long := absentFor
	long.span = ^uint32(0)
	for _, before := range []bool{false, true} {
		l := newReplacing()
		if before {
			l.says(theHolder, long)
		}
		l.says(thePasser, message{kind: want})
		l.says(theHolder, long)
		l.made(longHold-time.Second, func() { l.says(theHolder, long) })
		require.True(t, l.search.isAway())
		made := l.made(longHold, nil)
		assert.Less(t, made, 8*DefaultSilence)
	}
}

// P-100. Where nobody has waited meanwhile, the next restart of the machine counts as the first.
func TestAway_SaidAgainWhileNobodyWaits_Counts(t *testing.T) {
	l := newReplacing()
	l.says(theHolder, absentFor)
	l.after(longHold / 2)
	l.says(theHolder, absentFor)
	assert.GreaterOrEqual(t, l.made(2*longHold, nil), longHold)
}

// P-102. What the holder says of the token ends its absence; what another member says, and what it says of an earlier custody, do not.
func TestAway_HolderSpeaks_Over(t *testing.T) {
	for name, c := range map[string]struct {
		from int
		m    message
		over bool
	}{
		"have":            {theHolder, message{kind: have, custody: custody{token, 5}}, true},
		"rest":            {theHolder, message{kind: rest, custody: custody{token, 5}, promise: promise{1, 1}}, true},
		"returned":        {theHolder, message{kind: returned, custody: custody{token, 5}, promise: promise{1, 1}}, true},
		"went":            {theHolder, message{kind: went, custody: custody{token, 5}, member: at(thePasser)}, true},
		"release":         {theHolder, message{kind: release, custody: custody{token, 5}, promise: promise{1, 1}}, true},
		"a later have":    {theHolder, message{kind: have, custody: custody{token, 6}}, true},
		"a later rest":    {theHolder, message{kind: rest, custody: custody{token, 6}, promise: promise{1, 1}}, true},
		"away":            {theHolder, absentFor, false},
		"overtaken have":  {theHolder, message{kind: have, custody: custody{token, 5}, span: 1}, false},
		"an earlier have": {theHolder, message{kind: have, custody: custody{token, 4}}, false},
		"another's none":  {thePasser, message{kind: none, span: 1}, false},
		"its want":        {theHolder, message{kind: want}, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := newReplacing()
			l.says(theHolder, absentFor)
			require.True(t, l.search.isAway())
			l.says(c.from, c.m)
			assert.Equal(t, c.over, !l.search.isAway())
		})
	}
}

// P-100. A word that was overtaken ends an absence, and the next one restores it, no longer than it was.
func TestAway_EndedByOvertakenWord_Restored(t *testing.T) {
	l := newReplacing()
	l.says(thePasser, message{kind: want})
	l.says(theHolder, absentFor)
	until := l.search.absence.until
	l.says(theHolder, message{kind: have, custody: custody{token, 5}})
	require.False(t, l.search.isAway())
	l.after(time.Second)
	l.says(theHolder, absentFor)
	require.True(t, l.search.isAway())
	assert.Equal(t, until, l.search.absence.until)
}

// P-102. What a struck member has said counts for nothing.
func TestAway_HolderStruck_Over(t *testing.T) {
	l := newReplacing()
	l.says(theHolder, absentFor)
	l.anew()
	l.search.without(at(theHolder), custody{token, 5})
	assert.False(t, l.search.isAway())
}

// P-99. A holder tells all of its keepers before it is silent, says the same when it is asked, and tells them when it is back.
func TestAway_OfThisMember_AllKeepersTold(t *testing.T) {
	l := newLone(true)
	l.holder.inner = &eagerPolicy{}
	mine := policy.Token{ID: token, Hop: 5, Born: 1}
	l.step(policy.Event{Kind: policy.Arrival, Token: mine})
	require.True(t, l.done(policy.Run))
	says := func(i int) (away bool, span uint32, count int) {
		for _, a := range l.did {
			var m message
			if a.Kind == policy.Tell && a.To == at(i) && parse(a.Field, &m) && m.kind == have {
				away, span, count = m.away, m.span, count+1
			}
		}
		return away, span, count
	}
	l.did = nil
	l.step(policy.Event{Kind: policy.Away, At: l.now.Add(time.Minute), Token: mine})
	for _, i := range []int{theHolder, thePasser, theDead} {
		away, span, count := says(i)
		assert.True(t, away)
		assert.EqualValues(t, 60_000, span)
		assert.Equal(t, 1, count)
	}
	l.did = nil
	l.after(20 * time.Second)
	l.says(theDead, message{kind: ask, custody: custody{token, 5}})
	away, span, _ := says(theDead)
	assert.True(t, away)
	assert.EqualValues(t, 40_000, span)
	l.did = nil
	l.step(policy.Event{Kind: policy.OperationEnded, Operated: true, Token: mine})
	for _, i := range []int{theHolder, thePasser, theDead} {
		away, span, count := says(i)
		assert.False(t, away)
		assert.Zero(t, span)
		assert.Equal(t, 1, count)
	}
}
