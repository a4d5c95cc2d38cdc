package member

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// TestLimits_EveryKind_HasRate: a kind that the table leaves out would let nothing through.
func TestLimits_EveryKind_HasRate(t *testing.T) {
	for _, slots := range []int{1, 1000, 100_000} {
		for kind, r := range newLimits(slots) {
			assert.Positive(t, r.perSecond, "kind %d", kind)
			assert.GreaterOrEqual(t, r.burst, 1., "kind %d", kind)
		}
	}
}

// TestLimitOf_HandoffOrLaterPart_None: the other messages are limited, as the specification's
// TestPeers_Each_Rationed shows of each.
func TestLimitOf_HandoffOrLaterPart_None(t *testing.T) {
	_, is := limitOf(&wire.Configuration{Before: 1})
	assert.False(t, is, "only the first part of a configuration counts")
	_, is = limitOf(&wire.Transfer{})
	assert.False(t, is)
}

// TestPacer_Full_ForgetsAll: a pacer keeps one matter back for its pause, and has room for so
// many matters.
func TestPacer_Full_ForgetsAll(t *testing.T) {
	p := newPacer(time.Second, 2)
	key := func(n byte) update.Key { return update.Key{Subject: ident.Member{n}} }
	second := clock.Instant(time.Second)
	assert.True(t, p.may(second, key(1)))
	assert.False(t, p.may(second+1, key(1)))
	assert.True(t, p.may(second+1, key(2)))
	assert.True(t, p.may(2*second, key(1)))
	assert.True(t, p.may(2*second, key(3)), "the third")
	assert.True(t, p.may(2*second, key(2)), "forgotten")
	p.forget(3 * second)
	assert.Empty(t, p.last)
}
