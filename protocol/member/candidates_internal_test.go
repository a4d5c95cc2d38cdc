package member

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// TestShun_SlotEnds_OtherSlotsStands: what a policy finds out of a member in one slot ends nothing in another one.
func TestShun_SlotEnds_OtherSlotsStands(t *testing.T) {
	m := &candidates{core: &core{}, shuns: make(shuns)}
	id, first, second := ident.Member{7}, &slot{key: slotKey{"a", 0}}, &slot{key: slotKey{"a", 1}}
	firmly := func(s *slot, until clock.Instant) {
		m.shun(s, &policy.Action{Kind: policy.Shun, To: id, At: until, Firm: true})
	}
	hour, minute := clock.Instant(time.Hour), clock.Instant(time.Minute)
	firmly(first, hour)
	firmly(second, minute)
	assert.Equal(t, hour, m.shuns.until(id))
	m.shun(second, &policy.Action{Kind: policy.Shun, To: id})
	assert.True(t, m.isShunned(id))
	assert.Len(t, m.shuns[id], 1)
	firmly(second, 2*hour)
	firmly(first, 0)
	assert.Equal(t, 2*hour, m.shuns.until(id))
	m.now.Boot = 2 * hour
	assert.False(t, m.isShunned(id))
	assert.Empty(t, m.shuns, "it is forgotten")
}
