package keeper

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/policytest"
)

// Members of these tests beside those of lone. theBlamer is no keeper.
const (
	theBlamer = iota + 4
	theThird
	theFourth
)

var (
	secondToken = ident.Token{2}
	thirdToken  = ident.Token{3}

	lateAfter  = longHold + 2*DefaultSilence // overdue
	struckFor  = strikeTimes * lateAfter
	anHourAgo  = message{kind: never, span: 3_600_000, next: takenAt + 1}
	justBegun  = message{kind: never, span: 1_000, next: takenAt + 1}
	blamedFrom = custody{token, 9} // by the members of these tests, where nothing else is said
)

// court is a keeper that finds out what became of tokens. It has been connected with all others
// for an hour.
type court struct {
	*lone
	courier *courier
}

// courier passes each token that comes on to a member, and writes down what it is told.
type courier struct {
	policytest.Untimed
	to   ident.Member // zero: to nobody
	told []policy.Event
}

func (p *courier) Step(_ clock.Instant, e policy.Event, actions []policy.Action) []policy.Action {
	p.told = append(p.told, e)
	if e.Kind == policy.Arrival && !p.to.IsZero() {
		actions = append(actions, policy.Action{Kind: policy.Pass, Token: e.Token.ID, To: p.to})
	}
	return actions
}

func newCourt() *court { return newCourtIn(policy.Surroundings{}) }

func newCourtIn(in policy.Surroundings) *court { return newCourtBefore(in, func(*court) {}) }

// newCourtBefore is one that is told of something from before it begins.
func newCourtBefore(in policy.Surroundings, before func(*court)) *court {
	in.Receipt = readReceipt
	c := &court{newLoneIn(true, in), &courier{}}
	c.holder.inner = c.courier
	before(c)
	told := c.did
	defer func() { c.did = append(told, c.did...) }()
	c.order = append(c.order, at(theBlamer), at(theThird), at(theFourth))
	for i := theHolder; i <= theFourth; i++ {
		c.greet(i)
	}
	c.after(time.Hour)
	c.did = nil
	return c
}

// receiptOf is a member's word that it has taken a token, in the memory that it has now or not.
func receiptOf(signer int, c custody, current bool) []byte {
	m := message{kind: still, custody: c}
	b := append(m.append(nil)[1:], byte(signer), 0)
	if current {
		b[len(b)-1] = 1
	}
	return b
}

// takenAt is the serial that each receipt names.
const takenAt = 100

// receiptBefore is a receipt in the memory that the member has now, from before it began anew.
func receiptBefore(signer int, c custody) []byte {
	b := receiptOf(signer, c, true)
	b[len(b)-1] = 2
	return b
}

func readReceipt(b []byte) (r policy.Receipt, ok bool) {
	var m message
	if len(b) != custodySize+2 || !parse(append([]byte{byte(still)}, b[:custodySize]...), &m) {
		return r, false
	}
	of := b[custodySize+1]
	return policy.Receipt{Token: m.token, Hop: m.hop, Signer: at(int(b[custodySize])), Current: of != 0, SameProcess: of == 1, Serial: takenAt}, true
}

func (c *court) greet(i int) { c.step(policy.Event{Kind: policy.Greeted, From: at(i)}) }

// blames has a member say that another one had a custody last, from a third one.
func (c *court) blames(by int, of custody, who int, from ident.Member) {
	c.says(by, message{kind: blame, custody: of, member: at(who), second: from})
}

// accuses has a member blame theHolder for a custody, from thePasser.
func (c *court) accuses() { c.blames(theBlamer, blamedFrom, theHolder, at(thePasser)) }

// asks reports whether a member is asked for an account, and forgets that.
func (c *court) asks(i int, of custody) (is bool) {
	c.did = slices.DeleteFunc(c.did, func(a policy.Action) bool {
		var m message
		asks := a.Kind == policy.Tell && a.To == at(i) && parse(a.Field, &m) && m.kind == account && m.custody == of
		is = is || asks
		return asks
	})
	return is
}

// lasts lets time pass, in which members answer what they are asked.
func (c *court) lasts(d time.Duration, answers map[int]message) {
	for end := c.now.Add(d); c.now < end; c.after(time.Second / 4) {
		for _, i := range slices.Sorted(maps.Keys(answers)) {
			m := answers[i]
			for _, of := range c.questions(i) {
				if m.custody == (custody{}) && m.kind != proof {
					m.custody = of
				}
				c.says(i, m)
				m = answers[i]
			}
		}
	}
}

// questions are the custodies of which a member was asked, and are forgotten.
func (c *court) questions(i int) (list []custody) {
	for _, a := range c.did {
		var m message
		if a.Kind == policy.Tell && a.To == at(i) && parse(a.Field, &m) && m.kind == account {
			list = append(list, m.custody)
		}
	}
	for _, of := range list {
		c.asks(i, of)
	}
	return list
}

// strike has a member be struck for a token of long ago.
func (c *court) strike(i int) {
	c.anew()
	c.inquests.strike(at(i), &inquest{custody: custody{thirdToken, 9}}, policy.Kept)
	c.did = append(c.did, c.Answer()...)
}

func (c *court) struck(i int) bool { return c.isStruck(at(i)) }

func (c *court) isBarred(i int) bool { return c.barred.from(at(i), c.now) }

// isOpen reports whether something about a custody is to be found out.
func (c *court) isOpen(of custody) bool {
	return slices.ContainsFunc(c.inquests.open, func(i inquest) bool { return i.custody == of })
}

// passes lets a token come from thePasser, and leave for another one.
func (c *court) passes(of custody, to int) {
	c.offers(of, to)
	if who := c.passedTo(); !who.IsZero() { // the member chooses who gets it then
		c.parts(of, who)
	}
}

// offers lets a token come from thePasser, and be passed on. It has not left yet.
func (c *court) offers(of custody, to int) {
	c.courier.to = at(to)
	c.comes(of, thePasser)
	c.courier.to = ident.Member{}
}

// parts lets a token leave.
func (c *court) parts(of custody, to ident.Member) {
	c.step(policy.Event{Kind: policy.Parted, From: to, Token: policy.Token{ID: of.token, Hop: of.hop}})
}

// comes lets a token come and stay; of higher hops, as those of one are newborn.
func (c *court) comes(of custody, from int) {
	c.step(policy.Event{Kind: policy.Arrival, From: at(from), Token: policy.Token{ID: of.token, Hop: of.hop, Born: uint64(of.token[0])}})
}

// delivered is the end of a pass.
func (c *court) delivered(of custody, to int, current bool) {
	c.step(policy.Event{
		Kind: policy.PassEnded, Outcome: policy.Delivered, From: at(to), Token: policy.Token{ID: of.token, Hop: of.hop},
		Body: receiptOf(to, custody{of.token, of.hop + 1}, current),
	})
}

// shunned are the members that no token is to be passed to, and whether they are struck.
func (c *court) shunned() map[int]bool {
	list := make(map[int]bool)
	for _, a := range c.did {
		if i := int(a.To[0]) - 1; a.Kind == policy.Shun {
			if list[i] = a.Struck || list[i]; a.At <= c.now {
				delete(list, i)
			}
		}
	}
	return list
}

// passedTo is to whom a token was passed last.
func (c *court) passedTo() ident.Member {
	for _, a := range slices.Backward(c.did) {
		if a.Kind == policy.Pass {
			return a.To
		}
	}
	return ident.Member{255}
}

// TestInquest_Blamed_BothAreAsked: X-46. Nobody believes the word of another one.
func TestInquest_Blamed_BothAreAsked(t *testing.T) {
	c := newCourt()
	c.accuses()
	assert.True(t, c.asks(theHolder, blamedFrom))
	assert.True(t, c.asks(thePasser, custody{token, 8}))
	assert.False(t, c.struck(theHolder))
	assert.LessOrEqual(t, c.Deadline(), c.now.Add(c.retry))
	c.after(c.retry)
	assert.True(t, c.asks(theHolder, blamedFrom), "once more")
}

// wants has this member want a token, or want none any more.
func (c *court) wants(demand bool) {
	c.step(policy.Event{Kind: policy.DemandChanged, Demand: demand})
}

// TestInquest_AskerWantsNothing_HolderIsNotLate: a holder that nobody takes the token from keeps it, and runs
// under it again and again. Who blames it then, or wants the token now and then and not when asked, has
// nobody strike it.
func TestInquest_AskerWantsNothing_HolderIsNotLate(t *testing.T) {
	stays := map[int]message{theHolder: {kind: still}}
	c := newCourt()
	c.accuses()
	c.lasts(4*lateAfter, stays)
	require.False(t, c.struck(theHolder))

	c = newCourt()
	c.accuses()
	for n := range 200 {
		c.wants(n%2 == 0)
		c.lasts(time.Second, stays)
	}
	assert.False(t, c.struck(theHolder))
}

// TestInquest_StillHasIt_StruckIfLate: X-47.
func TestInquest_StillHasIt_StruckIfLate(t *testing.T) {
	stays := map[int]message{theHolder: {kind: still}}
	for _, test := range []struct {
		name  string
		until func(*court)
		is    bool
	}{
		{"in time", func(c *court) { c.lasts(lateAfter-time.Second, stays) }, false},
		{"a little late", func(c *court) { c.lasts(lateAfter+2*DefaultSilence-time.Second, stays) }, false},
		{"late", func(c *court) { c.lasts(lateAfter+2*DefaultSilence+2*time.Second, stays) }, true},
		{"asleep for long, and awake", func(c *court) {
			c.lasts(time.Second, stays)
			c.lasts(10*lateAfter, nil)
			c.lasts(2*DefaultSilence-time.Second, stays)
		}, false},
		{"asleep twice", func(c *court) {
			c.lasts(time.Second, stays)
			c.lasts(2*lateAfter, nil)
			c.lasts(2*DefaultSilence-time.Second, stays)
			c.lasts(time.Minute, nil)
			c.lasts(2*DefaultSilence-time.Second, stays)
		}, false},
		{"waits for the word of all others meanwhile", func(c *court) {
			c.lasts(time.Second, stays)
			c.says(theHolder, message{kind: returned, custody: blamedFrom})
			c.lasts(lateAfter-time.Second, nil)
			c.lasts(lateAfter, stays)
		}, false},
		{"does so again and again", func(c *court) {
			for range 2 * restarts {
				c.says(theHolder, message{kind: returned, custody: blamedFrom})
				c.lasts(lateAfter, stays)
			}
		}, true},
		{"says so with pauses", func(c *court) {
			c.lasts(time.Second, stays)
			c.lasts(lateAfter, nil)
			for range maxLateAnswers - 1 {
				c.says(theHolder, message{kind: still, custody: blamedFrom})
				c.after(DefaultSilence / 2)
			}
		}, false},
		{"says so with pauses again and again", func(c *court) {
			c.lasts(time.Second, stays)
			c.lasts(lateAfter, nil)
			for range maxLateAnswers + 1 {
				c.says(theHolder, message{kind: still, custody: blamedFrom})
				c.after(DefaultSilence / 2)
			}
		}, true},
		{"awake for moments, in which it says so many times", func(c *court) {
			c.lasts(time.Second, stays)
			c.lasts(lateAfter, nil)
			for range maxLateAnswers - 1 {
				for range maxLateAnswers {
					c.says(theHolder, message{kind: still, custody: blamedFrom})
				}
				c.after(DefaultSilence / 2)
			}
		}, false},
		{"awake for long again", func(c *court) {
			c.lasts(time.Second, stays)
			c.lasts(2*lateAfter, nil)
			c.lasts(2*DefaultSilence+2*time.Second, stays)
		}, true},
		{"restarts, and has as long as at first", func(c *court) {
			c.lasts(lateAfter-time.Second, stays)
			c.greet(theHolder)
			c.lasts(lateAfter-time.Second, stays)
		}, false},
		{"restarts again and again", func(c *court) {
			for range 20 {
				c.greet(theHolder)
				c.lasts(lateAfter/2, stays)
			}
		}, true},
		{"late, and then silent while others speak", func(c *court) {
			c.lasts(lateAfter+time.Second, stays)
			c.lasts(3*DefaultSilence, nil)
			c.says(thePasser, knowsNone)
		}, false},
		{"of another custody", func(c *court) {
			c.lasts(2*lateAfter, map[int]message{theHolder: {kind: still, custody: custody{token, 10}}})
		}, false},
		{"passes it on at last", func(c *court) {
			c.lasts(lateAfter, stays)
			c.lasts(lateAfter, map[int]message{theHolder: {kind: proof, receipt: receiptOf(theThird, custody{token, 10}, true)}})
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			c.wants(true)
			c.accuses()
			test.until(c)
			assert.Equal(t, test.is, c.struck(theHolder))
			assert.False(t, c.struck(thePasser))
		})
	}
}

// TestInquest_Never_StruckIfReceiptAndNoRestart: X-48. One that has lost its memory, or may have, is
// not struck.
func TestInquest_Never_StruckIfReceiptAndNoRestart(t *testing.T) {
	mine := receiptOf(theHolder, blamedFrom, true)
	for _, test := range []struct {
		name    string
		before  func(*court)
		receipt []byte
		says    message
		is      bool
	}{
		{"it knows of all since that custody", nil, mine, message{kind: never, from: takenAt, next: takenAt + 1}, true},
		{"it knows of all that there were", nil, mine, message{kind: never, next: takenAt + 1}, true},
		{"it was never seen to greet", func(c *court) { delete(c.peers.greeted, at(theHolder)) }, mine, message{kind: never, next: takenAt + 1}, true},
		{"it knows of later ones only", nil, mine, message{kind: never, from: takenAt + 1, next: takenAt + 1}, false},
		{"it did not know it yet", nil, mine, message{kind: never, next: takenAt}, false},
		{"it has restarted", nil, receiptBefore(theHolder, blamedFrom), message{kind: never, next: takenAt + 1}, false},
		{"of another memory", nil, receiptOf(theHolder, blamedFrom, false), justBegun, false},
		{"of another member", nil, receiptOf(theThird, blamedFrom, true), justBegun, false},
		{"of another hop", nil, receiptOf(theHolder, custody{token, 8}, true), justBegun, false},
		{"of another token", nil, receiptOf(theHolder, custody{secondToken, 9}, true), justBegun, false},
		{"unverifiable", nil, mine[1:], justBegun, false},
		{"it denies another custody", nil, mine, message{kind: never, custody: custody{token, 8}, span: 1_000}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			if test.before != nil {
				test.before(c)
			}
			c.accuses()
			c.lasts(3*time.Second, map[int]message{theHolder: test.says, thePasser: {kind: proof, receipt: test.receipt}})
			assert.Equal(t, test.is, c.struck(theHolder))
			assert.False(t, c.struck(thePasser))
		})
	}
}

