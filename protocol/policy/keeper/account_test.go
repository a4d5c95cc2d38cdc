package keeper

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// theGiver is one more member of these tests.
const theGiver = 4

// hearing is a keeper that finds out what became of tokens. A receipt is one byte each of token, hop
// and signer.
type hearing struct{ *lone }

func signedBy(t ident.Token, hop uint64, signer int) []byte {
	return []byte{t[0], byte(hop), byte(signer)}
}

// newHearing is one that has seen all others connect.
func newHearing() *hearing {
	c := &hearing{newLoneIn(true, policy.Surroundings{Receipt: func(raw []byte) (policy.Receipt, bool) {
		if len(raw) != 3 {
			return policy.Receipt{}, false
		}
		return policy.Receipt{Token: ident.Token{raw[0]}, Hop: uint64(raw[1]), Signer: at(int(raw[2])), Current: true}, true
	}})}
	for i := theHolder; i <= theGiver; i++ {
		c.step(policy.Event{Kind: policy.Greeted, From: at(i)})
	}
	c.after(time.Hour)
	c.did = nil
	return c
}

// isBlamed lets the passer blame a member, that got a token from another one.
func (c *hearing) isBlamed(m, from int, of custody) {
	c.says(thePasser, message{kind: blame, custody: of, member: at(m), second: at(from)})
}

func (c *hearing) strikes(m int) bool { return c.isStruck(at(m)) }

var (
	lastOne    = custody{token, 5}
	longAtWork = uint32(7_200_000) // ms: before this member saw anybody connect
	begunNow   = uint32(1000)
)

// TestInquest_Asked_GivesAccount: P-71.
func TestInquest_Asked_GivesAccount(t *testing.T) {
	c := newHearing()
	asks := func(of custody, kind kind) message {
		c.says(thePasser, message{kind: account, custody: of})
		m := c.told(thePasser, kind)
		require.Equal(t, kind, m.kind)
		return m
	}
	assert.InDelta(t, millis(time.Hour), asks(lastOne, never).span, 1)

	held := policy.Token{ID: token, Hop: 5, Born: 1}
	c.step(policy.Event{Kind: policy.Arrival, From: at(thePasser), Token: held})
	assert.Equal(t, lastOne, asks(lastOne, still).custody)
	asks(custody{token, 6}, never)

	c.act(&policy.Action{Kind: policy.Pass, Token: token})
	asks(lastOne, still) // it has not left
	c.step(policy.Event{Kind: policy.Parted, From: at(theHolder), Token: held})
	c.after(time.Second)
	m := asks(lastOne, sent)
	assert.Equal(t, at(theHolder), m.member)
	assert.Equal(t, uint32(1000), m.span)

	c.step(policy.Event{Kind: policy.PassSettled, Outcome: policy.Delivered, From: at(theHolder), Token: held, Body: signedBy(token, 6, theHolder)})
	assert.Equal(t, signedBy(token, 6, theHolder), asks(lastOne, proof).receipt)
	asks(custody{token, 3}, proof) // of a later one

	earlier, later := policy.Token{ID: ident.Token{2}, Hop: 7, Born: 2}, policy.Token{ID: ident.Token{3}, Hop: 9, Born: 3}
	c.step(policy.Event{Kind: policy.Arrival, From: at(thePasser), Token: earlier})
	c.step(policy.Event{Kind: policy.Arrival, From: at(theGiver), Token: later})
	c.act(&policy.Action{Kind: policy.Drop, Token: earlier.ID})
	m = asks(custody{earlier.ID, 7}, instead)
	assert.Equal(t, custody{later.ID, 9}, m.other)
	assert.Equal(t, at(theGiver), m.member)
}

// TestInquest_Blamed_AsksForItself: P-72, P-73, P-79. Both are asked, and nothing else follows.
func TestInquest_Blamed_AsksForItself(t *testing.T) {
	c := newHearing()
	c.isBlamed(theHolder, theGiver, lastOne)
	did := c.did
	assert.Equal(t, lastOne, c.told(theHolder, account).custody)
	c.did = did
	assert.Equal(t, custody{token, 4}, c.told(theGiver, account).custody)
	assert.False(t, c.strikes(theHolder))

	c.isBlamed(theDead, theGiver, lastOne) // by the same member within L
	assert.Zero(t, c.told(theDead, account))
	c.after(DefaultSilence)
	c.isBlamed(theDead, theGiver, custody{token, 1})
	assert.Zero(t, c.told(theDead, account))
	c.after(DefaultSilence)
	c.isBlamed(theDead, theGiver, lastOne)
	assert.Equal(t, account, c.told(theDead, account).kind)
}

