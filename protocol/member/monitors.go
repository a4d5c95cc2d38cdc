package member

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

const (
	// redialPause is between two dials of a member that a policy watches, and longer
	// than the transport's own pause after two that have failed.
	redialPause = 500 * time.Millisecond

	// dialPatience is after what time a dial of which nothing was heard is made
	// again; a transport that tries several addresses takes long.
	dialPatience = 10 * time.Second

	// touchEvery is how often a member that a policy watches is sent a GOSSIP while it
	// is connected. The daemon's transport takes a connection for broken on which
	// nothing comes for the group's silence after something was sent, so that a death is
	// noticed a second later. It is sent as an answer, which asks for none: that the
	// packet is acknowledged shows life.
	touchEvery = time.Second

	// maxUnheard is for how long nothing has come on a connection that breaks for
	// silence: the group's silence, but no more than this. A longer one is waited for
	// by dialling.
	maxUnheard = 30 * time.Second

	// mutePatience is how many times as long a member that cannot be dialled has to dial
	// again by itself.
	mutePatience = 3

	// touchPause is between two questions to others whether it is this member that is
	// cut off, touchAsks how many are asked.
	touchPause = 3 * time.Second
	touchAsks  = 3
)

// monitor is a member that policies watch (policy.Watch): all of this member's slots
// together, so that it is asked once for however many tokens.
type monitor struct {
	id ident.Member
	// incarnation is the custody memory that the watch is about, as far as it is
	// known: with another one, what the member held is lost.
	incarnation ident.Incarnation
	asked       clock.Instant // when it was first asked in vain
	failures    int           // dials in a row that nobody answered, or a connection that broke
	since       clock.Instant // when the first of them had failed
	absent      bool          // nobody listens where it was
	next        clock.Instant // when the member is greeted again
	slots       []*slot       // whose policies watch it, oldest first
}

// monitors are the members that policies watch.
type monitors struct {
	*core
	own     *health
	greeter *greeter
	events  *events
	list    []*monitor
}

// watch begins to watch a member for the policy of a slot.
func (l *monitors) watch(s *slot, id ident.Member) {
	if id.IsZero() || id == l.self || slices.Contains(s.monitored, id) {
		return
	}
	if len(s.monitored) >= policy.MaxWatched {
		l.unwatch(s, s.monitored[0])
	}
	s.monitored = append(s.monitored, id)
	w := l.of(id)
	if w == nil {
		w = l.begin(id)
	}
	w.slots = append(w.slots, s)
}

func (l *monitors) begin(id ident.Member) *monitor {
	w := &monitor{id: id, next: l.now.Boot.Add(touchEvery)}
	l.list = append(l.list, w)
	l.emit(effect.Watch{Peer: id, On: true})
	switch p := l.peers.of(id); {
	case p == nil:
		l.attend(w)
	case p.hello != nil:
		w.incarnation = p.hello.Incarnation
	}
	return w
}

// of is the watch on a member, or nil.
func (l *monitors) of(id ident.Member) *monitor {
	for _, w := range l.list {
		if w.id == id {
			return w
		}
	}
	return nil
}

// unwatch ends a policy's watch on a member.
func (l *monitors) unwatch(s *slot, id ident.Member) {
	s.monitored = without(s.monitored, id)
	w := l.of(id)
	if w == nil {
		return
	}
	if w.slots = without(w.slots, s); len(w.slots) == 0 {
		l.end(w)
	}
}

func (l *monitors) end(w *monitor) {
	l.list = without(l.list, w)
	l.emit(effect.Watch{Peer: w.id})
}

// unwatchAll ends all watches of a slot.
func (l *monitors) unwatchAll(s *slot) {
	for len(s.monitored) > 0 {
		l.unwatch(s, s.monitored[0])
	}
}

