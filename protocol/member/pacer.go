package member

import (
	"maps"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/update"
)

// pacer bounds how often something is done about one matter. When it has too many
// matters to remember, it forgets all of them.
type pacer struct {
	pause time.Duration
	room  int // matters
	last  map[update.Key]clock.Instant
}

func newPacer(pause time.Duration, room int) pacer {
	return pacer{pause, room, make(map[update.Key]clock.Instant)}
}

// may reports whether it may be done now, which then counts as done.
func (p *pacer) may(now clock.Instant, key update.Key) bool {
	if last, ok := p.last[key]; ok && now.Sub(last) < p.pause {
		return false
	}
	if len(p.last) >= p.room {
		clear(p.last)
	}
	p.last[key] = now
	return true
}

// forget forgets the matters whose pause is over.
func (p *pacer) forget(now clock.Instant) {
	maps.DeleteFunc(p.last, func(_ update.Key, at clock.Instant) bool { return now.Sub(at) >= p.pause })
}