// TestInquest_Kept_StruckWhenOverdue: P-74, P-78, P-80.
func TestInquest_Kept_StruckWhenOverdue(t *testing.T) {
	for _, pause := range []time.Duration{time.Second, 2 * time.Second} {
		c := newHearing()
		c.isBlamed(theHolder, theGiver, lastOne)
		c.says(theHolder, message{kind: still, custody: lastOne})
		assert.True(t, c.isAvoided(at(theHolder)))
		c.after(c.overdue())
		for range 12 {
			assert.False(t, c.strikes(theHolder) && pause > time.Second)
			c.says(theHolder, message{kind: still, custody: lastOne})
			c.after(pause)
		}
		require.Equal(t, pause == time.Second, c.strikes(theHolder))
		if !c.strikes(theHolder) {
			continue
		}
		assert.Equal(t, at(theHolder), c.told(thePasser, blame).member)
		assert.True(t, c.isSilent(at(theHolder)))
		assert.False(t, c.Admits(c.now, at(theHolder)))
		c.after(strikeTimes * c.overdue())
		assert.False(t, c.strikes(theHolder))
	}
}

// TestInquest_DeniesReceipt_Struck: P-75. What the other one says of its beginning decides.
func TestInquest_DeniesReceipt_Struck(t *testing.T) {
	for _, test := range []struct {
		name   string
		young  uint32
		had    bool
		struck bool
	}{
		{"it may have forgotten", longAtWork, false, false},
		{"it had the token since it began", longAtWork, true, true},
		{"it has begun, and this member has seen nothing of that", begunNow, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newHearing()
			if test.had {
				c.holder.went(passed{custody: custody{token, 3}, to: at(theGiver), since: c.now, receipt: signedBy(token, 4, theGiver)})
			}
			c.isBlamed(theHolder, theGiver, lastOne)
			c.says(theHolder, message{kind: never, custody: lastOne, span: test.young})
			assert.False(t, c.strikes(theHolder))
			c.says(theGiver, message{kind: proof, receipt: signedBy(token, 5, theHolder)})
			c.says(theHolder, message{kind: never, custody: lastOne, span: test.young})
			assert.Equal(t, test.struck, c.strikes(theHolder))
			assert.False(t, c.strikes(theGiver))
		})
	}
}

// inDoubt lets one member say that it sent a token to another one, which denies that.
func (c *hearing) inDoubt(from, to int, t ident.Token) {
	of := custody{t, 5}
	c.isBlamed(to, from, of)
	c.says(from, message{kind: sent, custody: custody{t, 4}, member: at(to)})
	c.says(to, message{kind: never, custody: of, span: longAtWork})
	c.after(DefaultSilence)
}

// TestInquest_Doubts_TwoStrike: P-76. One doubt is none. Two with others are a strike, and so are
// two of a sender with one receiver. Who has connected since is excused.
func TestInquest_Doubts_TwoStrike(t *testing.T) {
	c := newHearing()
	c.inDoubt(theGiver, theHolder, ident.Token{1})
	assert.False(t, c.strikes(theHolder) || c.strikes(theGiver))
	c.step(policy.Event{Kind: policy.Greeted, From: at(theDead)})
	c.inDoubt(theDead, theHolder, ident.Token{2})
	assert.False(t, c.strikes(theHolder) || c.strikes(theDead))
	c.after(2 * c.overdue())
	c.inDoubt(theDead, theHolder, ident.Token{3})
	assert.True(t, c.strikes(theHolder))
	assert.False(t, c.strikes(theGiver) || c.strikes(theDead))

	c = newHearing()
	c.inDoubt(theGiver, theHolder, ident.Token{1})
	c.inDoubt(theGiver, theHolder, ident.Token{1})
	assert.False(t, c.strikes(theHolder) || c.strikes(theGiver))
	c.inDoubt(theGiver, theHolder, ident.Token{2})
	assert.True(t, c.strikes(theGiver))
	assert.False(t, c.strikes(theHolder))
}