// without deletes one value from a list, if it is there.
func without[E comparable](list []E, x E) []E {
	if i := slices.Index(list, x); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// notifySilent ends all watches on a member: it is silent, or what it held is lost.
func (l *monitors) notifySilent(w *monitor) {
	l.end(w)
	for _, s := range w.slots {
		s.monitored = without(s.monitored, w.id)
		l.events.notify(s, policy.Event{Kind: policy.Silent, From: w.id})
	}
}

// connected notes that a member is connected.
func (l *monitors) connected(id ident.Member) {
	if w := l.of(id); w != nil {
		w.failures, w.absent, w.next = 0, false, l.now.Boot.Add(touchEvery)
	}
}

// disconnected has a member dialled again whose connection is over.
func (l *monitors) disconnected(id ident.Member) {
	if w := l.of(id); w != nil {
		w.next = min(w.next, l.now.Boot.Add(redialPause))
	}
}

// unreachable counts a dial that was not answered, or a connection that broke for silence. A
// refusal shows life, and a failure on this side shows nothing. If the member's host refuses
// packets, the whole silence counts as over, unless this member may have been too late to hear.
func (l *monitors) unreachable(in Unreachable, broken bool) {
	w := l.of(in.Peer)
	switch {
	case w == nil:
	case in.Silent && broken:
		w.failures, w.since = 1, l.now.Boot
		w.asked = l.now.Boot.Add(-min(l.settings.Silence, maxUnheard))
		w.absent = in.Absent && !l.own.isLate()
		w.next = l.now.Boot // it is dialled, or others are asked, at once
	case in.Silent:
		before := l.isOverdue(w)
		w.fail(l.now.Boot)
		w.absent = w.absent || in.Absent && !l.own.isLate()
		w.next = l.now.Boot.Add(redialPause)
		if l.isOverdue(w) && !before {
			w.next = l.now.Boot // others are asked at once
		}
	case in.Refused:
		w.failures, w.absent = 0, false
		w.next = l.now.Boot.Add(touchPause)
	default:
		w.next = l.now.Boot.Add(redialPause)
	}
}

func (w *monitor) fail(now clock.Instant) {
	if w.failures++; w.failures == 1 {
		w.since = now
	}
}

// greeted notes the custody memory of a member that has connected. If it is another one than
// before, what the member held is lost, as if it was dead.
func (l *monitors) greeted(id ident.Member, now ident.Incarnation) {
	w := l.of(id)
	switch {
	case w == nil:
	case w.incarnation != now && w.incarnation != (ident.Incarnation{}):
		l.notifySilent(w)
	default:
		w.incarnation = now
	}
}

// tick reports the members that have been silent for long enough, and asks the others for a sign of life.
func (l *monitors) tick() {
	if l.stopping || l.departed {
		for len(l.list) > 0 {
			w := l.list[0]
			for _, s := range w.slots {
				s.monitored = without(s.monitored, w.id)
			}
			l.end(w)
		}
		return
	}
	for i := 0; i < len(l.list); {
		w := l.list[i]
		if l.isSilent(w) {
			l.notifySilent(w)
			continue
		}
		if w.next <= l.now.Boot {
			l.attend(w)
		}
		i++
	}
}

// isSilent reports whether a watched member counts as dead. While nobody else is
// heard either, it may be this member that is cut off; where there is nobody else, it
// is believed at once.
func (l *monitors) isSilent(w *monitor) bool {
	if err := l.eligible(w.id); err != nil {
		return true
	}
	if !l.isOverdue(w) {
		return false
	}
	return l.own.heardAt > w.since || len(l.dir.DrawSome(l.sources.member, 1, l.now.Wall, w.is, nil)) == 0
}

// isOverdue reports whether a watched member has been silent for long enough.
func (l *monitors) isOverdue(w *monitor) bool {
	return w.absent || w.failures > 0 && l.silentAt(w) <= l.now.Boot
}

// silentAt is when a watched member that was asked in vain has been silent for long
// enough.
func (l *monitors) silentAt(w *monitor) clock.Instant {
	return w.asked.Add(time.Duration(l.own.multiplier()) * l.settings.Silence)
}

func (w *monitor) is(id ident.Member) bool { return id == w.id }

// attend greets a watched member, and others when it does not answer.
func (l *monitors) attend(w *monitor) {
	switch {
	case l.peers.has(w.id):
		w.next = l.now.Boot.Add(touchEvery)
		l.send(w.id, l.greeter.notes(true))
		return
	case l.isOverdue(w):
		w.next = l.now.Boot.Add(touchPause)
		l.greetOthers(w)
	case !l.dir.Dialable(w.id):
		if w.failures == 0 {
			w.fail(l.now.Boot)
			w.asked = l.now.Boot.Add((mutePatience - 1) * l.settings.Silence)
		}
		w.next = max(l.silentAt(w), l.now.Boot.Add(redialPause))
		return
	case w.failures == 0:
		w.asked = l.now.Boot
		w.next = l.now.Boot.Add(dialPatience)
	default:
		w.next = min(l.now.Boot.Add(dialPatience), max(l.silentAt(w), l.now.Boot.Add(redialPause)))
	}
	l.greeter.greet(w.id)
}

// greetOthers asks a few others whether they hear this member: those connected, or
// any when nobody is.
func (l *monitors) greetOthers(w *monitor) {
	others := l.peers.list()
	if len(others) == 0 {
		others = l.dir.DrawSome(l.sources.member, touchAsks, l.now.Wall, w.is, nil)
	}
	rand.New(l.sources.member).Shuffle(len(others), func(i, k int) { others[i], others[k] = others[k], others[i] })
	for _, id := range others[:min(touchAsks, len(others))] {
		l.greeter.greet(id)
	}
}

// next is when tick has something to do.
func (l *monitors) next() clock.Instant {
	next := clock.Never
	for _, w := range l.list {
		next = min(next, w.next)
	}
	return next
}