// TestInquest_ReceiverBeginsAnewAfterReceiptWasShown_GiverShowsItAgain: P-75. The receipt was of the receiver's process
// when it was shown, and is not when the receiver denies the custody.
func TestInquest_ReceiverBeginsAnewAfterReceiptWasShown_GiverShowsItAgain(t *testing.T) {
	denies := message{kind: never, next: takenAt + 1}
	for name, again := range map[string]bool{"of its present process": true, "of the one before": false} {
		t.Run(name, func(t *testing.T) {
			c := newCourt()
			c.accuses()
			c.lasts(time.Second, map[int]message{theHolder: {kind: still}, thePasser: {kind: proof, receipt: receiptOf(theHolder, blamedFrom, true)}})
			c.greet(theHolder)
			c.lasts(time.Second, map[int]message{theHolder: denies})
			require.False(t, c.struck(theHolder), "the giver has not shown it again")
			receipt := receiptBefore(theHolder, blamedFrom)
			if again {
				receipt = receiptOf(theHolder, blamedFrom, true)
			}
			c.lasts(3*time.Second, map[int]message{theHolder: denies, thePasser: {kind: proof, receipt: receipt}})
			assert.Equal(t, again, c.struck(theHolder))
		})
	}
}

// TestInquest_NeverBeforeReceiptIsKnown_AskedAgain: X-48. It may have said so while the token was
// on its way.
func TestInquest_NeverBeforeReceiptIsKnown_AskedAgain(t *testing.T) {
	for _, again := range []message{justBegun, {kind: still}} {
		c := newCourt()
		c.accuses()
		says := justBegun
		says.custody = blamedFrom
		c.says(theHolder, says)
		require.True(t, c.asks(theHolder, blamedFrom))
		c.says(thePasser, message{kind: proof, receipt: receiptOf(theHolder, blamedFrom, true)})
		require.True(t, c.asks(theHolder, blamedFrom), "again")
		c.says(theHolder, says)
		require.False(t, c.struck(theHolder), "an answer to the first question")
		c.after(c.retry)
		c.says(thePasser, knowsNone)
		require.False(t, c.struck(theHolder), "nothing new")
		c.lasts(3*time.Second, map[int]message{theHolder: again})
		assert.Equal(t, again.kind == never, c.struck(theHolder))
	}
}

// TestInquest_OwnReceiptWhileItDenies_AskedAgain: X-48. The same where this member was the sender.
func TestInquest_OwnReceiptWhileItDenies_AskedAgain(t *testing.T) {
	for _, lies := range []bool{false, true} {
		c := newCourt()
		c.passes(custody{token, 8}, theHolder)
		c.comes(custody{secondToken, 2}, theThird)
		c.lasts(DefaultSilence, nil)
		c.delivered(custody{token, 8}, theHolder, true)
		says := justBegun
		says.custody = blamedFrom
		c.says(theHolder, says)
		require.False(t, c.struck(theHolder), "it may have said so before it got the token")
		if lies {
			c.lasts(5*time.Second, map[int]message{theHolder: says})
		}
		assert.Equal(t, lies, c.struck(theHolder))
	}
}

// untilDoubted is how long two members contradict each other before they are in doubt.
const untilDoubted = denialTimes*DefaultSilence + 2*time.Second

// doubts has one member say that it sent a token, and another one that it has not got it.
func (c *court) doubts(id ident.Token, from, to int) { c.doubtsAfter(id, from, to, longAgoSent) }

// doubtsAfter has the sender say so long ago it began to, or 0: it does not say.
func (c *court) doubtsAfter(id ident.Token, from, to int, ago uint32) {
	c.blames(theBlamer, custody{id, 9}, from, ident.Member{})
	c.lasts(untilDoubted, map[int]message{from: {kind: sent, member: at(to), span: ago}, to: anHourAgo})
	c.after(DefaultSilence)
}

// longAgoSent is how long ago a member began to pass a token whose answer is due, in milliseconds.
const longAgoSent = 5_000

// TestInquest_Doubts_StruckWithTwoOthersOrTwiceWithOne: X-49, X-51.
func TestInquest_Doubts_StruckWithTwoOthersOrTwiceWithOne(t *testing.T) {
	for _, test := range []struct {
		name string
		what func(*court)
		is   []int
	}{
		{"one", func(c *court) { c.doubts(token, theHolder, thePasser) }, nil},
		{"one, of one token", func(c *court) { c.doubts(token, theHolder, thePasser); c.doubts(token, theHolder, thePasser) }, nil},
		{"sends to two", func(c *court) { c.doubts(token, theHolder, thePasser); c.doubts(secondToken, theHolder, theThird) }, []int{theHolder}},
		{"gets from two", func(c *court) { c.doubts(token, theHolder, thePasser); c.doubts(secondToken, theThird, thePasser) }, []int{thePasser}},
		{"sends to one and gets from another", func(c *court) { c.doubts(token, theHolder, thePasser); c.doubts(secondToken, theThird, theHolder) }, []int{theHolder}},
		{"twice with the same receiver", func(c *court) { c.doubts(token, theHolder, thePasser); c.doubts(secondToken, theHolder, thePasser) }, []int{theHolder}},
		{"twice, and the receiver connected with the sender after the first pass", func(c *court) {
			c.doubtsAfter(token, theHolder, thePasser, 0)
			c.doubts(secondToken, theHolder, thePasser)
		}, nil},
		{"twice, and the receiver connected with the sender after the second pass", func(c *court) {
			c.doubts(token, theHolder, thePasser)
			c.doubtsAfter(secondToken, theHolder, thePasser, 0)
		}, nil},
		{"there and back", func(c *court) { c.doubts(token, theHolder, thePasser); c.doubts(secondToken, thePasser, theHolder) }, nil},
		{"twice, and the sender restarts between", func(c *court) {
			c.doubts(token, theHolder, thePasser)
			c.greet(theHolder)
			c.after(2 * lateAfter)
			c.doubts(secondToken, theHolder, thePasser)
		}, nil},
		{"the sender connects during it", func(c *court) {
			c.doubts(token, theHolder, thePasser)
			c.greet(theHolder)
			c.doubtsAfter(secondToken, theHolder, theThird, 0)
		}, nil},
		{"the sender connects during it, and says that the receiver is steady", func(c *court) {
			c.doubts(token, theHolder, thePasser)
			c.greet(theHolder)
			c.doubts(secondToken, theHolder, theThird)
		}, []int{theHolder}},
		{"the receiver restarts during it", func(c *court) {
			c.doubts(token, theHolder, thePasser)
			c.greet(theThird)
			c.doubts(secondToken, theHolder, theThird)
		}, nil},
		{"two, long after each other", func(c *court) {
			c.doubts(token, theHolder, thePasser)
			c.after(struckFor / 2)
			c.doubts(secondToken, theHolder, theThird)
		}, nil},
		{"with one that is struck for another reason", func(c *court) {
			c.doubts(token, theHolder, thePasser)
			c.strike(thePasser)
			c.doubts(secondToken, theHolder, theThird)
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			test.what(c)
			for _, i := range []int{theHolder, theThird, theFourth, theBlamer} {
				assert.Equal(t, slices.Contains(test.is, i), c.struck(i), i)
			}
			if test.name != "with one that is struck for another reason" {
				assert.Equal(t, slices.Contains(test.is, thePasser), c.struck(thePasser))
			}
		})
	}
}

// TestInquest_SenderConnects_WordForgottenAndExcused: it may have forgotten the pass since it spoke of it, and pass the
// receiver another token. One that connects each time is excused once.
func TestInquest_SenderConnects_WordForgottenAndExcused(t *testing.T) {
	for _, sender := range []int{theHolder, thePasser} { // the one that it is about, or its giver
		c := newCourt()
		for n, id := range []ident.Token{token, secondToken} {
			denies := theThird
			of := custody{id, 9}
			if sender == thePasser {
				denies = theHolder
			}
			c.blames(theBlamer, of, theHolder, at(thePasser))
			said := custody{id, 9}
			if sender == thePasser {
				said.hop = 8
			}
			c.says(sender, message{kind: sent, custody: said, member: at(denies), span: longAgoSent})
			c.greet(sender)
			c.lasts(untilDoubted+DefaultSilence, map[int]message{denies: anHourAgo, sender: {kind: sent, custody: said, member: at(denies)}})
			assert.Empty(t, c.inquests.doubts)
			assert.Equal(t, n == 1, c.isBarred(sender))
			assert.False(t, c.isBarred(denies))
		}
	}
}

// TestInquest_SenderHasNoReceipt_Doubt: X-48. It is the receiver that says that it had the token
// never, and the sender that has sent it for longer than L.
func TestInquest_SenderHasNoReceipt_Doubt(t *testing.T) {
	for _, test := range []struct {
		name string
		says message
		is   bool
	}{
		{"sent", message{kind: sent, custody: custody{token, 8}, member: at(theHolder)}, true},
		{"sent long ago", message{kind: sent, custody: custody{token, 8}, member: at(theHolder), span: 5_000}, true},
		{"it is on its way", message{kind: sent, custody: custody{token, 8}, member: at(theHolder), span: 100}, false},
		{"to another one", message{kind: sent, custody: custody{token, 8}, member: at(theThird)}, false},
		{"it was another custody", message{kind: sent, custody: custody{token, 6}, member: at(theHolder)}, false},
		{"it never had it", message{kind: never, custody: custody{token, 8}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			c.accuses()
			c.lasts(untilDoubted, map[int]message{theHolder: anHourAgo, thePasser: test.says})
			if test.is {
				assert.Equal(t, doubts{{at(thePasser), at(theHolder), token, false, test.says.span > 0, c.inquests.doubts[0].at}}, c.inquests.doubts)
			} else {
				assert.Empty(t, c.inquests.doubts)
			}
			assert.False(t, c.struck(theHolder))
			assert.False(t, c.struck(thePasser))
		})
	}
}

// TestInquest_OwnTransferUnanswered_BarredAndNotStruck: X-50. A cut or a restart explains it.
func TestInquest_OwnTransferUnanswered_BarredAndNotStruck(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(*court)
		is     bool
		told   bool // the others
	}{
		{"connected", func(*court) {}, true, true},
		{"cut or restarted since", func(c *court) { c.greet(theHolder) }, false, true},
		{"not known to be connected", func(c *court) { delete(c.peers.greeted, at(theHolder)) }, false, true},
		{"the receipt comes", func(c *court) { c.delivered(custody{token, 8}, theHolder, false) }, false, true},
		{"it comes back", func(c *court) {
			c.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: policy.Token{ID: token, Hop: 8, Born: 1}})
		}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			c.passes(custody{token, 8}, theHolder)
			c.after(time.Second)
			test.before(c)
			c.comes(custody{secondToken, 2}, theThird)
			c.lasts(2*DefaultSilence+untilDoubted, map[int]message{theHolder: anHourAgo})
			assert.Equal(t, test.is, c.isBarred(theHolder))
			assert.Equal(t, test.is || test.name == "it comes back", c.inquests.isAvoided(at(theHolder)))
			assert.False(t, c.struck(theHolder))
			if test.is {
				assert.Equal(t, map[int]bool{theHolder: true}, c.shunned())
				c.passes(custody{secondToken, 4}, theHolder)
				assert.Equal(t, ident.Member{}, c.passedTo(), "it gets no other one")
			}
			assert.Equal(t, test.told, c.told(thePasser, blame).kind == blame)
		})
	}
}

// TestPass_NotTaken_ReceiverAvoided: a member that takes no token which is for it would be the next one again at once. It
// is passed none for O, for twice as long the next time, and is forgiven when it takes one.
func TestPass_NotTaken_ReceiverAvoided(t *testing.T) {
	c := newCourt()
	of := custody{token, 8}
	untaken := func() {
		c.offers(of, theHolder)
		require.Equal(t, at(theHolder), c.passedTo())
		c.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: policy.Token{ID: of.token, Hop: of.hop, Born: 1}})
		require.True(t, c.inquests.isAvoided(at(theHolder)))
		require.Equal(t, map[int]bool{theHolder: false}, c.shunned(), "it is not struck")
		of.hop += 2
	}
	untaken()
	c.offers(of, theHolder)
	assert.Equal(t, ident.Member{}, c.passedTo(), "any other one gets it")
	c.delivered(of, theThird, true)
	of.hop += 2
	c.after(c.holder.overdue())
	require.False(t, c.inquests.isAvoided(at(theHolder)))
	untaken()
	c.after(c.holder.overdue())
	assert.True(t, c.inquests.isAvoided(at(theHolder)))
	c.offers(of, theHolder)
	c.delivered(of, theHolder, true)
	assert.False(t, c.inquests.isAvoided(at(theHolder)), "nobody else was left")
}

// TestPass_NotTakenInTime_AvoidedStill: P-80, 1. A member that takes a token when it was for another one already would cost the time
// of an offer at each of its turns.
func TestPass_NotTakenInTime_AvoidedStill(t *testing.T) {
	for _, late := range []bool{false, true} {
		c := newCourt()
		of, to := custody{token, 8}, theHolder
		c.offers(of, theHolder)
		c.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: policy.Token{ID: of.token, Hop: of.hop, Born: 1}})
		require.True(t, c.lastShun().Untaken, "what it accepts late counts")
		of.hop += 2
		if late {
			to = theThird
		}
		c.offers(of, to)
		if late {
			require.Equal(t, at(theThird), c.passedTo())
		}
		c.parts(of, at(theHolder))
		c.delivered(of, theHolder, true)
		assert.Equal(t, late, c.inquests.isAvoided(at(theHolder)))
	}
}

