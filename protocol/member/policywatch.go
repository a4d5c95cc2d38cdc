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

// watched is a member that policies watch (policy.Watch): all of this member's slots
// together, so that it is asked once for however many tokens.
type watched struct {
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

// watchFor begins a watch.
func (m *Member) watchFor(s *slot, id ident.Member) {
	if id.IsZero() || id == m.self || slices.Contains(s.watches, id) {
		return
	}
	if len(s.watches) >= policy.MaxWatched {
		m.unwatch(s, s.watches[0])
	}
	s.watches = append(s.watches, id)
	w := m.watchedAs(id)
	if w == nil {
		w = m.beginWatch(id)
	}
	w.slots = append(w.slots, s)
}

func (m *Member) beginWatch(id ident.Member) *watched {
	w := &watched{id: id, next: m.now.Boot.Add(touchEvery)}
	m.watched = append(m.watched, w)
	m.emit(effect.Watch{Peer: id, On: true})
	switch p := m.peers[id]; {
	case p == nil:
		m.attend(w)
	case p.hello != nil:
		w.incarnation = p.hello.Incarnation
	}
	return w
}

// watchedAs is the watch on a member, or nil.
func (m *Member) watchedAs(id ident.Member) *watched {
	for _, w := range m.watched {
		if w.id == id {
			return w
		}
	}
	return nil
}

// unwatch ends a policy's watch on a member.
func (m *Member) unwatch(s *slot, id ident.Member) {
	s.watches = without(s.watches, id)
	w := m.watchedAs(id)
	if w == nil {
		return
	}
	if w.slots = without(w.slots, s); len(w.slots) == 0 {
		m.endWatch(w)
	}
}

func (m *Member) endWatch(w *watched) {
	m.watched = without(m.watched, w)
	m.emit(effect.Watch{Peer: w.id})
}

// unwatchAll ends all watches of a slot.
func (m *Member) unwatchAll(s *slot) {
	for len(s.watches) > 0 {
		m.unwatch(s, s.watches[0])
	}
}

// without deletes one value from a list, if it is there.
func without[E comparable](list []E, x E) []E {
	if i := slices.Index(list, x); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// tellSilent ends all watches on a member: it is dead, or what it held is lost.
func (m *Member) tellSilent(w *watched) {
	m.endWatch(w)
	for _, s := range w.slots {
		s.watches = without(s.watches, w.id)
		m.tell(s, policy.Event{Kind: policy.Silent, From: w.id})
	}
}

// watchedAnswers notes that a member is connected.
func (m *Member) watchedAnswers(id ident.Member) {
	if w := m.watchedAs(id); w != nil {
		w.failures, w.absent, w.next = 0, false, m.now.Boot.Add(touchEvery)
	}
}

// watchedParts has a member dialled again whose connection is over.
func (m *Member) watchedParts(id ident.Member) {
	if w := m.watchedAs(id); w != nil {
		w.next = min(w.next, m.now.Boot.Add(redialPause))
	}
}

// watchedUnreachable counts a dial that was not answered, or a connection that broke
// for silence. A refusal shows life, and a failure on this side nothing. That nobody
// listens where the member was counts for all the time to wait, unless this member may
// have been too late to hear.
func (m *Member) watchedUnreachable(in Unreachable, broken bool) {
	w := m.watchedAs(in.Peer)
	switch {
	case w == nil:
	case in.Silent && broken:
		w.failures, w.since = 1, m.now.Boot
		w.asked = m.now.Boot.Add(-min(m.settings.Silence, maxUnheard))
		w.absent = in.Absent && !m.isLate()
		w.next = m.now.Boot // it is dialled, or others are asked, at once
	case in.Silent:
		before := m.enough(w)
		w.fail(m.now.Boot)
		w.absent = w.absent || in.Absent && !m.isLate()
		w.next = m.now.Boot.Add(redialPause)
		if m.enough(w) && !before {
			w.next = m.now.Boot // others are asked at once
		}
	case in.Refused:
		w.failures, w.absent = 0, false
		w.next = m.now.Boot.Add(touchPause)
	default:
		w.next = m.now.Boot.Add(redialPause)
	}
}

func (w *watched) fail(now clock.Instant) {
	if w.failures++; w.failures == 1 {
		w.since = now
	}
}

// watchedGreets tells those who watch a member when it has another custody memory
// than the one they watch: what it held is lost as if it was dead. Otherwise it may have
// started again, and have forgotten what policies told it.
func (m *Member) watchedGreets(id ident.Member, now ident.Incarnation) {
	w := m.watchedAs(id)
	switch {
	case w == nil:
	case w.incarnation != now && w.incarnation != (ident.Incarnation{}):
		m.tellSilent(w)
	case w.incarnation == now:
		for _, s := range w.slots {
			m.tell(s, policy.Event{Kind: policy.Greeted, From: id})
		}
	default:
		w.incarnation = now
	}
}

// keepWatches does what the policies' watches ask for now.
func (m *Member) keepWatches() {
	if m.stopping || m.departed {
		for len(m.watched) > 0 {
			w := m.watched[0]
			for _, s := range w.slots {
				s.watches = without(s.watches, w.id)
			}
			m.endWatch(w)
		}
		return
	}
	for i := 0; i < len(m.watched); {
		w := m.watched[i]
		if m.isSilent(w) {
			m.tellSilent(w)
			continue
		}
		if w.next <= m.now.Boot {
			m.attend(w)
		}
		i++
	}
}

// isSilent reports whether a watched member counts as dead. While nobody else is
// heard either, it may be this member that is cut off; where there is nobody else, it
// is believed at once.
func (m *Member) isSilent(w *watched) bool {
	if err := (world{m}).Standing(w.id); err != nil {
		return true
	}
	if !m.enough(w) {
		return false
	}
	return m.heardAt > w.since || len(m.dir.DrawSome(m.sources.member, 1, m.now.Wall, w.is, nil)) == 0
}

// enough reports whether a watched member has been silent for long enough.
func (m *Member) enough(w *watched) bool {
	return w.absent || w.failures > 0 && m.silentAt(w) <= m.now.Boot
}

// silentAt is when a watched member that was asked in vain has been silent for long
// enough.
func (m *Member) silentAt(w *watched) clock.Instant {
	return w.asked.Add(time.Duration(m.patience()) * m.settings.Silence)
}

func (w *watched) is(id ident.Member) bool { return id == w.id }

// attend greets a watched member, and others when it does not answer.
func (m *Member) attend(w *watched) {
	switch {
	case m.peers[w.id] != nil:
		w.next = m.now.Boot.Add(touchEvery)
		m.send(w.id, m.notes(true))
		return
	case m.enough(w):
		w.next = m.now.Boot.Add(touchPause)
		m.greetOthers(w)
	case !m.dir.Dialable(w.id):
		if w.failures == 0 {
			w.fail(m.now.Boot)
			w.asked = m.now.Boot.Add((mutePatience - 1) * m.settings.Silence)
		}
		w.next = max(m.silentAt(w), m.now.Boot.Add(redialPause))
		return
	case w.failures == 0:
		w.asked = m.now.Boot
		w.next = m.now.Boot.Add(dialPatience)
	default:
		w.next = min(m.now.Boot.Add(dialPatience), max(m.silentAt(w), m.now.Boot.Add(redialPause)))
	}
	m.greet(w.id)
}

// greetOthers asks a few others whether they hear this member: those connected, or
// any when nobody is.
func (m *Member) greetOthers(w *watched) {
	others := m.peersInOrder()
	if len(others) == 0 {
		others = m.dir.DrawSome(m.sources.member, touchAsks, m.now.Wall, w.is, nil)
	}
	rand.New(m.sources.member).Shuffle(len(others), func(i, k int) { others[i], others[k] = others[k], others[i] })
	for _, id := range others[:min(touchAsks, len(others))] {
		m.greet(id)
	}
}
