package circulation

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// links keeps what travels from one member to another in its order.
type links struct {
	last  map[[2]int32]clock.Instant // when the last of a link arrives; nil where nothing can overtake
	sweep int
}

// newLinks keeps no order where everything takes the same time.
func newLinks(cfg *Config) links {
	if cfg.Passing.kind == constant && cfg.Telling.kind == constant && cfg.Passing.a == cfg.Telling.a && cfg.Reserving.zero() {
		return links{}
	}
	return links{last: map[[2]int32]clock.Instant{}, sweep: 64}
}

// order is when something arrives that is sent now and would take latency.
func (l *links) order(from, to int32, now clock.Instant, latency time.Duration) clock.Instant {
	link := [2]int32{from, to}
	at := max(now.Add(latency), l.last[link])
	l.last[link] = at
	if len(l.last) > l.sweep {
		l.forget(now)
	}
	return at
}

// forget removes the links on which nothing travels.
func (l *links) forget(now clock.Instant) {
	for link, at := range l.last {
		if at < now {
			delete(l.last, link)
		}
	}
	l.sweep = max(64, 2*len(l.last))
}