// TestShun_ForMoreThanUntaken_Said: P-80. What a member accepts late counts only where it is shunned for nothing else.
func TestShun_ForMoreThanUntaken_Said(t *testing.T) {
	untaken := func(c *court) {
		c.offers(custody{secondToken, 8}, theHolder)
		c.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: policy.Token{ID: secondToken, Hop: 8, Born: 1}})
	}
	for name, test := range map[string]struct {
		does func(*court)
		is   bool
	}{
		"untaken":         {func(*court) {}, true},
		"barred":          {func(c *court) { c.barred.note(at(theHolder), c.now, time.Hour) }, false},
		"struck":          {func(c *court) { c.common.struck.note(at(theHolder), c.now, time.Hour) }, false},
		"owes an account": {func(c *court) { c.accuses(); c.after(c.retry) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourt()
			untaken(c)
			test.does(c)
			c.inquests.shun(at(theHolder), 0)
			assert.Equal(t, test.is, c.Answer()[len(c.Answer())-1].Untaken)
		})
	}
	c := newCourt()
	c.inquests.shun(at(theHolder), 0)
	assert.False(t, c.Answer()[len(c.Answer())-1].Untaken, "it ends")
}

// TestPass_NewbornNotTaken_ReceiverNotAvoided: it may back off from this member as P-69, 6 has it.
func TestPass_NewbornNotTaken_ReceiverNotAvoided(t *testing.T) {
	c := newCourt()
	for range 3 {
		c.offers(custody{token, 0}, theHolder)
		require.Equal(t, at(theHolder), c.passedTo())
		c.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: policy.Token{ID: token, Born: 1}})
		assert.False(t, c.inquests.isAvoided(at(theHolder)))
		assert.Empty(t, c.shunned())
	}
}

// TestInquest_SameTokenComesAgain_OtherOneLost: P-80. Another token comes here than the one that a member says it has,
// and had been here before the inquest began.
func TestInquest_SameTokenComesAgain_OtherOneLost(t *testing.T) {
	c := newCourt()
	c.inquests.arrives(secondToken)
	i := about(custody{token, 8}, at(theHolder), ident.Member{}, c.now)
	i.there = true
	c.inquests.opens(i)
	c.says(theHolder, message{kind: still, custody: custody{token, 8}})
	require.False(t, c.inquests.isAvoided(at(theHolder)), "it may be busy")
	c.inquests.arrives(secondToken)
	assert.True(t, c.inquests.isAvoided(at(theHolder)))
}

// TestInquest_OwnTransferUnanswered_ConnectsWhenOthersWereTold_Barred: others hold the two in doubt, as this member has
// said that no cut explains it. They would strike it if it passed that one a second token.
func TestInquest_OwnTransferUnanswered_ConnectsWhenOthersWereTold_Barred(t *testing.T) {
	for _, told := range []bool{false, true} {
		c := newCourt()
		c.passes(custody{token, 8}, theHolder)
		c.after(2 * DefaultSilence)
		if told {
			c.says(theBlamer, message{kind: account, custody: custody{token, 8}})
		}
		c.greet(theHolder)
		c.comes(custody{secondToken, 2}, theThird)
		c.lasts(2*DefaultSilence+untilDoubted, map[int]message{theHolder: anHourAgo})
		assert.Equal(t, told, c.isBarred(theHolder))
	}
}

// TestInquest_OwnTransferUnanswered_ExcusedBefore_BarredForAsLong: the bar for a second excuse is shorter.
func TestInquest_OwnTransferUnanswered_ExcusedBefore_BarredForAsLong(t *testing.T) {
	c := newCourt()
	c.inquests.excuse(at(theHolder), &inquest{custody: custody{thirdToken, 9}, member: at(theHolder), word: word{says: never}})
	c.passes(custody{token, 8}, theHolder)
	c.after(2 * DefaultSilence)
	c.says(theBlamer, message{kind: account, custody: custody{token, 8}})
	c.greet(theHolder)
	c.comes(custody{secondToken, 2}, theThird)
	c.lasts(2*DefaultSilence+untilDoubted, map[int]message{theHolder: anHourAgo})
	assert.Greater(t, c.barred.left(at(theHolder), c.now), (strikeTimes/2-1)*lateAfter)
	firm := true
	for _, a := range c.did {
		if a.Kind == policy.Shun && a.To == at(theHolder) {
			firm = a.Firm
		}
	}
	assert.False(t, firm, "it owes nothing any more, and gets a token where nobody else is left")
}

// TestInquest_OwnTransferUnanswered_NothingToIt_AlthoughNobodyElseIsLeft: X-50.
func TestInquest_OwnTransferUnanswered_NothingToIt_AlthoughNobodyElseIsLeft(t *testing.T) {
	for _, answer := range []message{{}, justBegun, {kind: still}} {
		c := newCourt()
		c.passes(custody{token, 8}, theHolder)
		c.comes(custody{secondToken, 2}, theThird)
		c.after(2 * DefaultSilence)
		firm := func() (is bool) {
			for _, a := range c.did {
				if a.Kind == policy.Shun && a.To == at(theHolder) {
					is = a.Firm
				}
			}
			return is
		}
		require.True(t, firm())
		if answer.kind != 0 {
			c.lasts(DefaultSilence, map[int]message{theHolder: answer})
			assert.Equal(t, answer.kind == never, firm(), answer.kind)
		}
	}
}

// TestInquest_ReceiverHasBegunAnew_NoDoubt: new parameters have the policies of a member begin anew, and its connections
// last. It does not know then what it had before. That explains one loss; nobody is struck for such.
func TestInquest_ReceiverHasBegunAnew_NoDoubt(t *testing.T) {
	receiverSays := func(m message, own bool) *court {
		c := newCourt()
		if own {
			c.passes(custody{token, 8}, theHolder)
			c.comes(custody{secondToken, 2}, theThird)
			c.after(2 * DefaultSilence)
		} else {
			c.accuses()
		}
		c.lasts(2*untilDoubted, map[int]message{theHolder: m, thePasser: {kind: sent, custody: custody{token, 8}, member: at(theHolder), span: longAgoSent}})
		return c
	}
	for _, anew := range []bool{false, true} {
		m := anHourAgo
		if anew {
			m = justBegun
		}
		c := receiverSays(m, false)
		assert.Equal(t, !anew, len(c.inquests.doubts) == 1)
		assert.Equal(t, anew, c.inquests.excused.has(at(theHolder), blamedFrom))
		c = receiverSays(m, true)
		assert.Equal(t, anew, c.inquests.excused.has(at(theHolder), blamedFrom))
		require.True(t, c.isBarred(theHolder), "others may know better: it says to each what it likes")
		assert.Equal(t, !anew, c.shunned()[theHolder])

		c = newCourt() // whom the one names that had it
		c.accuses()
		m.custody = custody{token, 10}
		c.lasts(untilDoubted, map[int]message{theHolder: {kind: sent, custody: blamedFrom, member: at(theThird), span: longAgoSent}, theThird: m})
		assert.Equal(t, !anew, len(c.inquests.doubts) == 1)
		assert.Equal(t, anew, c.inquests.excused.has(at(theThird), blamedFrom))
	}
}

// TestInquest_NextReceiverMayHaveForgotten_HolderNotBlamed: the member to which this one passed the token has passed it on,
// and the next one has connected since. Nobody is told anything of the former.
func TestInquest_NextReceiverMayHaveForgotten_HolderNotBlamed(t *testing.T) {
	c := newCourt()
	c.passes(custody{token, 8}, theHolder)
	c.delivered(custody{token, 8}, theHolder, true)
	c.greet(theThird)
	c.comes(custody{secondToken, 2}, theFourth)
	denies := justBegun
	denies.custody = custody{token, 10}
	c.lasts(untilDoubted, map[int]message{theHolder: {kind: sent, custody: blamedFrom, member: at(theThird)}, theThird: denies})
	assert.True(t, c.inquests.excused.has(at(theThird), blamedFrom))
	assert.False(t, c.inquests.excused.has(at(theHolder), blamedFrom))
	assert.NotEqual(t, blame, c.told(thePasser, blame).kind)
}

// TestNewborn_HolderOfTheOtherHasHadItForLong_FreeSooner: a program that began when that token came is over, as the one
// says that passed it on. The maker's own word does not count.
func TestNewborn_HolderOfTheOtherHasHadItForLong_FreeSooner(t *testing.T) {
	other := custody{secondToken, 9}
	for _, test := range []struct {
		name  string
		maker int
		had   time.Duration
		is    bool
	}{
		{"for long", theMaker, lateAfter, true},
		{"not for long", theMaker, DefaultSilence, false},
		{"by the maker's word", thePasser, lateAfter, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			p := &eagerPolicy{}
			c.holder.inner = p
			taken := func() bool { return slices.Contains(p.told, policy.Arrival) }
			c.step(arrivalOf(newbornToken, 1000, test.maker))
			c.says(theHolder, message{kind: have, custody: other})
			c.blames(theMaker, other, theHolder, at(thePasser))
			c.says(thePasser, message{kind: proof, receipt: receiptOf(theHolder, other, true), span: millis(test.had)})
			c.lasts(DefaultSilence-time.Second, map[int]message{theHolder: {kind: have, custody: other}})
			require.False(t, taken())
			c.lasts(2*time.Second, map[int]message{theHolder: {kind: have, custody: other}})
			assert.Equal(t, test.is, taken())
		})
	}
}

// TestHolds_NobodyWaits_TimeBeginsAnew: a holder keeps a token rightly that nobody wants.
func TestHolds_NobodyWaits_TimeBeginsAnew(t *testing.T) {
	c := newCourt()
	for range 4 {
		c.says(theThird, message{kind: want})
		c.says(theHolder, message{kind: have, custody: blamedFrom})
		c.after(DefaultSilence / 2)
	}
	c.says(theThird, message{kind: have, custody: custody{secondToken, 1}}) // it has its turn
	for range 4 * restarts * lateAfter / DefaultSilence {
		c.says(theHolder, message{kind: have, custody: blamedFrom})
		c.after(DefaultSilence / 2)
	}
	c.says(theThird, message{kind: want})
	c.says(theHolder, message{kind: have, custody: blamedFrom})
	assert.False(t, c.struck(theHolder))
}

// TestInquest_LossesExplained_BarredTheSecondTime: P-81. A member may explain one loss without a proof. The same
// explanation counts once, so that nobody can use one restart against it twice.
func TestInquest_LossesExplained_BarredTheSecondTime(t *testing.T) {
	hops := []custody{{token, 9}, {secondToken, 9}}
	forgot := func(serial uint64) func(*court, custody) {
		return func(c *court, of custody) {
			for end := c.now.Add(untilDoubted + DefaultSilence); c.now < end; c.after(time.Second) {
				c.says(thePasser, message{kind: proof, receipt: receiptBefore(theHolder, of)})
				c.says(theHolder, message{kind: never, custody: of, span: millis(c.now.Sub(c.peers.greeted[at(theHolder)])), from: serial, next: takenAt + 1})
			}
		}
	}
	justNow := func(c *court, of custody) { // its connection lasts
		for end := c.now.Add(untilDoubted + DefaultSilence); c.now < end; c.after(time.Second) {
			c.says(thePasser, message{kind: sent, custody: custody{of.token, of.hop - 1}, member: at(theHolder), span: longAgoSent})
			c.says(theHolder, message{kind: never, custody: of, next: 1})
		}
	}
	for _, test := range []struct {
		name          string
		first, second func(*court, custody)
		is            bool
	}{
		{"restarts each time", func(c *court, of custody) { c.greet(theHolder); forgot(0)(c, of) }, func(c *court, of custody) { c.greet(theHolder); forgot(0)(c, of) }, true},
		{"has restarted once", func(c *court, of custody) { c.greet(theHolder); forgot(0)(c, of) }, forgot(0), false},
		{"has just begun each time", justNow, justNow, true},
		{"has sent them to one that is dead", func(c *court, of custody) {
			c.says(theHolder, message{kind: sent, custody: of, member: at(theThird)})
		}, func(c *court, of custody) {
			c.says(theHolder, message{kind: sent, custody: of, member: at(theThird)})
			c.after(2*DefaultSilence + time.Second)
		}, true},
		{"has sent them to one that is back", func(c *court, of custody) {
			c.says(theHolder, message{kind: sent, custody: of, member: at(theThird)})
			c.after(2*DefaultSilence + time.Second)
			c.says(theThird, message{kind: want})
		}, func(c *court, of custody) {
			c.says(theHolder, message{kind: sent, custody: of, member: at(theThird)})
			c.after(2*DefaultSilence + time.Second)
		}, false},
		{"has dropped them for tokens that do not circulate", func(c *court, of custody) {
			c.says(theHolder, message{kind: instead, custody: of, member: at(theThird), other: custody{ident.Token{8}, 4}})
			c.says(theThird, message{kind: proof, receipt: receiptOf(theHolder, custody{ident.Token{8}, 4}, true)})
		}, func(c *court, of custody) {
			c.says(theHolder, message{kind: instead, custody: of, member: at(theThird), other: custody{ident.Token{8}, 4}})
			c.says(theThird, message{kind: proof, receipt: receiptOf(theHolder, custody{ident.Token{8}, 4}, true)})
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			for i, explain := range []func(*court, custody){test.first, test.second} {
				require.False(t, c.isBarred(theHolder))
				c.blames(theBlamer, hops[i], theHolder, at(thePasser))
				explain(c, hops[i])
				c.after(DefaultSilence)
			}
			assert.Equal(t, test.is, c.isBarred(theHolder))
			assert.False(t, c.struck(theHolder))
			assert.False(t, c.isBarred(thePasser))
			c.after(pauseTimes * lateAfter)
			assert.False(t, c.isBarred(theHolder))
		})
	}
}

// TestInquest_OwnTransferUnanswered_NextTokenGoesElsewhere: X-50. The next token may come before the
// answer to the transfer of the lost one is due.
func TestInquest_OwnTransferUnanswered_NextTokenGoesElsewhere(t *testing.T) {
	c := newCourt()
	c.passes(custody{token, 8}, theHolder)
	require.Equal(t, at(theHolder), c.passedTo())
	c.passes(custody{secondToken, 2}, theHolder)
	assert.Equal(t, ident.Member{}, c.passedTo())
	assert.Contains(t, c.shunned(), theHolder)
	c.passes(custody{secondToken, 4}, theThird)
	assert.Equal(t, at(theThird), c.passedTo())
}

