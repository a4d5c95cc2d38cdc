package keeper

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/policytest"
)

// offeringPolicy passes each token to a member that has died, and notes what it hears of it afterwards.
type offeringPolicy struct {
	policytest.Untimed
	heard *[]policy.EventKind
}

func (p offeringPolicy) Step(_ clock.Instant, e policy.Event, actions []policy.Action) []policy.Action {
	*p.heard = append(*p.heard, e.Kind)
	if e.Kind == policy.Arrival {
		actions = append(actions, policy.Action{Kind: policy.Pass, Token: e.Token.ID, To: at(theDead)})
	}
	return actions
}

// offers is for how long a member offers a token to one that does not answer.
const offers = DefaultSilence + time.Second

// newOffering is a member whose policy passes its token to theDead, which does not answer. What the policy hears from then on
// is noted.
func newOffering(t *testing.T) (l *lone, heard *[]policy.EventKind) {
	t.Helper()
	heard = new([]policy.EventKind)
	l = newLone(true)
	l.holder.inner = offeringPolicy{heard: heard}
	l.step(policy.Event{Kind: policy.Arrival, Token: offered(5)})
	require.True(t, l.done(policy.Pass))
	*heard, l.did = nil, nil
	return l, heard
}

func offered(hop uint64) policy.Token {
	return policy.Token{ID: token, Hop: hop, Born: 2, Generator: at(theDead)}
}

// parts has the member sign the TRANSFER.
func (l *lone) parts() {
	l.step(policy.Event{Kind: policy.Parted, From: at(theDead), Token: offered(5)})
}

// TestAsk_TokenOffered_HaveUntilItIsSigned: P-56, 2 and 3 (offered.pml). Nobody takes the token for lost meanwhile. It is on its way
// from when its TRANSFER is signed.
func TestAsk_TokenOffered_HaveUntilItIsSigned(t *testing.T) {
	l, heard := newOffering(t)
	asks := func() { l.says(theHolder, message{kind: ask, custody: custody{token, 5}, member: at(thePasser)}) }
	for range 2 {
		l.after(offers)
		asks()
		m := l.told(theHolder, have)
		assert.Equal(t, message{kind: have, custody: custody{token, 5}}, m)
	}
	assert.Contains(t, *heard, policy.Wanted, "it may come back")
	assert.NotContains(t, *heard, policy.Sought, "it is here")
	l.parts()
	l.after(DefaultSilence / 2)
	asks()
	m := l.told(theHolder, went)
	assert.Equal(t, custody{token, 5}, m.custody)
	assert.Equal(t, at(theDead), m.member)
	assert.Equal(t, millis(DefaultSilence/2), m.span, "since it was signed")
}

// TestOffered_ForLong_HolderDoesNotWait: a member has the token that it offers, so that it neither waits for one nor looks for it.
func TestOffered_ForLong_HolderDoesNotWait(t *testing.T) {
	l, _ := newOffering(t)
	l.step(policy.Event{Kind: policy.DemandChanged, Demand: true})
	l.says(thePasser, message{kind: want})
	l.after(3 * offers)
	require.Zero(t, l.told(theHolder, want).kind)
	assert.False(t, l.asked(theHolder))
	l.parts()
	l.says(thePasser, message{kind: want})
	l.after(DefaultSilence)
	assert.True(t, l.waiter.waits, "it may be lost")
}

// TestOffered_ComesBack_AskedAboutIfSignedForLong: P-55, 2. Others were told that an offered token is here. They may have
// replaced one that was on its way for L.
func TestOffered_ComesBack_AskedAboutIfSignedForLong(t *testing.T) {
	returns := policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: offered(5)}
	for _, test := range []struct {
		name  string
		wait  time.Duration // since it was signed; 0: it is not
		asked bool
	}{{"offered", 0, false}, {"signed", DefaultSilence - time.Millisecond, false}, {"signed for L", DefaultSilence, true}} {
		t.Run(test.name, func(t *testing.T) {
			l, heard := newOffering(t)
			l.after(offers)
			if test.wait > 0 {
				l.parts()
				l.after(test.wait)
			}
			l.step(returns)
			assert.Equal(t, test.asked, l.told(theHolder, returned).kind == returned)
			assert.Equal(t, !test.asked, l.holder.held.find(&returns.Token.ID).event == nil)
			assert.Contains(t, *heard, policy.PassEnded)
		})
	}
}

// TestReturned_LaterTokenOffered_Other: P-54, 1. A later token is here as long as it is only offered.
func TestReturned_LaterTokenOffered_Other(t *testing.T) {
	l, _ := newOffering(t)
	l.after(offers)
	asks := message{kind: returned, custody: custody{ident.Token{99}, 3}, born: 1, promise: promise{7, 1}}
	l.says(thePasser, asks)
	m := l.told(thePasser, other)
	assert.Equal(t, at(theSelf), m.member)
	assert.Equal(t, asks.custody, m.custody)
}

// TestFollow_OnItsWayToNobody_AllAsked: P-57, 2. Who has signed a TRANSFER knows for whom.
func TestFollow_OnItsWayToNobody_AllAsked(t *testing.T) {
	l := newLone(true)
	l.says(theHolder, message{kind: have, custody: custody{token, 5}})
	l.says(thePasser, message{kind: want})
	l.after(l.retry)
	require.True(t, l.asked(theHolder))
	l.says(theHolder, message{kind: went, custody: custody{token, 5}, span: millis(DefaultSilence)})
	assert.True(t, l.asked(theDead))
}