// TestInquest_OwnPassUnanswered_Barred: P-72, P-76. Another token comes, and no receipt for the
// last one: its receiver gets no token, and is believed.
func TestInquest_OwnPassUnanswered_Barred(t *testing.T) {
	for _, greeted := range []bool{false, true} {
		c := newHearing()
		held := policy.Token{ID: token, Hop: 4, Born: 1}
		c.step(policy.Event{Kind: policy.Arrival, From: at(thePasser), Token: held})
		c.act(&policy.Action{Kind: policy.Pass, Token: token, To: at(theHolder)})
		c.step(policy.Event{Kind: policy.Parted, From: at(theHolder), Token: held})
		c.after(time.Second)
		if greeted {
			c.step(policy.Event{Kind: policy.Greeted, From: at(theHolder)})
		}
		c.after(DefaultSilence)
		c.step(policy.Event{Kind: policy.Arrival, From: at(thePasser), Token: policy.Token{ID: ident.Token{2}, Hop: 2, Born: 2}})
		c.did = nil
		c.after(time.Second)
		require.Equal(t, account, c.told(theHolder, account).kind)
		c.says(theHolder, message{kind: never, custody: lastOne, span: longAtWork})
		assert.False(t, c.strikes(theHolder))
		assert.Equal(t, !greeted, c.told(thePasser, blame).kind == blame)
		require.Equal(t, !greeted, c.isAvoided(at(theHolder)))
		a := policy.Action{Kind: policy.Pass, Token: ident.Token{2}, To: at(theHolder)}
		h := c.holder.find(&a.Token)
		h.state = idle // it has its promise back
		c.acts(h, &a)
		assert.Equal(t, !greeted, a.To.IsZero())
	}
}

// TestInquest_DroppedForAnother_ExcusedIfConfirmed: P-77.
func TestInquest_DroppedForAnother_ExcusedIfConfirmed(t *testing.T) {
	stays := custody{ident.Token{2}, 9}
	for _, test := range []struct {
		name   string
		giver  message
		avoids bool
	}{
		{"it gave it", message{kind: proof, receipt: signedBy(stays.token, 9, theHolder)}, false},
		{"without a receipt", message{kind: sent, custody: custody{stays.token, 8}, member: at(theHolder)}, false},
		{"it did not", message{kind: never, custody: custody{stays.token, 8}}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newHearing()
			c.isBlamed(theHolder, theGiver, lastOne)
			c.says(theHolder, message{kind: instead, custody: lastOne, other: stays, member: at(theDead)})
			require.Equal(t, custody{stays.token, 8}, c.told(theDead, account).custody)
			c.says(theDead, test.giver)
			assert.Equal(t, test.avoids, c.isAvoided(at(theHolder)))
			assert.False(t, c.strikes(theHolder))
		})
	}
}

// TestInquest_Struck_Answered: P-78. Its questions are answered, and what it says counts for
// nothing.
func TestInquest_Struck_Answered(t *testing.T) {
	c := newHearing()
	c.inquests.struck.note(at(theHolder), c.now, time.Hour)
	c.says(theHolder, message{kind: have, custody: lastOne, span: 1000})
	assert.Zero(t, c.search.last.holder)
	c.says(theHolder, message{kind: want})
	assert.False(t, c.isWanted())
	assert.Equal(t, noted, c.told(theHolder, noted).kind)
	c.says(theHolder, message{kind: ask, custody: lastOne})
	assert.Equal(t, none, c.told(theHolder, none).kind)
	c.says(theHolder, message{kind: account, custody: lastOne})
	assert.Equal(t, never, c.told(theHolder, never).kind)
	c.isBlamed(theHolder, theGiver, lastOne)
	assert.Zero(t, c.told(theHolder, account))
}

// TestInquest_HoldsWhileOthersWait_Asked: P-72, P-74. A holder that gives the keeper no account is
// struck, and one that does is not while it has time.
func TestInquest_HoldsWhileOthersWait_Asked(t *testing.T) {
	for _, silent := range []bool{false, true} {
		c := newHearing()
		start, asked := c.now, clock.Never
		for !c.strikes(theHolder) && c.now < start.Add(4*c.overdue()) {
			c.says(thePasser, message{kind: want})
			c.says(theHolder, message{kind: have, custody: lastOne})
			if c.told(theHolder, account).kind == account {
				asked = min(asked, c.now)
				if !silent {
					c.says(theHolder, message{kind: still, custody: lastOne})
				}
			}
			c.after(time.Second)
		}
		require.True(t, c.strikes(theHolder))
		times := 1.0
		if silent {
			times = restarts
		}
		assert.InDelta(t, times*c.overdue().Seconds(), c.now.Sub(asked).Seconds(), 12)
	}
}