// TestInquest_OwnTransferDeniedTooEarly_CountsNothing: nothing counts before the answer is due.
func TestInquest_OwnTransferDeniedTooEarly_CountsNothing(t *testing.T) {
	c := newCourt()
	c.passes(custody{token, 8}, theHolder)
	c.comes(custody{secondToken, 2}, theThird)
	says := anHourAgo
	says.custody = blamedFrom
	c.says(theHolder, says)
	assert.False(t, c.isBarred(theHolder))
	c.after(DefaultSilence)
	require.False(t, c.asks(theHolder, blamedFrom))
	c.after(c.retry)
	require.True(t, c.asks(theHolder, blamedFrom))
	c.says(theHolder, says)
	assert.False(t, c.isBarred(theHolder), "the transfer may come yet")
	c.lasts(untilDoubted, map[int]message{theHolder: anHourAgo})
	assert.True(t, c.isBarred(theHolder))
}

// TestInquest_SaysItHasIt_ShunnedAtOnce: it may have accepted the token that is here, which the member would then
// pass to it as to any other one.
func TestInquest_SaysItHasIt_ShunnedAtOnce(t *testing.T) {
	c := newCourt()
	c.accuses()
	c.did = nil
	c.says(theHolder, message{kind: still, custody: blamedFrom})
	assert.Contains(t, c.shunned(), theHolder)
	c.did = nil
	c.says(theHolder, message{kind: still, custody: blamedFrom})
	assert.Empty(t, c.shunned(), "it is already")
}

// TestInquest_OwnPassWithReceipt_NotAvoided: others may have lost that token.
func TestInquest_OwnPassWithReceipt_NotAvoided(t *testing.T) {
	c := newCourt()
	c.passes(custody{token, 8}, theHolder)
	c.delivered(custody{token, 8}, theHolder, true)
	c.passes(custody{secondToken, 2}, theHolder)
	assert.Equal(t, at(theHolder), c.passedTo())
	c.lasts(3*time.Second, map[int]message{theHolder: anHourAgo})
	assert.True(t, c.struck(theHolder))
}

// TestInquest_SentWhileMoving_CountsNothing: X-48.
func TestInquest_SentWhileMoving_CountsNothing(t *testing.T) {
	c := newCourt()
	c.doubts(secondToken, theHolder, thePasser)
	c.blames(theBlamer, blamedFrom, theHolder, ident.Member{})
	c.lasts(2*time.Second, map[int]message{theHolder: {kind: sent, member: at(theThird), span: 100}, theThird: anHourAgo})
	assert.False(t, c.asks(theThird, custody{token, 10}))
	assert.False(t, c.struck(theHolder))
	c.lasts(untilDoubted, map[int]message{theHolder: {kind: sent, member: at(theThird), span: 4_100}, theThird: anHourAgo})
	assert.True(t, c.struck(theHolder))
}

// TestInquest_SentToThisMember_BarredIfNoneComes: the transfer may have been lost each time, so that nobody is struck.
func TestInquest_SentToThisMember_BarredIfNoneComes(t *testing.T) {
	here := map[int]message{theHolder: {kind: sent, member: at(theSelf), span: 5_000}}
	for _, test := range []struct {
		name   string
		before func(*court)
		is     bool
	}{
		{"none came", func(*court) {}, true},
		{"cut since", func(c *court) { c.greet(theHolder) }, false},
		{"it is here", func(c *court) { c.comes(custody{token, 10}, theHolder) }, false},
		{"it was here", func(c *court) {
			c.passes(custody{token, 10}, theThird)
			c.delivered(custody{token, 10}, theThird, true)
		}, false},
		{"an earlier life may have had it", func(*court) { here[theHolder] = message{kind: sent, member: at(theSelf), span: 4_000_000} }, false},
		{"and nobody says when", func(*court) { here[theHolder] = message{kind: sent, member: at(theSelf)} }, false},
		{"an earlier life cannot have had it", func(*court) { here[theHolder] = message{kind: sent, member: at(theSelf), span: 5_000} }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			test.before(c)
			c.blames(theBlamer, blamedFrom, theHolder, ident.Member{})
			c.lasts(time.Second, here)
			require.False(t, c.isBarred(theHolder), "it may come yet")
			c.lasts(4*DefaultSilence, here)
			assert.Equal(t, test.is, c.isBarred(theHolder))
			assert.False(t, c.struck(theHolder))
		})
	}
}

// TestInquest_InsteadAfterLate_BarredAsLongAsStruck: a member that has kept a token for too long drops it for one that
// nobody confirms, before it has said often enough that it has the token.
func TestInquest_InsteadAfterLate_BarredAsLongAsStruck(t *testing.T) {
	for _, late := range []bool{false, true} {
		c := newCourt()
		c.wants(true)
		c.accuses()
		stays := map[int]message{theHolder: {kind: still}}
		c.lasts(time.Second, stays)
		if late {
			c.lasts(lateAfter+DefaultSilence, stays)
		}
		instead := message{kind: instead, custody: blamedFrom, member: at(theThird), other: custody{secondToken, 5}}
		c.lasts(lateAfter, map[int]message{theHolder: instead, theThird: {kind: never, custody: custody{secondToken, 4}, span: millis(time.Hour)}})
		require.True(t, c.isBarred(theHolder))
		assert.False(t, c.struck(theHolder))
		assert.Equal(t, late, c.barred.left(at(theHolder), c.now) > excuseTimes*c.holder.overdue())
	}
}

// TestInquest_Instead_AvoidedUnlessConfirmed: who drops a token for another one has got that one from
// a member, which says so.
func TestInquest_Instead_AvoidedUnlessConfirmed(t *testing.T) {
	other := custody{secondToken, 5}
	from := custody{secondToken, 4}
	for _, test := range []struct {
		name    string
		instead message
		says    message
		receipt bool // of theHolder for the first token
		barred  bool
	}{
		{"proved", message{member: at(theThird), other: other}, message{kind: proof, receipt: receiptOf(theHolder, other, true)}, false, false},
		{"confirmed", message{member: at(theThird), other: other}, message{kind: sent, custody: from, member: at(theHolder)}, false, false},
		{"it went to another one", message{member: at(theThird), other: other}, message{kind: sent, custody: from, member: at(theFourth)}, false, true},
		{"denied", message{member: at(theThird), other: other}, message{kind: never, custody: from, span: millis(time.Hour)}, false, true},
		{"forgotten in a restart", message{member: at(theThird), other: other}, message{kind: never, custody: from, span: 100}, false, false},
		{"forgotten after later passes", message{member: at(theThird), other: other}, message{kind: proof, receipt: receiptOf(theFourth, custody{secondToken, 9}, true)}, false, false},
		{"forgotten after later passes without a receipt", message{member: at(theThird), other: other}, message{kind: sent, custody: custody{secondToken, 8}, member: at(theFourth)}, false, false},
		{"refuted", message{member: at(theThird), other: other}, message{kind: proof, receipt: receiptOf(theFourth, other, true)}, false, true},
		{"refuted before it is known that it had the token", message{member: at(theThird), other: other}, message{kind: proof, receipt: receiptOf(theFourth, other, true)}, true, true},
		{"of another token", message{member: at(theThird), other: other}, message{kind: proof, receipt: receiptOf(theHolder, custody{thirdToken, 5}, true)}, false, true},
		{"of an earlier custody", message{member: at(theThird), other: other}, message{kind: proof, receipt: receiptOf(theHolder, custody{secondToken, 4}, true)}, false, true},
		{"unconfirmed", message{member: at(theThird), other: other}, message{kind: have, custody: other}, false, true},
		{"from nobody", message{}, message{kind: have}, false, true},
		{"from itself", message{member: at(theHolder), other: other}, message{kind: have}, false, true},
		{"made by somebody", message{member: at(theThird), other: custody{secondToken, 0}}, message{kind: have}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			c.accuses()
			test.instead.kind, test.instead.custody = instead, blamedFrom
			answers := map[int]message{theHolder: test.instead, theThird: test.says}
			if test.receipt {
				c.lasts(2*time.Second, answers)
				answers[thePasser] = message{kind: proof, receipt: receiptOf(theHolder, blamedFrom, true)}
			}
			c.lasts(lateAfter+longHold+2*time.Second, answers)
			assert.False(t, c.struck(theHolder), "the other one may lie")
			assert.Equal(t, test.barred, c.inquests.isAvoided(at(theHolder)))
			assert.Equal(t, test.barred, c.isBarred(theHolder))
			assert.False(t, c.struck(theThird))
			if test.barred {
				assert.Equal(t, map[int]bool{theHolder: false}, c.shunned(), "nothing is reported")
			}
			assert.False(t, c.isOpen(blamedFrom))
		})
	}
}

// TestInquest_InsteadAnsweredLate_EarlierCustodyTellsNothing: the answer may be one to an earlier question.
func TestInquest_InsteadAnsweredLate_EarlierCustodyTellsNothing(t *testing.T) {
	c := newCourt()
	c.accuses()
	c.says(theHolder, message{kind: instead, custody: blamedFrom, member: at(theThird), other: custody{secondToken, 5}})
	c.says(theThird, message{kind: proof, receipt: receiptOf(theFourth, custody{secondToken, 4}, true)})
	require.True(t, c.isOpen(blamedFrom))
	c.says(theThird, message{kind: proof, receipt: receiptOf(theHolder, custody{secondToken, 5}, true)})
	assert.False(t, c.inquests.isAvoided(at(theHolder)))
	assert.False(t, c.isOpen(blamedFrom))
}

// TestInquest_InsteadDenied_AvoidedAtOnce: nothing more is to be known.
func TestInquest_InsteadDenied_AvoidedAtOnce(t *testing.T) {
	other := custody{secondToken, 5}
	for _, m := range []message{{}, {member: at(theHolder), other: other}, {member: at(theThird), other: custody{secondToken, 0}}, {member: at(theThird), other: other}} {
		c := newCourt()
		c.accuses()
		m.kind, m.custody = instead, blamedFrom
		c.says(theHolder, m)
		c.says(theThird, message{kind: never, custody: other})
		c.says(theThird, message{kind: never, custody: custody{secondToken, 4}, span: millis(time.Hour)})
		assert.True(t, c.isBarred(theHolder))
		assert.False(t, c.isOpen(blamedFrom))
	}
}

// TestInquest_InsteadFromThisMember_ItKnows: whether it has passed the other token to that one.
func TestInquest_InsteadFromThisMember_ItKnows(t *testing.T) {
	for _, to := range []int{theHolder, theThird} {
		c := newCourt()
		c.passes(custody{secondToken, 4}, to)
		c.delivered(custody{secondToken, 4}, to, true)
		c.accuses()
		c.lasts(3*time.Second, map[int]message{
			theHolder: {kind: instead, member: at(theSelf), other: custody{secondToken, 5}},
			thePasser: {kind: sent, custody: custody{token, 8}, member: at(theHolder)},
		})
		assert.Equal(t, to == theThird, c.inquests.isAvoided(at(theHolder)))
		assert.False(t, c.isOpen(blamedFrom))
	}
}

// TestInquest_InsteadFromOneThatRestarted_NotAvoided: that one does not know it any more.
func TestInquest_InsteadFromOneThatRestarted_NotAvoided(t *testing.T) {
	c := newCourt()
	c.greet(theThird)
	c.accuses()
	c.lasts(3*time.Second, map[int]message{
		theHolder: {kind: instead, member: at(theThird), other: custody{secondToken, 5}},
		theThird:  {kind: proof, receipt: receiptOf(theFourth, custody{secondToken, 9}, true)},
	})
	assert.False(t, c.inquests.isAvoided(at(theHolder)))
}

// TestInquest_InsteadAfterCut_NotAvoided: what it dropped the token for may be in the other part.
func TestInquest_InsteadAfterCut_NotAvoided(t *testing.T) {
	c := newCourt()
	c.greet(theHolder)
	c.accuses()
	c.lasts(time.Second, map[int]message{theHolder: {kind: instead}})
	assert.False(t, c.inquests.isAvoided(at(theHolder)))
	assert.False(t, c.isOpen(blamedFrom))
}

// TestInquest_Proof_ClearsOnlyIfItWentOn: X-47.
func TestInquest_Proof_ClearsOnlyIfItWentOn(t *testing.T) {
	for _, test := range []struct {
		name    string
		receipt []byte
		is      bool
	}{
		{"of the next custody", receiptOf(theThird, custody{token, 10}, true), true},
		{"of a later one", receiptOf(theThird, custody{token, 14}, false), true},
		{"of this one", receiptOf(theThird, blamedFrom, true), false},
		{"of another token", receiptOf(theThird, custody{secondToken, 10}, true), false},
		{"of itself", receiptOf(theHolder, custody{token, 10}, true), false},
		{"unverifiable", receiptOf(theThird, custody{token, 10}, true)[1:], false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			c.accuses()
			c.says(theHolder, message{kind: proof, receipt: test.receipt})
			assert.Equal(t, !test.is, c.isOpen(blamedFrom))
		})
	}
}

// TestInquest_Sent_NextHolderAnswers: X-47. The member that it was sent to is asked then.
func TestInquest_Sent_NextHolderAnswers(t *testing.T) {
	for _, test := range []struct {
		name string
		says message
		over bool
	}{
		{"it has it", message{kind: still, custody: custody{token, 10}}, true},
		{"it has sent it on", message{kind: sent, custody: custody{token, 10}, member: at(theFourth)}, true},
		{"it has a receipt", message{kind: proof, receipt: receiptOf(theFourth, custody{token, 11}, true)}, true},
		{"it says something else", message{kind: have, custody: custody{secondToken, 10}}, false},
		{"it speaks of another token", message{kind: still, custody: custody{secondToken, 10}}, false},
		{"it denies another custody", message{kind: never, custody: custody{token, 9}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			c.accuses()
			c.says(theHolder, message{kind: sent, custody: blamedFrom, member: at(theThird)})
			require.True(t, c.asks(theThird, custody{token, 10}))
			c.says(theThird, test.says)
			assert.Equal(t, !test.over, c.isOpen(blamedFrom))
			assert.False(t, c.struck(theHolder))
			assert.Empty(t, c.inquests.doubts)
		})
	}
}

// TestInquest_SentLaterCustody_ReceiverAskedAboutThatOne: the one that it was blamed for went on, and
// came back. The receiver has never had the custody after it.
func TestInquest_SentLaterCustody_ReceiverAskedAboutThatOne(t *testing.T) {
	c := newCourt()
	c.accuses()
	c.says(theHolder, message{kind: sent, custody: custody{token, 12}, member: at(theThird)})
	require.True(t, c.asks(theThird, custody{token, 13}))
	c.says(theThird, message{kind: never, custody: custody{token, 10}})
	assert.Empty(t, c.inquests.doubts)
	c.lasts(untilDoubted, map[int]message{
		theHolder: {kind: sent, custody: custody{token, 12}, member: at(theThird)},
		theThird:  {kind: never, custody: custody{token, 13}, span: anHourAgo.span},
	})
	assert.Len(t, c.inquests.doubts, 1)
}

