package keeper

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// complaint is a policy.Complain of a test.
type complaint struct {
	about int
	custody
	measure policy.Measure
	cause   policy.Cause
}

// complaints are all so far.
func (l *lone) complaints() (list []complaint) {
	for _, a := range l.did {
		if a.Kind == policy.Complain {
			list = append(list, complaint{int(a.To[0]) - 1, custody{a.Token, a.Hop}, a.Measure, a.Cause})
		}
	}
	return list
}

// waits has theThird wait for a token that theHolder has, which gives such accounts, for a while.
func (c *court) waits(d time.Duration, answer message) {
	for end := c.now.Add(d); c.now < end; c.after(time.Second) {
		c.says(theThird, message{kind: want})
		c.says(theHolder, message{kind: have, custody: blamedFrom})
		if answer.kind != 0 {
			c.lasts(time.Second/4, map[int]message{theHolder: answer})
		}
	}
}

// TestComplain_EachMeasureThatBegins_Once: P-82. A complaint names the custody of the accused. A member writes none
// while its back-off runs already.
func TestComplain_EachMeasureThatBegins_Once(t *testing.T) {
	before := custody{blamedFrom.token, blamedFrom.hop - 1}
	for _, test := range []struct {
		name string
		what func(*court)
		want []complaint
	}{
		{"late", func(c *court) {
			c.step(policy.Event{Kind: policy.DemandChanged, Demand: true})
			c.accuses()
			c.lasts(lateAfter+3*DefaultSilence, map[int]message{theHolder: {kind: still}})
		}, []complaint{{theHolder, blamedFrom, policy.Struck, policy.Kept}}},
		{"in time", func(c *court) {
			c.step(policy.Event{Kind: policy.DemandChanged, Demand: true})
			c.accuses()
			c.lasts(lateAfter-time.Second, map[int]message{theHolder: {kind: still}})
		}, nil},
		{"denies what it has said it has", func(c *court) {
			c.waits(2*DefaultSilence, anHourAgo)
		}, []complaint{{theHolder, blamedFrom, policy.Struck, policy.Denied}}},
		{"denies what it has a receipt for", func(c *court) {
			c.accuses()
			c.lasts(3*DefaultSilence, map[int]message{theHolder: anHourAgo, thePasser: {kind: proof, receipt: receiptOf(theHolder, blamedFrom, true)}})
		}, []complaint{{theHolder, blamedFrom, policy.Struck, policy.Receipted}}},
		{"says nothing of it", func(c *court) {
			c.waits(restarts*lateAfter+3*DefaultSilence, message{})
		}, []complaint{{theHolder, blamedFrom, policy.Struck, policy.Unaccounted}}},
		{"says nothing of one that it has made", func(c *court) {
			for end := c.now.Add(restarts*lateAfter + 3*DefaultSilence); c.now < end; c.after(time.Second) {
				c.says(theThird, message{kind: want})
				c.says(theHolder, message{kind: have, custody: custody{token, 0}})
			}
		}, []complaint{{theHolder, custody{token, 0}, policy.GivenUp, policy.Unaccounted}}},
		{"in doubt with two as the sender", func(c *court) {
			c.doubts(token, theHolder, thePasser)
			c.doubts(secondToken, theHolder, theThird)
		}, []complaint{{theHolder, custody{secondToken, 9}, policy.Struck, policy.Doubted}}},
		{"in doubt with two as the receiver", func(c *court) {
			c.doubts(token, theHolder, thePasser)
			c.doubts(secondToken, theThird, thePasser)
		}, []complaint{{thePasser, custody{secondToken, 10}, policy.Struck, policy.Doubted}}},
		{"says that it passed two on, which two deny", func(c *court) {
			for i, of := range []custody{blamedFrom, {secondToken, 9}} {
				denies := []int{theHolder, theThird}[i]
				c.blames(theBlamer, of, denies, at(thePasser))
				c.lasts(untilDoubted, map[int]message{denies: anHourAgo, thePasser: {kind: sent, custody: custody{of.token, 8}, member: at(denies)}})
			}
		}, []complaint{{thePasser, custody{secondToken, 8}, policy.Struck, policy.Doubted}}},
		{"says that it sent one here", func(c *court) {
			c.blames(theBlamer, blamedFrom, theHolder, ident.Member{})
			c.lasts(4*DefaultSilence, map[int]message{theHolder: {kind: sent, member: at(theSelf), span: 5_000}})
		}, []complaint{{theHolder, blamedFrom, policy.Barred, policy.NeverCame}}},
		{"denies this member's own pass", func(c *court) {
			c.passes(before, theHolder)
			c.after(time.Second)
			c.comes(custody{secondToken, 2}, theThird)
			c.lasts(2*DefaultSilence+untilDoubted, map[int]message{theHolder: anHourAgo})
		}, []complaint{{theHolder, blamedFrom, policy.Barred, policy.Denied}}},
		{"dropped it for another one", func(c *court) {
			c.accuses()
			c.lasts(time.Second, map[int]message{theHolder: {kind: instead, member: at(theThird), other: custody{secondToken, 5}}, theThird: {kind: never, custody: custody{secondToken, 4}, span: millis(time.Hour)}})
		}, []complaint{{theHolder, blamedFrom, policy.Barred, policy.Unconfirmed}}},
		{"sent two to the dead", func(c *court) {
			for _, of := range []custody{{thirdToken, 9}, blamedFrom} {
				c.blames(theBlamer, of, theHolder, at(thePasser))
				c.says(theHolder, message{kind: sent, custody: of, member: at(theFourth)})
				c.after(2*DefaultSilence + time.Second)
			}
		}, []complaint{{theHolder, blamedFrom, policy.Barred, policy.Excused}}},
		{"struck, and again in that time", func(c *court) {
			c.strike(theHolder)
			c.strike(theHolder)
		}, []complaint{{theHolder, custody{thirdToken, 9}, policy.Struck, policy.Kept}}},
		{"struck, and again after that", func(c *court) {
			c.strike(theHolder)
			c.after(struckFor)
			c.strike(theHolder)
		}, []complaint{{theHolder, custody{thirdToken, 9}, policy.Struck, policy.Kept}, {theHolder, custody{thirdToken, 9}, policy.Struck, policy.Kept}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCourt()
			test.what(c)
			assert.Equal(t, test.want, c.complaints())
		})
	}
}

// TestComplain_TokenMadeBesideAnother_OnceInABackOff: P-82 about the generator, at hop 0.
func TestComplain_TokenMadeBesideAnother_OnceInABackOff(t *testing.T) {
	n := newNursery()
	n.step(policy.Event{Kind: policy.Arrival, From: at(theHolder), Token: policy.Token{ID: token, Born: 1, Generator: at(theDead), Hop: 5}})
	n.comes()
	want := []complaint{{theMaker, custody{newbornToken, 0}, policy.BackedOff, policy.Minted}}
	assert.Equal(t, want, n.complaints())
	n.step(arrivalOf(ident.Token{8}, 2000, theMaker))
	n.anew()
	n.newborn.backsOff(at(theMaker), ident.Token{9})
	n.did = append(n.did, n.Answer()...)
	assert.Equal(t, want, n.complaints(), "it backs off already")
}
