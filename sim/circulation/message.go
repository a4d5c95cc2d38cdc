package circulation

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// message is one between policies, on its way.
type message struct {
	from int32
	body []byte // reused
}

// tell sends a message.
func (w *Simulation) tell(m int32, a *policy.Action) {
	w.stats.Messages++
	w.traffic.told(a.Field)
	to := memberIndex(a.To)
	if to < 0 || to >= len(w.sites) || len(a.Field) > policy.MaxField {
		return // to a stranger, or longer than the wire permits
	}
	w.roster.try(m, int32(to))
	if w.watches.parted(m, int32(to), w.now) {
		return
	}
	if w.cfg.TellLoss > 0 && w.rng.Float64() < w.cfg.TellLoss {
		return
	}
	w.meet(m, int32(to))
	i := w.envelope()
	w.messages[i].from = m
	w.messages[i].body = append(w.messages[i].body[:0], a.Field...)
	at := w.links.order(m, int32(to), w.now, w.cfg.Telling.draw(w.rng))
	w.scheduleAt(at, told, int32(to), i, 0)
}

// envelope finds room for a message.
func (w *Simulation) envelope() int32 {
	if n := len(w.freeMessages); n > 0 {
		i := w.freeMessages[n-1]
		w.freeMessages = w.freeMessages[:n-1]
		return i
	}
	w.messages = append(w.messages, message{})
	return int32(len(w.messages) - 1)
}

// deliver hands a message over, if its receiver is up.
func (w *Simulation) deliver(e event) {
	msg := w.messages[e.ref]
	if w.sites[e.member].place >= 0 {
		w.step(e.member, &policy.Event{Kind: policy.Message, From: MemberID(int(msg.from)), Body: msg.body})
	}
	// What the policy answers may have sent messages, and moved the table.
	w.freeMessages = append(w.freeMessages, e.ref)
}

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
	at := now.Add(latency)
	if l.last == nil {
		return at
	}
	link := [2]int32{from, to}
	at = max(at, l.last[link])
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