// TestInquest_DeniedTransferComesLate_NoDoubt: several messages in a row were lost. Who has denied the
// custody before has got the token since.
func TestInquest_DeniedTransferComesLate_NoDoubt(t *testing.T) {
	const late = denialTimes*DefaultSilence - 2*time.Second
	has := message{kind: still, custody: blamedFrom}
	t.Run("own", func(t *testing.T) {
		c := newCourt()
		c.passes(custody{token, 8}, theHolder)
		c.after(DefaultSilence + c.retry)
		c.comes(custody{secondToken, 2}, theThird)
		c.lasts(late, map[int]message{theHolder: justBegun})
		c.delivered(custody{token, 8}, theHolder, true)
		c.lasts(DefaultSilence, map[int]message{theHolder: has})
		assert.False(t, c.isBarred(theHolder))
		assert.False(t, c.struck(theHolder))
	})
	t.Run("another one's", func(t *testing.T) {
		c := newCourt()
		c.accuses()
		sends := message{kind: sent, custody: custody{token, 8}, member: at(theHolder), span: 5_000}
		c.lasts(late, map[int]message{theHolder: justBegun, thePasser: sends})
		c.lasts(DefaultSilence, map[int]message{theHolder: has, thePasser: sends})
		assert.Empty(t, c.inquests.doubts)
	})
}

// TestInquest_SentNonsense_NoAnswer: to itself, to nobody, or an earlier custody.
func TestInquest_SentNonsense_NoAnswer(t *testing.T) {
	for _, m := range []message{
		{kind: sent, custody: blamedFrom, member: at(theHolder)}, {kind: sent, custody: blamedFrom},
		{kind: sent, custody: custody{token, 8}, member: at(theThird)}, {kind: sent, custody: custody{secondToken, 9}, member: at(theThird)},
	} {
		c := newCourt()
		c.accuses()
		c.lasts(2*time.Second, map[int]message{theHolder: m})
		assert.True(t, c.inquests.isAvoided(at(theHolder)))
		assert.False(t, c.inquests.open[0].answered)
	}
}

// TestInquest_NoAnswer_ShunnedAndAskedWhenItSpeaks: who is asleep, or dead, is not struck. It is asked
// once more when it says anything, or connects.
func TestInquest_NoAnswer_ShunnedAndAskedWhenItSpeaks(t *testing.T) {
	for name, speaks := range map[string]func(*court){
		"speaks":   func(c *court) { c.says(theHolder, message{kind: want}) },
		"connects": func(c *court) { c.greet(theHolder); c.step(policy.Event{Kind: policy.Timer}) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourt()
			c.accuses()
			c.after(c.retry)
			assert.True(t, c.inquests.isAvoided(at(theHolder)))
			c.after(2 * DefaultSilence)
			require.Equal(t, map[int]bool{theHolder: false}, c.shunned())
			require.True(t, c.asks(theHolder, blamedFrom))
			c.after(time.Hour)
			require.False(t, c.asks(theHolder, blamedFrom))
			require.Contains(t, c.shunned(), theHolder)
			assert.False(t, c.struck(theHolder))
			speaks(c)
			require.True(t, c.asks(theHolder, blamedFrom))
			c.did = nil
			c.says(theHolder, message{kind: proof, receipt: receiptOf(theThird, custody{token, 10}, true)})
			assert.False(t, c.inquests.isAvoided(at(theHolder)))
			assert.Contains(t, c.did, policy.Action{Kind: policy.Shun, To: at(theHolder), At: c.now}, "it is over")
		})
	}
}

// TestInquest_StillHasIt_ShunnedUntilAskedAgain: nothing is passed to a holder that says that it has the token, until it
// has been asked again, even if this member's next step is late. The policy may pass a token in that step
// before the inquest is looked at.
func TestInquest_StillHasIt_ShunnedUntilAskedAgain(t *testing.T) {
	c := newCourt()
	c.wants(true)
	c.accuses()
	until := func() (end clock.Instant) {
		for _, a := range c.did {
			if a.Kind == policy.Shun && a.To == at(theHolder) {
				end = a.At
			}
		}
		return end
	}
	for range 3 {
		c.says(theHolder, message{kind: still, custody: blamedFrom})
		c.after(c.retry)
		late := c.inquests.open.deadline().Add(c.silence)
		require.Greater(t, until(), late)
		c.after(c.inquests.open.deadline().Sub(c.now))
	}
}

// TestInquest_NeverAnswers_GivenUp: after strikeTimes.
func TestInquest_NeverAnswers_GivenUp(t *testing.T) {
	c := newCourt()
	c.accuses()
	c.after(struckFor + 10*DefaultSilence)
	assert.False(t, c.isOpen(blamedFrom))
	assert.False(t, c.inquests.isAvoided(at(theHolder)))
	assert.Empty(t, c.shunned())
	assert.Equal(t, clock.Never, c.inquests.open.deadline())
}

// TestBlamed_Liar_Bounded: who blames without a reason costs little.
func TestBlamed_Liar_Bounded(t *testing.T) {
	c := newCourt()
	open := func() int { return len(c.inquests.open) }
	c.blames(theBlamer, custody{token, 1}, theHolder, ident.Member{})
	assert.Zero(t, open(), "a token may be dropped at its first hop")
	c.blames(theBlamer, custody{token, 2}, theSelf, ident.Member{})
	c.after(DefaultSilence)
	assert.Zero(t, open(), "it knows itself")
	c.blames(theBlamer, custody{token, 2}, theHolder, ident.Member{})
	c.blames(theBlamer, custody{token, 3}, theHolder, ident.Member{})
	assert.Equal(t, 1, open(), "a member is heard once in L")
	c.blames(theThird, custody{token, 2}, theHolder, ident.Member{})
	assert.Equal(t, 1, open(), "it is the same")
	c.after(DefaultSilence)
	c.blames(theBlamer, custody{token, 3}, theHolder, ident.Member{})
	assert.Equal(t, 2, open())
	for i := range 3 * maxInquests {
		c.blames(10+i, custody{token, uint64(i + 10)}, 60+i, ident.Member{})
	}
	assert.Len(t, c.inquests.open, maxInquests)
	assert.Len(t, c.inquests.blamed, maxInquests)
	assert.False(t, c.isOpen(custody{token, 10 + 2*maxInquests}), "all of them are not heard more often")
}

// TestBlamed_LargeGroup_AskedOneAfterTheOther: those that are blamed are not dialled by all at once.
func TestBlamed_LargeGroup_AskedOneAfterTheOther(t *testing.T) {
	c := newCourt()
	for i := range 1000 {
		c.order = append(c.order, ident.Member{9, byte(i), byte(i >> 8)})
	}
	c.self = ident.Member{0, 100}
	c.accuses()
	wait := 100 * spreadInquests
	assert.False(t, c.asks(theHolder, blamedFrom))
	c.after(wait - 1)
	assert.False(t, c.asks(theHolder, blamedFrom))
	c.after(1)
	assert.True(t, c.asks(theHolder, blamedFrom))
}

// TestOpens_NotExclusive_NobodyGivesAccount: several tokens are right there.
func TestOpens_NotExclusive_NobodyGivesAccount(t *testing.T) {
	l := newLoneIn(false, policy.Surroundings{Receipt: readReceipt})
	l.says(theBlamer, message{kind: blame, custody: blamedFrom, member: at(theHolder)})
	assert.Empty(t, l.inquests.open)
}

// search has the token be lost and replaced by this member, as the keeper. The holder answers or not.
func (c *court) replacesToken(answers ...int) {
	c.says(theHolder, message{kind: have, custody: blamedFrom})
	c.says(thePasser, message{kind: want})
	for waited := time.Duration(0); !c.done(policy.Generate); waited += time.Second {
		if waited > 3*longHold {
			return
		}
		for i := range c.order {
			if slices.Contains(answers, i) {
				c.says(i, knowsNone)
			}
		}
		c.after(time.Second)
	}
}

// TestAccuses_KeeperMakesToken_BlamesOnlyIfHolderAnswered: X-46. If it has died, nothing follows.
func TestAccuses_KeeperMakesToken_BlamesOnlyIfHolderAnswered(t *testing.T) {
	for _, lives := range []bool{false, true} {
		c := newCourt()
		all := []int{thePasser, theDead, theBlamer, theThird, theFourth}
		if lives {
			all = append(all, theHolder)
		}
		c.replacesToken(all...)
		require.True(t, c.done(policy.Generate))
		var m message
		told := slices.ContainsFunc(c.did, func(a policy.Action) bool {
			return a.Kind == policy.Tell && parse(a.Field, &m) && m.kind == blame && a.Question && a.To == at(theFourth)
		})
		assert.Equal(t, lives, told)
		assert.Equal(t, lives, c.isOpen(blamedFrom))
		if lives {
			assert.Equal(t, blamedFrom, m.custody)
			assert.Equal(t, at(theHolder), m.member)
			assert.NotEqual(t, blame, c.told(theHolder, blame).kind, "itself")
		}
	}
}

// TestHolds_TokenStays_HolderToldOnceAndAsked: X-47. The holder is told that somebody waits, and has
// to give account.
func TestHolds_TokenStays_HolderToldOnceAndAsked(t *testing.T) {
	for _, test := range []struct {
		name  string
		waits bool
		for_  time.Duration
		says  kind
		open  bool
		is    bool
	}{
		{"nobody waits", false, 4 * restarts * lateAfter, 0, false, false},
		{"shortly", true, DefaultSilence - time.Second, 0, false, false},
		{"longer than L", true, 2 * DefaultSilence, 0, true, false},
		{"gives no account for a while", true, restarts*lateAfter - time.Second, 0, true, false},
		{"gives no account", true, restarts*lateAfter + 3*DefaultSilence, 0, true, true},
		{"has it for a while", true, lateAfter, still, true, false},
		{"keeps it", true, lateAfter + 4*DefaultSilence, still, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			for end := c.now.Add(test.for_); c.now < end; c.after(time.Second) {
				if test.waits {
					c.says(theThird, message{kind: want})
				}
				c.says(theHolder, message{kind: have, custody: blamedFrom})
				if test.says != 0 && len(c.questions(theHolder)) > 0 {
					c.says(theHolder, message{kind: test.says, custody: blamedFrom})
				}
			}
			assert.Equal(t, test.is, c.struck(theHolder))
			if !test.is {
				assert.Equal(t, test.open, c.isOpen(blamedFrom))
			}
			if test.says != 0 && !test.is {
				assert.False(t, c.inquests.isAvoided(at(theHolder)), "it may be busy")
			}
			assert.False(t, c.struck(theThird))
		})
	}
}

// TestHolds_TokenIsLost_StillCountsAtOnce: P-80. Who keeps a token may be busy as long as that is the group's. A member that
// knows already who has it hears no less of its loss than others, and passes that one no other token.
func TestHolds_TokenIsLost_StillCountsAtOnce(t *testing.T) {
	for _, test := range []struct {
		name  string
		then  func(*court)
		is    bool
		shows bool
	}{
		{"nobody says so", func(*court) {}, false, false},
		{"a member says so", (*court).accuses, true, false},
		{"a member says so of another custody", func(c *court) { c.blames(theBlamer, custody{token, 11}, theHolder, at(thePasser)) }, false, false},
		{"another token comes", func(c *court) { c.comes(custody{secondToken, 4}, theThird) }, true, false},
		{"and it shows that it has passed it on", (*court).accuses, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			for end := c.now.Add(2 * DefaultSilence); c.now < end; c.after(time.Second) {
				c.says(theThird, message{kind: want})
				c.says(theHolder, message{kind: have, custody: blamedFrom})
				if len(c.questions(theHolder)) > 0 {
					c.says(theHolder, message{kind: still, custody: blamedFrom})
				}
			}
			require.True(t, c.isOpen(blamedFrom))
			require.False(t, c.inquests.isAvoided(at(theHolder)))
			c.did = nil
			test.then(c)
			if test.shows {
				c.says(theHolder, message{kind: proof, receipt: receiptOf(theThird, custody{token, 10}, true)})
			}
			assert.Equal(t, test.is, c.inquests.isAvoided(at(theHolder)))
			assert.Equal(t, test.is, len(c.shunned()) > 0)
			assert.False(t, c.struck(theHolder))
		})
	}
}

// TestHolds_TokenMoves_NobodyAsked: each holder has the time anew.
func TestHolds_TokenMoves_NobodyAsked(t *testing.T) {
	c := newCourt()
	for hop := range uint64(30) {
		c.says(theThird, message{kind: want})
		c.says(theHolder+int(hop)%2, message{kind: have, custody: custody{token, hop}})
		c.after(DefaultSilence / 2)
	}
	assert.Empty(t, c.inquests.open)
}

// TestHolds_OtherTokenEachTime_StruckIfNoAccount: X-47. One that keeps a token may say each time that it
// has another one. Of one that passes them on, an account of the one that it was asked about is enough.
func TestHolds_OtherTokenEachTime_StruckIfNoAccount(t *testing.T) {
	for _, test := range []struct {
		name  string
		gives bool
	}{{"passes them on", true}, {"says nothing of any", false}} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			asked := false
			id := byte(0)
			for end := c.now.Add(restarts*lateAfter + 3*DefaultSilence); c.now < end; c.after(DefaultSilence / 2) {
				id++
				c.says(theThird, message{kind: want})
				c.says(theHolder, message{kind: have, custody: custody{ident.Token{id}, 5}})
				for _, of := range c.questions(theHolder) {
					asked = true
					if test.gives {
						c.says(theHolder, message{kind: proof, receipt: receiptOf(theThird, custody{of.token, of.hop + 1}, true)})
						c.says(theThird, message{kind: have, custody: custody{of.token, of.hop + 1}})
					}
				}
			}
			assert.True(t, asked)
			assert.Equal(t, !test.gives, c.struck(theHolder))
		})
	}
}

