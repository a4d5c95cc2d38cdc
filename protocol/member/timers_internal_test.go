package member

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/clock"
)

// TestTimers_AnySequence_LikeTwin sets and takes timers at random, beside a twin that
// looks at all of them.
func TestTimers_AnySequence_LikeTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := make([]*slot, rapid.IntRange(1, 20).Draw(t, "slots"))
		for i := range slots {
			slots[i] = &slot{key: slotKey{"r", uint64(i)}, timer: clock.Never, place: -1}
		}
		var heap timers
		twin := make(map[*slot]clock.Instant)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			s := rapid.SampledFrom(slots).Draw(t, "slot")
			at := clock.Instant(rapid.IntRange(0, 30).Draw(t, "at"))
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				heap.set(s, clock.Never)
				delete(twin, s)
			case 1:
				var want []*slot
				for _, s := range slots {
					if due, waits := twin[s]; waits && due <= at {
						want = append(want, s)
						delete(twin, s)
					}
				}
				assert.True(t, slices.Equal(want, heap.take(at)), "due at %d", at)
			default:
				heap.set(s, at)
				twin[s] = at
			}
			next := clock.Never
			for _, due := range twin {
				next = min(next, due)
			}
			assert.Equal(t, next, heap.next())
		}
	})
}
