package keeper

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/policy"
)

// remembers is a court that had taken a measure before it began, with a while left of it.
func remembers(m policy.Measure, left, whole time.Duration) *court {
	c := newCourtBefore(policy.Surroundings{}, func(c *court) {
		c.step(policy.Event{Kind: policy.Acted, From: at(theHolder), Measure: m, At: c.now.Add(left + time.Hour), Span: whole})
	})
	return c
}

// shunned is what the driver was told about theHolder last.
func (c *court) lastShun() (a policy.Action) {
	for _, did := range c.did {
		if did.Kind == policy.Shun && did.To == at(theHolder) {
			a = did
		}
	}
	return a
}

// TestActed_EachMeasure_GoesOnToItsEnd: P-84. A measure that a member has taken before it began goes on, for as long as
// there is left of it.
func TestActed_EachMeasure_GoesOnToItsEnd(t *testing.T) {
	const left, whole = 10 * time.Minute, 3 * time.Hour
	for _, test := range []struct {
		measure policy.Measure
		acts    func(*court) bool
		shuns   policy.Action
	}{
		{policy.Struck, func(c *court) bool { return c.struck(theHolder) }, policy.Action{Struck: true}},
		{policy.GivenUp, func(c *court) bool { return c.struck(theHolder) }, policy.Action{}},
		{policy.Barred, func(c *court) bool { return c.isBarred(theHolder) && !c.struck(theHolder) }, policy.Action{}},
		{policy.BackedOff, func(c *court) bool { return !c.Admits(c.now, policy.Token{Generator: at(theHolder)}) }, policy.Action{}},
	} {
		t.Run(test.measure.String(), func(t *testing.T) {
			c := remembers(test.measure, left, whole)
			assert.True(t, test.acts(c))
			if shun := c.lastShun(); test.measure != policy.BackedOff {
				assert.Equal(t, c.now.Add(left), shun.At)
				assert.Equal(t, test.shuns.Struck, shun.Struck)
			} else {
				assert.Zero(t, shun)
			}
			assert.Empty(t, c.complaints(), "it has begun before")
			c.after(left - 1)
			assert.True(t, test.acts(c))
			c.after(1)
			assert.False(t, test.acts(c))
		})
	}
}

// TestActed_NextOne_TwiceAsLong: P-84. The measure that follows is as long as it would have been without the restart.
func TestActed_NextOne_TwiceAsLong(t *testing.T) {
	for _, left := range []time.Duration{time.Minute, -time.Hour} {
		c := remembers(policy.Struck, left, struckFor)
		c.after(max(left, 0))
		c.strike(theHolder)
		assert.Equal(t, 2*struckFor, c.struckLeft(theHolder))
	}
	c := remembers(policy.Struck, -25*time.Hour, 4*struckFor)
	c.strike(theHolder)
	assert.Equal(t, struckFor, c.struckLeft(theHolder), "long without a cause")
}

func (c *court) struckLeft(i int) time.Duration { return c.common.struck.left(at(i), c.now) }

// TestActed_WhereRulesAreOff_Ignored: a member acts against nobody where several tokens may circulate, and not against
// itself.
func TestActed_WhereRulesAreOff_Ignored(t *testing.T) {
	l := newLone(false)
	for m := policy.Struck; m <= policy.BackedOff; m++ {
		l.step(policy.Event{Kind: policy.Acted, From: at(theHolder), Measure: m, At: l.now.Add(time.Hour), Span: time.Hour})
	}
	assert.False(t, l.isStruck(at(theHolder)))
	assert.True(t, l.Admits(l.now, policy.Token{Generator: at(theHolder)}))
	c := newCourtBefore(policy.Surroundings{}, func(c *court) {
		c.step(policy.Event{Kind: policy.Acted, From: at(theSelf), Measure: policy.Struck, At: c.now.Add(9 * time.Hour), Span: 9 * time.Hour})
	})
	assert.False(t, c.struck(theSelf))
}