// TestHolds_HolderWasAsleep_GivenUpIfForLong: it has given account, and is late when it wakes up. One
// that answers now and then is given up for a while, and not reported. The others are told, unless it has made the token.
func TestHolds_HolderWasAsleep_GivenUpIfForLong(t *testing.T) {
	for _, test := range []struct {
		name   string
		of     custody
		sleeps time.Duration
		is     bool
	}{
		{"shortly", blamedFrom, lateAfter, false},
		{"for long", blamedFrom, restarts * lateAfter, true},
		{"with a token that it has made", custody{token, 0}, restarts * lateAfter, false},
		{"with a token that it has made, for very long", custody{token, 0}, wrongClock * lateAfter, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			has := func(d time.Duration) {
				for end := c.now.Add(d); c.now < end; c.after(time.Second) {
					c.says(theThird, message{kind: want})
					c.says(theHolder, message{kind: have, custody: test.of})
					if len(c.questions(theHolder)) > 0 {
						c.says(theHolder, message{kind: still, custody: test.of})
					}
				}
			}
			has(3 * DefaultSilence)
			require.True(t, c.isOpen(test.of))
			c.after(test.sleeps)
			c.did = nil
			has(2*DefaultSilence - time.Second)
			assert.Equal(t, test.is, c.struck(theHolder))
			assert.False(t, c.shunned()[theHolder], "nothing is reported")
			assert.Equal(t, test.is && test.of.hop > 0, c.told(theThird, blame).kind == blame)
			c.after(muteTime)
			assert.False(t, c.struck(theHolder))
		})
	}
}

// laggardPause is from one account to the next of a member that gives them too seldom to be late soon.
const laggardPause = 10 * DefaultSilence

// TestHolds_HolderIsBarred_GivenUpSooner: P-74. It has been found out before, and now keeps a token, of which it gives account now
// and then. It is not taken for the keeper as long as it is barred. One that gives no account is struck, and not sooner than others.
func TestHolds_HolderIsBarred_GivenUpSooner(t *testing.T) {
	const barTimes = 32
	for _, test := range []struct {
		name   string
		barred bool
		of     custody
		gives  time.Duration // from one account to the next
		struck bool
		after  time.Duration // it was told that others wait
	}{
		{"not barred", false, blamedFrom, laggardPause, false, restarts * lateAfter},
		{"barred", true, blamedFrom, laggardPause, false, lateAfter + 2*DefaultSilence},
		{"barred, and gives no account", true, blamedFrom, time.Hour, true, restarts * lateAfter},
		{"barred, with a token that it has made", true, custody{token, 0}, laggardPause, false, restarts * lateAfter},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			c.anew()
			if test.barred {
				c.inquests.bar(at(theHolder), custody{thirdToken, 9}, barTimes, policy.Unconfirmed)
			}
			told, gave := clock.Never, c.now
			if test.gives == time.Hour {
				gave = clock.Never
			}
			for ; !c.struck(theHolder); c.after(time.Second) {
				c.says(theThird, message{kind: want})
				c.says(theHolder, message{kind: have, custody: test.of})
				if told == clock.Never && c.asked(theHolder) {
					told = c.now
				}
				if len(c.questions(theHolder)) > 0 && c.now >= gave { // too seldom to be late
					c.says(theHolder, message{kind: still, custody: test.of})
					gave = c.now.Add(test.gives)
				}
				require.Less(t, c.now.Sub(told), 2*test.after)
			}
			assert.InDelta(t, test.after.Seconds(), c.now.Sub(told).Seconds(), 2*DefaultSilence.Seconds())
			left := c.inquests.struck.left(at(theHolder), c.now)
			switch {
			case test.struck:
				assert.Greater(t, left, struckFor/2)
			case test.barred && test.of.hop > 0:
				assert.InDelta(t, c.barred.left(at(theHolder), c.now).Seconds(), left.Seconds(), 1)
			default:
				assert.LessOrEqual(t, left, muteTime)
			}
		})
	}
}

// TestInquest_StillHasLostToken_BarredInTheEnd: P-74. A member that says too seldom that it has a token to be late passes it on in
// the end, or is passed no other one: for as long as it says so, and beyond a restart of this member.
func TestInquest_StillHasLostToken_BarredInTheEnd(t *testing.T) {
	for _, test := range []struct {
		name  string
		of    custody
		lost  bool
		wants bool
		until time.Duration
		is    bool
	}{
		{"for a while", blamedFrom, true, true, restarts*lateAfter - time.Second, false},
		{"for long", blamedFrom, true, true, restarts*lateAfter + 2*laggardPause, true},
		{"for long, and is not missed", blamedFrom, true, false, 2 * restarts * lateAfter, false},
		{"for long, of a token that is not lost", blamedFrom, false, true, restarts*lateAfter + 2*laggardPause, false},
		{"for long, of a token that it has made", custody{token, 0}, true, true, 2 * restarts * lateAfter, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			c.anew()
			c.wants(test.wants)
			i := about(test.of, at(theHolder), at(thePasser), c.now)
			i.there = !test.lost
			c.inquests.opens(i)
			for end := c.now.Add(test.until); c.now < end; c.after(laggardPause) {
				c.says(theHolder, message{kind: still, custody: test.of})
			}
			assert.Equal(t, test.is, c.isBarred(theHolder))
			assert.False(t, c.struck(theHolder))
			c.anew()
			written := slices.ContainsFunc(c.did, func(a policy.Action) bool { return a.Kind == policy.Complain && a.Measure == policy.Barred })
			assert.Equal(t, test.is, written)
		})
	}
}

// TestHolds_ThisMemberRefusesIt_TakesItFirst: P-69, 8. A member that has made a token cannot pass it on where the others
// back off from it. Each takes that one before it gives its maker up, and has no other one made meanwhile.
func TestHolds_ThisMemberRefusesIt_TakesItFirst(t *testing.T) {
	c := newCourt()
	kept := custody{token, 0}
	has := func(d time.Duration) {
		for end := c.now.Add(d); c.now < end && !c.struck(theHolder); c.after(time.Second) {
			c.says(theThird, message{kind: want})
			c.says(theHolder, message{kind: have, custody: kept})
			if len(c.questions(theHolder)) > 0 {
				c.says(theHolder, message{kind: still, custody: kept})
			}
		}
	}
	c.newborn.backoffs.note(at(theHolder), c.now, maxBackoff)
	require.False(t, c.Admits(c.now, policy.Token{Generator: at(theHolder)}))
	has(lateAfter + 5*DefaultSilence)
	assert.True(t, c.Admits(c.now, policy.Token{Generator: at(theHolder)}))
	assert.False(t, c.struck(theHolder))
	has(2 * wrongClock * lateAfter)
	assert.True(t, c.struck(theHolder), "it did not pass it on then either")
}

// TestHolds_HolderWasDead_TimeBeginsAnew: one that returns has first to find out whether it may go on,
// and gives no account meanwhile (P-55). One that returns again and again is given up.
func TestHolds_HolderWasDead_TimeBeginsAnew(t *testing.T) {
	c := newCourt()
	has := func(d time.Duration) {
		for end := c.now.Add(d); c.now < end && !c.struck(theHolder); c.after(time.Second) {
			c.says(theThird, message{kind: want})
			c.says(theHolder, message{kind: returned, custody: blamedFrom})
		}
	}
	has(2 * DefaultSilence)
	for range restarts {
		c.after(2 * restarts * lateAfter)
		c.greet(theHolder)
		has(restarts*lateAfter - 2*time.Second)
		require.False(t, c.struck(theHolder))
	}
	c.after(2 * restarts * lateAfter)
	c.greet(theHolder)
	c.did = nil
	has(2 * time.Second)
	assert.True(t, c.struck(theHolder))
	assert.False(t, c.shunned()[theHolder], "nothing is reported")
}

// TestHolds_DroppedForAnotherEachTime_GivenUp: the tokens of which it tells need not exist.
func TestHolds_DroppedForAnotherEachTime_GivenUp(t *testing.T) {
	c := newCourt()
	n := byte(1)
	for end := c.now.Add(2 * restarts * lateAfter); c.now < end && !c.struck(theHolder); c.after(time.Second) {
		c.says(theThird, message{kind: want})
		c.says(theHolder, message{kind: have, custody: custody{ident.Token{n}, 9}})
		for _, of := range c.questions(theHolder) {
			c.says(theHolder, message{kind: instead, custody: of})
			n++
		}
	}
	assert.Greater(t, n, byte(1))
	assert.True(t, c.struck(theHolder))
}

// TestHolds_AskerWasLate_HolderAskedAgainInTime: it bears less later, and is to have asked by then.
func TestHolds_AskerWasLate_HolderAskedAgainInTime(t *testing.T) {
	patience := 8
	c := newCourtIn(policy.Surroundings{Patience: func() int { return patience }})
	hop := uint64(10)
	for end := c.now.Add(2 * restarts * lateAfter); c.now < end; c.after(time.Second) {
		c.says(theThird, message{kind: want})
		c.says(theHolder, message{kind: have, custody: custody{token, hop}})
		for _, of := range c.questions(theHolder) {
			if of.hop == hop {
				c.says(theHolder, message{kind: still, custody: of})
				patience, hop = 1, hop+2
				continue
			}
			c.says(theHolder, message{kind: proof, receipt: receiptOf(theThird, custody{of.token, of.hop + 1}, true)})
			c.says(theFourth, message{kind: have, custody: custody{token, hop + 1}})
			hop += 2
		}
		require.False(t, c.struck(theHolder))
	}
	require.Equal(t, 1, patience)
}

// TestHolds_TokenWasHereLater_NotHeard: one that tells of tokens that it has passed on long ago has a receipt of
// each. A custody before one of this member's is over.
func TestHolds_TokenWasHereLater_NotHeard(t *testing.T) {
	for hop, heard := range map[uint64]bool{7: false, 9: false, 10: true} {
		c := newCourt()
		c.holder.went(passed{custody: blamedFrom, to: at(theThird)})
		c.says(theThird, message{kind: want})
		c.says(theHolder, message{kind: have, custody: custody{token, hop}})
		assert.Equal(t, heard, c.search.last.holder == at(theHolder), hop)
	}
}

// TestHolds_CustodyIsOver_ItsHolderIsNotHeard: it cannot come back, and a message may be late. Nobody
// is given up for it.
func TestHolds_CustodyIsOver_ItsHolderIsNotHeard(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(*court)
		says   message
		counts bool
	}{
		{"has it", func(c *court) { c.after(DefaultSilence) }, message{kind: have, custody: blamedFrom}, false},
		{"rests", func(c *court) { c.after(DefaultSilence) }, message{kind: rest, custody: blamedFrom}, false},
		{"asks for it", func(c *court) { c.after(DefaultSilence) }, message{kind: returned, custody: blamedFrom}, false},
		{"said before", func(*court) {}, message{kind: have, custody: blamedFrom}, true},
		{"restarts", func(c *court) { c.after(DefaultSilence); c.greet(theHolder) }, message{kind: have, custody: blamedFrom}, true},
		{"a later custody", func(c *court) { c.after(DefaultSilence) }, message{kind: have, custody: custody{token, 11}}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			for !c.asks(theHolder, blamedFrom) {
				c.says(theThird, message{kind: want})
				c.says(theHolder, message{kind: have, custody: blamedFrom})
				c.after(time.Second)
			}
			c.says(theHolder, message{kind: proof, receipt: receiptOf(theThird, custody{token, 10}, true)})
			require.False(t, c.isOpen(blamedFrom))
			test.before(c)
			c.says(theThird, message{kind: want})
			c.search.last = observation{at: longAgo}
			c.says(theHolder, test.says)
			assert.Equal(t, test.counts, c.search.last.holder == at(theHolder))
			assert.False(t, c.struck(theHolder))
		})
	}
}

// TestHolds_DeniesWhatItHas_Struck: it has said itself that the token is there.
func TestHolds_DeniesWhatItHas_Struck(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		c := newCourt()
		for !c.asks(theHolder, blamedFrom) {
			c.says(theThird, message{kind: want})
			c.says(theHolder, message{kind: have, custody: blamedFrom})
			c.after(time.Second)
		}
		if restarts {
			c.greet(theHolder)
		}
		says := anHourAgo
		if restarts {
			says = justBegun
		}
		says.custody = blamedFrom
		c.says(theHolder, says)
		assert.Equal(t, !restarts, c.struck(theHolder))
	}
}

// TestHolds_HolderWasSilentAndBeganAnew_NotStruck: it is asked again when it speaks, long after it was known to have the
// token. It has lost it since, with its memory.
func TestHolds_HolderWasSilentAndBeganAnew_NotStruck(t *testing.T) {
	for name, since := range map[string]time.Duration{"before": 2 * lateAfter, "since": lateAfter + time.Second} {
		t.Run(name, func(t *testing.T) {
			c := newCourt()
			for !c.asks(theHolder, blamedFrom) {
				c.says(theThird, message{kind: want})
				c.says(theHolder, message{kind: have, custody: blamedFrom})
				c.after(time.Second)
			}
			c.after(lateAfter + DefaultSilence)
			require.False(t, c.struck(theHolder))
			c.says(theHolder, message{kind: want})
			c.says(theHolder, message{kind: never, custody: blamedFrom, span: uint32((lateAfter + since).Milliseconds()), next: takenAt + 1})
			assert.Equal(t, name == "before", c.struck(theHolder))
		})
	}
}

// TestStruck_WithTokenThatItMade_NotReported: where its clock is wrong, nobody takes the token.
func TestStruck_WithTokenThatItMade_NotReported(t *testing.T) {
	c := newCourt()
	c.anew()
	c.inquests.strike(at(theHolder), &inquest{custody: custody{token, 0}}, policy.Kept)
	c.did = append(c.did, c.Answer()...)
	assert.True(t, c.struck(theHolder))
	assert.Equal(t, map[int]bool{theHolder: false}, c.shunned())
	assert.Zero(t, c.told(theThird, blame))
	c.after(muteTime)
	assert.False(t, c.struck(theHolder))
}

// TestSearch_All_BarredAskedAndStruckNot: a member that is barred is believed, and may have got a token from
// others. The words of a struck member count for nothing.
func TestSearch_All_BarredAskedAndStruckNot(t *testing.T) {
	c := newCourt()
	c.inquests.bar(at(theThird), custody{thirdToken, 9}, pauseTimes, policy.Excused)
	c.strike(theFourth)
	c.did = nil
	c.says(theBlamer, message{kind: want})
	c.after(longHold)
	asked := make(map[ident.Member]bool)
	for _, a := range c.did {
		var m message
		if a.Kind == policy.Tell && parse(a.Field, &m) && m.kind == ask {
			asked[a.To] = true
		}
	}
	assert.True(t, asked[at(theThird)])
	assert.False(t, asked[at(theFourth)])
}

// TestSearch_StruckMemberGotToken_WaitsUntilItHasPassedItOn: a struck member may live, and hold a token that
// one has passed to it which has not struck it. A token made beside that one would have the maker look bad.
func TestSearch_StruckMemberGotToken_WaitsUntilItHasPassedItOn(t *testing.T) {
	for name, c := range map[string]struct {
		struck bool
		again  time.Duration // from then on it is told that the struck member got the token once more
		made   time.Duration // at the latest
	}{
		"dead":   {made: longHold},
		"struck": {struck: true, made: lateAfter + DefaultSilence},
		"again":  {struck: true, again: lateAfter, made: 2*lateAfter + DefaultSilence},
	} {
		t.Run(name, func(t *testing.T) {
			k := newCourt()
			if k.peers.silent = append(k.peers.silent, entry{at(theFourth), k.now.Add(time.Hour)}); c.struck {
				k.peers.silent = nil
				k.strike(theFourth)
			}
			k.says(theThird, message{kind: have, custody: custody{secondToken, 5}})
			since := k.now
			for k.did = nil; !k.generated() && k.now < since.Add(3*lateAfter); k.after(DefaultSilence / 16) {
				k.says(theBlamer, message{kind: want})
				of := custody{secondToken, 5}
				if c.again > 0 && k.now >= since.Add(c.again) {
					of.hop = 7
				}
				for _, a := range k.did {
					var m message
					if a.Kind == policy.Tell && parse(a.Field, &m) && m.kind == ask && a.To != at(theFourth) {
						k.says(int(a.To[0])-1, message{kind: went, custody: of, member: at(theFourth)})
					}
				}
				k.did = slices.DeleteFunc(k.did, func(a policy.Action) bool { return a.Kind == policy.Tell })
			}
			assert.True(t, k.generated())
			assert.InDelta(t, (c.made + DefaultSilence).Seconds(), k.now.Sub(since).Seconds(), DefaultSilence.Seconds())
		})
	}
}

// TestSearch_OneMemberSaysThatTokenMoves_TokenIsLost: a token that moves faster than the questions is told of by several.
// Its hops grow in the words of one member, and in those of all others it is lost.
func TestSearch_OneMemberSaysThatTokenMoves_TokenIsLost(t *testing.T) {
	for name, span := range map[string]uint32{"on its way": 1, "arrived": 0} {
		t.Run(name, func(t *testing.T) {
			k := newCourt()
			k.says(theThird, message{kind: have, custody: custody{secondToken, 5}})
			since, hop := k.now, uint64(5)
			for k.did = nil; !k.generated() && k.now < since.Add(3*lateAfter); k.after(DefaultSilence / 16) {
				k.says(theBlamer, message{kind: want})
				for _, a := range k.did {
					var m message
					if a.Kind != policy.Tell || !parse(a.Field, &m) || m.kind != ask {
						continue
					}
					switch i := int(a.To[0]) - 1; i {
					case theFourth:
						hop++
						k.says(i, message{kind: went, custody: custody{secondToken, hop}, member: at(theThird), span: span})
					default:
						k.says(i, message{kind: none, span: 3_600_000})
					}
				}
				k.did = slices.DeleteFunc(k.did, func(a policy.Action) bool { return a.Kind == policy.Tell })
			}
			assert.True(t, k.generated())
			assert.LessOrEqual(t, k.now.Sub(since), longHold+6*DefaultSilence)
		})
	}
}

// generated reports whether a token was made.
func (c *court) generated() bool {
	return slices.ContainsFunc(c.did, func(a policy.Action) bool { return a.Kind == policy.Generate })
}

// TestExcuse_BeforeAndAskedAgain_NothingUntilItIsOver: a member that has explained one loss gets no token while
// another one is looked into, also once it has answered. Without an excuse it gets one then.
func TestExcuse_BeforeAndAskedAgain_NothingUntilItIsOver(t *testing.T) {
	for _, excused := range []bool{false, true} {
		c := newCourt()
		if excused {
			c.inquests.excuse(at(theHolder), &inquest{custody: custody{thirdToken, 9}, member: at(theHolder), word: word{says: never}})
		}
		c.accuses()
		c.says(theHolder, message{kind: sent, custody: blamedFrom, member: at(theDead)})
		require.True(t, c.isOpen(blamedFrom))
		assert.False(t, c.inquests.isAvoided(at(theHolder)), "its giver has said nothing: there may be no such token")
		c.says(thePasser, message{kind: proof, receipt: receiptOf(theHolder, blamedFrom, true)})
		assert.Equal(t, excused, c.inquests.isAvoided(at(theHolder)))
		c.says(theDead, message{kind: still, custody: custody{blamedFrom.token, blamedFrom.hop + 1}})
		require.False(t, c.isOpen(blamedFrom))
		assert.False(t, c.inquests.isAvoided(at(theHolder)))

		c.after(struckFor + time.Second)
		c.blames(theThird, custody{secondToken, 9}, theHolder, at(thePasser))
		c.says(theHolder, message{kind: sent, custody: custody{secondToken, 9}, member: at(theDead)})
		c.says(thePasser, message{kind: proof, receipt: receiptOf(theHolder, custody{secondToken, 9}, true)})
		assert.False(t, c.inquests.isAvoided(at(theHolder)), "it was long ago")
	}
}

// TestInquest_InsteadOfNewborn_ExcusedAFewTimes: who makes tokens confirms nothing.
func TestInquest_InsteadOfNewborn_ExcusedAFewTimes(t *testing.T) {
	c := newCourt()
	for i := range uint64(maxMinted + 1) {
		require.False(t, c.inquests.isAvoided(at(theHolder)), i)
		c.blames(theBlamer, custody{token, 9 + 2*i}, theHolder, at(thePasser))
		c.says(theHolder, message{kind: instead, custody: custody{token, 9 + 2*i}, member: at(theThird), other: custody{secondToken, newbornHop}})
		c.says(theThird, message{kind: never, custody: custody{secondToken, 0}})
		require.False(t, c.isOpen(custody{token, 9 + 2*i}))
		c.after(DefaultSilence)
	}
	assert.True(t, c.isBarred(theHolder))
	assert.False(t, c.struck(theHolder))
}

// TestInquest_InsteadLongAgo_ExcusedAFewTimes: the member that passed on the other token has forgotten that, as it has
// passed that token on often since.
func TestInquest_InsteadLongAgo_ExcusedAFewTimes(t *testing.T) {
	c := newCourt()
	for i := range uint64(maxMinted + 1) {
		require.False(t, c.isBarred(theHolder), i)
		of := custody{token, 9 + 2*i}
		c.blames(theBlamer, of, theHolder, at(thePasser))
		c.says(theHolder, message{kind: instead, custody: of, member: at(theThird), other: custody{secondToken, 5}})
		c.says(theThird, message{kind: proof, receipt: receiptOf(theFourth, custody{secondToken, 90}, true)})
		require.False(t, c.isOpen(of))
		c.after(DefaultSilence)
	}
	assert.True(t, c.isBarred(theHolder))
	assert.False(t, c.struck(theHolder))
}

// TestInquest_SentJustNowEachTime_CountsInTheEnd: a token is on its way for 2 L at most.
func TestInquest_SentJustNowEachTime_CountsInTheEnd(t *testing.T) {
	c := newCourt()
	c.blames(theBlamer, blamedFrom, theHolder, ident.Member{})
	moves := map[int]message{theHolder: {kind: sent, member: at(theThird), span: 100}}
	c.lasts(2*DefaultSilence-time.Second, moves)
	require.False(t, c.asks(theThird, custody{token, 10}))
	c.lasts(3*time.Second, moves)
	assert.True(t, c.asks(theThird, custody{token, 10}))
}

// TestStruck_SpeaksAndAsks_IgnoredAndAnswered: what it says counts for nothing; its questions are
// answered, so that it takes no token for lost that others have.
func TestStruck_SpeaksAndAsks_IgnoredAndAnswered(t *testing.T) {
	c := newCourt()
	c.strike(theHolder)
	require.Equal(t, map[int]bool{theHolder: true}, c.shunned())
	require.Equal(t, blame, c.told(theThird, blame).kind)
	before := c.search.last
	c.says(theHolder, message{kind: have, custody: custody{secondToken, 5}, span: 6000})
	c.blames(theHolder, custody{token, 20}, theThird, ident.Member{})
	assert.Equal(t, before, c.search.last)
	c.accuses()
	assert.Empty(t, c.inquests.open, "nobody is asked about it, either")
	assert.True(t, c.isSilent(at(theHolder)))
	assert.False(t, c.Admits(c.now, policy.Token{Generator: at(theHolder)}))
	c.comes(custody{secondToken, 6}, theThird)
	c.courier.told = nil
	c.says(theHolder, message{kind: want})
	assert.Equal(t, noted, c.told(theHolder, noted).kind)
	assert.False(t, c.search.wants.some())
	c.says(theHolder, message{kind: ask, custody: custody{token, 6}, member: at(theHolder)})
	assert.Equal(t, custody{secondToken, 6}, c.told(theHolder, have).custody)
	c.says(theHolder, message{kind: account, custody: custody{secondToken, 6}})
	assert.Equal(t, custody{secondToken, 6}, c.told(theHolder, still).custody)
	assert.Empty(t, c.courier.told, "the token is not woken for it")
	c.after(struckFor)
	assert.False(t, c.struck(theHolder))
}

// TestStruck_OthersSayThatItWaits_TokenGoesOn: the others may not have struck it, and a holder that
// keeps its token for that would be struck itself.
func TestStruck_OthersSayThatItWaits_TokenGoesOn(t *testing.T) {
	c := newCourt()
	c.strike(theHolder)
	c.comes(custody{secondToken, 6}, theThird)
	c.courier.told = nil
	c.says(thePasser, message{kind: ask, custody: custody{secondToken, 6}, member: at(theHolder)})
	assert.Equal(t, []policy.EventKind{policy.Wanted}, kindsOf(c.courier.told))
}

func kindsOf(list []policy.Event) (kinds []policy.EventKind) {
	for _, e := range list {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// TestStruck_PolicyPassesToIt_AnyOtherGetsIt: who gets it is known as soon as it has left.
func TestStruck_PolicyPassesToIt_AnyOtherGetsIt(t *testing.T) {
	for _, is := range []bool{false, true} {
		c := newCourt()
		if is {
			c.strike(theHolder)
		}
		c.passes(custody{secondToken, 6}, theHolder)
		assert.Equal(t, is, c.passedTo().IsZero())
		c.parts(custody{secondToken, 6}, at(theThird))
		c.says(thePasser, message{kind: account, custody: custody{secondToken, 6}})
		assert.Equal(t, at(theThird), c.told(thePasser, sent).member, "to whom it went")
	}
}

// TestStruck_SecondCause_NothingNew: the report comes once per strike, and the next one lasts longer.
func TestStruck_SecondCause_NothingNew(t *testing.T) {
	c := newCourt()
	for i := range 3 {
		c.did = nil
		c.strike(theHolder)
		c.strike(theHolder)
		count := 0
		for _, a := range c.did {
			if a.Kind == policy.Shun && a.Struck {
				count++
				assert.Equal(t, min(struckFor<<i, maxBackoff), a.At.Sub(c.now))
			}
		}
		assert.Equal(t, 1, count)
		c.after(min(struckFor<<i, maxBackoff))
	}
}

// TestGivesAccount_EachState_SaysSo: what a member says of a custody of its.
func TestGivesAccount_EachState_SaysSo(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(*court)
		is     kind
		check  func(*testing.T, message)
	}{
		{"never here", func(*court) {}, never, func(t *testing.T, m message) { assert.EqualValues(t, 7_200_000, m.span) }},
		{"here", func(c *court) { c.comes(blamedFrom, thePasser) }, still, func(t *testing.T, m message) { assert.Equal(t, blamedFrom, m.custody) }},
		{"here, of an earlier hop", func(c *court) { c.comes(custody{token, 7}, thePasser) }, never, nil},
		{"passing, and not gone yet", func(c *court) { c.offers(blamedFrom, theThird); c.after(time.Second) }, still, nil},
		{"passing", func(c *court) { c.passes(blamedFrom, theThird); c.after(time.Second) }, sent, func(t *testing.T, m message) {
			assert.Equal(t, at(theThird), m.member)
			assert.EqualValues(t, 1000, m.span)
		}},
		{"passing to one that has connected since", func(c *court) { c.passes(blamedFrom, theThird); c.after(time.Second); c.greet(theThird) }, 0, nil},
		{"passing to one that was never seen to connect", func(c *court) { c.passes(blamedFrom, theThird); delete(c.peers.greeted, at(theThird)) }, sent, nil},
		{"passing to one that has connected long since", func(c *court) {
			c.passes(blamedFrom, theThird)
			c.after(time.Second)
			c.greet(theThird)
			c.after(lateAfter)
		}, sent, func(t *testing.T, m message) { assert.Equal(t, at(theThird), m.member); assert.Zero(t, m.span) }},
		{"passed on", func(c *court) { c.passes(blamedFrom, theThird); c.delivered(blamedFrom, theThird, true) }, proof, nil},
		{"passed on long ago", func(c *court) {
			c.passes(blamedFrom, theThird)
			c.delivered(blamedFrom, theThird, true)
			for i := range 3 * maxPassed {
				of := custody{secondToken, uint64(2*i + 2)}
				c.passes(of, theFourth)
				c.delivered(of, theFourth, true)
			}
		}, proof, func(t *testing.T, m message) {
			assert.Equal(t, receiptOf(theThird, custody{token, 10}, true), m.receipt)
		}},
		{"passed on again since", func(c *court) {
			for i := range 2 * maxPassed {
				of := custody{token, uint64(4*i + 9)}
				c.passes(of, theThird)
				c.delivered(of, theThird, true)
			}
		}, proof, nil},
		{"given up", func(c *court) {
			c.passes(blamedFrom, theThird)
			c.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Abandoned, Token: policy.Token{ID: token, Hop: 9}})
		}, sent, func(t *testing.T, m message) { assert.Equal(t, at(theThird), m.member); assert.Zero(t, m.span) }},
		{"given up before it left", func(c *court) {
			c.offers(blamedFrom, theThird)
			c.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Abandoned, Token: policy.Token{ID: token, Hop: 9}})
		}, instead, func(t *testing.T, m message) { assert.Zero(t, m.member) }},
		{"dropped for a later one", func(c *court) {
			c.comes(blamedFrom, thePasser)
			c.comes(custody{secondToken, 5}, theThird)
			c.holder.discards(c.holder.held.find(&blamedFrom.token))
		}, instead, func(t *testing.T, m message) {
			assert.Equal(t, at(theThird), m.member)
			assert.Equal(t, custody{secondToken, 5}, m.other)
		}},
		{"dropped, and only an earlier one was here", func(c *court) {
			c.comes(custody{ident.Token{0, 1}, 9}, thePasser)
			c.comes(blamedFrom, theThird)
			c.holder.discards(c.holder.held.find(&blamedFrom.token))
		}, instead, func(t *testing.T, m message) { assert.Zero(t, m.member) }},
		{"not known yet since a restart", func(c *court) {
			c.step(policy.Event{Kind: policy.Resumed, Token: policy.Token{ID: token, Hop: 9, Born: 1}})
		}, 0, nil},
		{"runs since a restart", func(c *court) {
			c.step(policy.Event{Kind: policy.Running, Token: policy.Token{ID: token, Hop: 9, Born: 1}})
		}, 0, nil},
		{"back before the receipt", func(c *court) { c.passes(blamedFrom, theThird); c.comes(custody{token, 11}, theThird) }, sent, func(t *testing.T, m message) { assert.Equal(t, at(theThird), m.member) }},
		{"back before the receipt, which comes when it has left again", func(c *court) {
			c.passes(blamedFrom, theThird)
			c.passes(custody{token, 11}, theFourth)
			c.delivered(blamedFrom, theThird, true)
		}, proof, func(t *testing.T, m message) {
			assert.Equal(t, receiptOf(theThird, custody{token, 10}, true), m.receipt)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			c.after(time.Hour)
			test.before(c)
			c.did = nil
			c.says(theBlamer, message{kind: account, custody: blamedFrom})
			var got message
			for _, a := range c.did {
				var m message
				if a.Kind == policy.Tell && a.To == at(theBlamer) && parse(a.Field, &m) && m.kind >= account {
					got = m
				}
			}
			require.Equal(t, test.is, got.kind, names[got.kind])
			if test.check != nil {
				test.check(t, got)
			}
		})
	}
}

// TestPassSettled_OfEarlierPass_LaterPassStands: a receipt that is slow comes when the token has been
// here again and has left for another member.
func TestPassSettled_OfEarlierPass_LaterPassStands(t *testing.T) {
	c := newCourt()
	c.passes(custody{token, 9}, theThird)
	c.passes(custody{token, 11}, theFourth)
	c.courier.told = nil
	c.delivered(custody{token, 9}, theThird, true)
	assert.Empty(t, c.courier.told)
	require.NotNil(t, c.holder.held.find(&token))
	assert.Equal(t, at(theFourth), c.holder.held.find(&token).keeper)
	c.delivered(custody{token, 11}, theFourth, true)
	assert.Equal(t, []policy.EventKind{policy.PassEnded}, kindsOf(c.courier.told))
	assert.Equal(t, at(theFourth), c.search.last.holder)
}

// TestAccount_Asked_TokenGoesOn: its sender waits for a token.
func TestAccount_Asked_TokenGoesOn(t *testing.T) {
	c := newCourt()
	c.comes(blamedFrom, thePasser)
	c.courier.told = nil
	c.says(theBlamer, message{kind: account, custody: blamedFrom})
	require.Equal(t, []policy.EventKind{policy.Wanted}, kindsOf(c.courier.told))
	assert.Equal(t, at(theBlamer), c.courier.told[0].From)
}

// TestAccount_PassDeclined_SaysStill: P-71, 5. The receiver accepted the token, and declined it. No member has had it meanwhile. A
// member that said that it had sent it would have explained a loss without a proof each time (P-81).
func TestAccount_PassDeclined_SaysStill(t *testing.T) {
	c := newCourt()
	c.passes(custody{token, 8}, theHolder)
	c.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: policy.Token{ID: token, Hop: 9}})
	c.did = nil
	c.says(theBlamer, message{kind: account, custody: custody{token, 8}})
	assert.Equal(t, custody{token, 8}, c.told(theBlamer, still).custody)
	c.parts(custody{token, 9}, at(theThird))
	c.delivered(custody{token, 9}, theThird, true)
	c.says(theBlamer, message{kind: account, custody: custody{token, 8}})
	assert.Equal(t, proof, c.told(theBlamer, proof).kind)
}

// TestAccount_AskedWhileProgramRuns_PolicyTold: when it has ended.
func TestAccount_AskedWhileProgramRuns_PolicyTold(t *testing.T) {
	c := newCourt()
	p := &eagerPolicy{}
	c.holder.inner = p
	c.comes(blamedFrom, thePasser)
	require.True(t, c.done(policy.Run))
	c.says(theBlamer, message{kind: account, custody: blamedFrom})
	require.NotContains(t, p.told, policy.Wanted)
	c.step(policy.Event{Kind: policy.OperationEnded, Token: policy.Token{ID: token, Hop: 9}})
	assert.Contains(t, p.told, policy.Wanted)
	assert.Less(t, slices.Index(p.told, policy.Wanted), slices.Index(p.told, policy.OperationEnded), "or it begins another one")
}

// TestInquest_ConnectsBeforeItIsTooLate_AskedOnceMore: P-73, 5. A member has restarted since the last question. It says nothing unasked, so
// that it would get no token for long.
func TestInquest_ConnectsBeforeItIsTooLate_AskedOnceMore(t *testing.T) {
	c := newCourt()
	c.accuses()
	c.lasts(DefaultSilence-time.Second/4, map[int]message{thePasser: {kind: never}})
	c.questions(theHolder)
	c.greet(theHolder)
	c.after(0)
	require.True(t, c.asks(theHolder, blamedFrom))
	c.says(theHolder, message{kind: proof, receipt: receiptOf(theThird, custody{token, 10}, true)})
	assert.False(t, c.inquests.isAvoided(at(theHolder)))
}

// TestAsked_WhileTokenIsPassed_PolicyTold: it may come back, as the receiver is dead.
func TestAsked_WhileTokenIsPassed_PolicyTold(t *testing.T) {
	c := newCourt()
	p := &eagerPolicy{}
	c.holder.inner = p
	c.comes(blamedFrom, thePasser)
	c.step(policy.Event{Kind: policy.OperationEnded, Token: policy.Token{ID: token, Hop: 9}})
	c.holder.held.find(&blamedFrom.token).state = passing
	p.told = nil
	c.says(theBlamer, message{kind: ask, custody: blamedFrom})
	require.NotContains(t, p.told, policy.Wanted, "nobody waits, as far as is known")
	c.says(theBlamer, message{kind: ask, custody: blamedFrom, member: at(theThird)})
	assert.Contains(t, p.told, policy.Wanted)
}

// TestReplaced_OtherTokenComes_OwnPassAskedAfter: X-52. The keeper may lie, and name others.
func TestReplaced_OtherTokenComes_OwnPassAskedAfter(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(*court)
		is     bool
	}{
		{"passed on", func(c *court) {
			c.passes(custody{token, 8}, theHolder)
			c.delivered(custody{token, 8}, theHolder, true)
		}, true},
		{"the same token", func(c *court) { c.comes(custody{secondToken, 1 << 20}, theThird) }, false},
		{"none was here", func(*court) {}, false},
		{"it was dropped, for one that is here", func(c *court) {
			c.comes(custody{thirdToken, 8}, theHolder)
			c.comes(custody{token, 8}, thePasser)
			c.holder.discards(c.holder.held.find(&token))
		}, false},
		{"it was dropped", func(c *court) { c.comes(custody{token, 8}, thePasser); c.holder.discards(c.holder.held.find(&token)) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			test.before(c)
			c.comes(custody{secondToken, 2}, theThird)
			c.step(policy.Event{Kind: policy.Timer})
			assert.Equal(t, test.is, c.asks(theHolder, blamedFrom))
			assert.Equal(t, test.is, len(c.inquests.open) > 0)
		})
	}
}

// TestReplaced_SameTokenComesBack_NobodyAsked: it is not lost.
func TestReplaced_SameTokenComesBack_NobodyAsked(t *testing.T) {
	c := newCourt()
	c.passes(custody{token, 8}, theHolder)
	c.comes(custody{token, 10}, theHolder)
	assert.Empty(t, c.inquests.open)
}

// TestGreets_ManyMembers_Bounded: it forgets rather than to grow.
func TestGreets_ManyMembers_Bounded(t *testing.T) {
	c := newCourt()
	for i := range 3 * maxGreetings {
		c.step(policy.Event{Kind: policy.Greeted, From: ident.Member{9, byte(i), byte(i >> 8)}})
		require.LessOrEqual(t, len(c.peers.greeted), maxGreetings)
	}
}

// TestMessage_InquestKinds_ReadBack: none is read that is longer or shorter.
func TestMessage_InquestKinds_ReadBack(t *testing.T) {
	for _, m := range []message{
		{kind: account, custody: blamedFrom}, {kind: still, custody: blamedFrom}, {kind: sent, custody: blamedFrom, member: at(3), span: 7},
		{kind: proof, receipt: []byte{1, 2}}, {kind: instead, custody: blamedFrom, member: at(3), other: custody{secondToken, 4}},
		{kind: never, custody: blamedFrom, span: 7}, {kind: blame, custody: blamedFrom, member: at(3), second: at(4)},
	} {
		var got message
		b := m.append(nil)
		require.True(t, parse(b, &got))
		assert.Equal(t, m, got)
		if m.kind != proof {
			assert.False(t, parse(b[:len(b)-1], &got))
			assert.False(t, parse(append(b, 0), &got))
		}
	}
	assert.False(t, parse([]byte{byte(proof)}, new(message)))
	assert.True(t, parse(append([]byte{byte(proof)}, make([]byte, policy.MaxField-1)...), new(message)))
	assert.False(t, parse(append([]byte{byte(proof)}, make([]byte, policy.MaxField-1+1)...), new(message)))
}

// TestHolds_WaiterCeases_HolderIsNotLate: P-74, 3. Members that wait say so seldom, and not that they cease to. A holder keeps its token rightly
// while nobody waits, or each one only for a moment.
func TestHolds_WaiterCeases_HolderIsNotLate(t *testing.T) {
	for _, test := range []struct {
		name  string
		waits func(c *court, second int) // what the members that wait do in each second
		late  bool
	}{
		{"waits all the time", func(*court, int) {}, true},
		{"ceases, and says nothing", func(c *court, second int) {
			if second == 10 {
				delete(c.waiting, at(theThird))
			}
		}, false},
		{"ceases and waits again, each ten seconds", func(c *court, second int) {
			if second%10 == 0 {
				c.waiting[at(theThird)] = c.now
			}
		}, false},
		{"says now and then that it waits, and never when it is asked", func(c *court, _ int) {
			c.says(theThird, message{kind: want})
			delete(c.waiting, at(theThird))
		}, false},
		{"is named by another one", func(c *court, _ int) {
			delete(c.waiting, at(theThird))
			c.says(thePasser, message{kind: want, member: at(theThird)})
		}, false},
		{"two take turns, of which one waits at any time", (*court).takeTurns, true},
		{"two take turns, and the holder says that it waits, too", func(c *court, second int) {
			c.takeTurns(second)
			c.says(theHolder, message{kind: want})
		}, true},
		{"two take turns, and a third one waits for a moment each time", func(c *court, second int) {
			c.takeTurns(second)
			c.says(theBlamer, message{kind: want})
			c.waiting[at(theBlamer)] = clock.Never
		}, true},
		{"nobody else, and this member at first and in the end", func(c *court, second int) {
			delete(c.waiting, at(theThird))
			late := int(lateAfter / time.Second)
			c.wants(second < 10 || late <= second && second < late+int(6*DefaultSilence/time.Second))
		}, false},
		{"says that it waits, and is not asked", func(c *court, _ int) {
			c.waiting[at(theThird)] = clock.Never
			c.says(theThird, message{kind: want})
			c.says(theThird, message{kind: lasting, span: 1 << 30})
		}, false},
		{"two take turns, a second apart", func(c *court, second int) { c.takeTurnsEach(second, 31) }, false},
		{"two take turns, ten seconds apart", func(c *court, second int) { c.takeTurnsEach(second, 40) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			c.says(theThird, message{kind: want})
			for second := 1; second < 3*int(lateAfter/time.Second); second++ {
				test.waits(c, second)
				for _, m := range []int{theThird, theFourth} {
					if since, waits := c.waiting[at(m)]; waits && since != clock.Never {
						c.says(m, message{kind: want})
					}
				}
				c.says(theHolder, message{kind: have, custody: blamedFrom})
				if len(c.questions(theHolder)) > 0 {
					c.says(theHolder, message{kind: still, custody: blamedFrom})
				}
				c.after(time.Second)
			}
			assert.Equal(t, test.late, c.struck(theHolder))
		})
	}
}

// takeTurns has two members wait in turn, each for 30 seconds, so that one of them waits at any time.
func (c *court) takeTurns(second int) { c.takeTurnsEach(second, 20) }

// takeTurnsEach has two members wait for 30 seconds each, and one of them begin each so many seconds.
func (c *court) takeTurnsEach(second, each int) {
	for i, m := range []int{theThird, theFourth} {
		switch (second + each*i) % (2 * each) {
		case 0:
			c.waiting[at(m)] = c.now
		case 30:
			c.waiting[at(m)] = clock.Never
		}
	}
}

// TestKnownWaiters_SaysItAgainAndAgain_HolderIsToldOnce: what a member says without having been asked costs nothing.
func TestKnownWaiters_SaysItAgainAndAgain_HolderIsToldOnce(t *testing.T) {
	c := newCourt()
	for range 3 {
		c.says(theThird, message{kind: want})
		c.says(theHolder, message{kind: have, custody: blamedFrom})
		c.after(DefaultSilence)
	}
	c.did = nil
	for range 100 {
		c.says(theThird, message{kind: lasting, span: 1 << 30})
	}
	assert.Empty(t, c.did)
}
