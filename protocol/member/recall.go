package member

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// A member that continues a journal cannot see in it whether it is the newest one. Its
// peers can: they show it the latest that it has signed. Until they have, it neither uses
// nor takes a token, nor makes one (handoff rules §10).

const (
	// recallTime bounds how long a member waits for greetings, and gossip_interval where
	// that is shorter: a dial gives up after 3 seconds, so a packet or two may get lost. A
	// member that runs late waits as many times as long as its patience is.
	recallTime = 5 * time.Second

	// recallPace is after what time a member that has not greeted is dialled again.
	recallPace = time.Second

	// maxRecallers bounds the members that are waited for, drawn at random where there
	// are more: each costs a dial, 1.3 ms of processor time on both sides together.
	maxRecallers = 64

	// maxCopies bounds the starts of copies of this member that are known to have begun
	// with an empty memory. Those of any other make it give up its own.
	maxCopies = 64

	// maxWords bounds what is kept that keepers say meanwhile.
	maxWords = 256
)

// recalling is what a member does after a restart, until it knows enough of its past.
type recalling struct {
	since  clock.Instant
	until  clock.Instant
	again  clock.Instant // when those who have not greeted are dialled again
	waits  map[ident.Member]bool
	met    map[ident.Member]bool // who has greeted
	putOff map[ident.Member]bool // whose transfers have to come again
	words  []policyEvent         // what keepers have said meanwhile
}

// keepWord keeps what a keeper says until the policy begins: others repeat what an earlier life
// of this member knew as soon as they are connected, and do not say so again for long.
func (r *recalling) keepWord(h policyEvent) {
	if len(r.words) < maxWords {
		r.words = append(r.words, h)
	}
}

// beginRecall begins to wait for greetings.
func (m *Member) beginRecall() {
	m.recalling = true
	m.recall = recalling{
		since: m.now.Boot, until: m.now.Boot.Add(m.recallPatience()), again: m.now.Boot,
		waits: make(map[ident.Member]bool), met: make(map[ident.Member]bool), putOff: make(map[ident.Member]bool),
	}
	m.handoff.Pause()
}

// recallPatience is for how long greetings are awaited at most, as far as can be said now.
func (m *Member) recallPatience() time.Duration {
	return min(recallTime, m.settings.GossipInterval) * time.Duration(m.live.own.multiplier())
}

// awaitGreetings goes on waiting, or ends it: when all have greeted who are known and can
// be dialled, or when the time is over and no program runs under a token that is lost.
func (m *Member) awaitGreetings() {
	r := &m.recall
	if !m.recalling {
		return
	}
	if m.now.Boot >= r.again {
		r.again = m.now.Boot.Add(recallPace)
		m.dialRecallers()
	}
	r.until = max(r.until, r.since.Add(m.recallPatience()))
	late := m.now.Boot >= r.until
	if !late && (len(r.met) == 0 || len(r.waits) > 0) {
		return
	}
	if m.runsLost() {
		return
	}
	if late && len(r.waits) > 0 {
		m.emit(effect.Report{
			Kind: "journal not confirmed", About: m.self,
			Detail: fmt.Sprintf("%d peers have greeted after the restart and %d have not: should the journal be an old one, only they may know", len(r.met), len(r.waits)),
		})
	}
	m.endRecall()
}

// dialRecallers dials those who have not greeted yet.
func (m *Member) dialRecallers() {
	r := &m.recall
	more := max(0, maxRecallers-len(r.waits)-len(r.met))
	for _, id := range m.dir.DrawSome(m.sources.member, more, m.now.Wall, func(id ident.Member) bool {
		return r.waits[id] || r.met[id] || !m.dir.Dialable(id)
	}, nil) {
		r.waits[id] = true
	}
	for _, id := range inOrder(r.waits) {
		if !m.peers.has(id) {
			m.members.greeter.greet(id)
		}
	}
}

// noteGreeting takes a member that has greeted off the list. Those of whom it tells are
// put there.
func (m *Member) noteGreeting(id ident.Member) {
	r := &m.recall
	if !m.recalling {
		return
	}
	r.met[id] = true
	delete(r.waits, id)
	r.again = min(r.again, m.now.Boot)
}

// nextGreeting is when there is something to do about greetings.
func (m *Member) nextGreeting() clock.Instant {
	if r := &m.recall; m.recalling && m.now.Boot < r.until {
		return min(r.again, r.until)
	}
	return clock.Never // or when a program ends
}

// inOrder are members in the order of their ids.
func inOrder(set map[ident.Member]bool) []ident.Member {
	return slices.SortedFunc(maps.Keys(set), ident.Member.Compare)
}

// runsLost reports whether a program still runs under a token of a memory that was given
// up.
func (m *Member) runsLost() bool {
	for _, g := range m.grants {
		if g.hold.lost {
			return true
		}
	}
	return false
}

// endRecall lets the member use what it has, and take more.
func (m *Member) endRecall() {
	putOff, words := m.recall.putOff, m.recall.words
	m.recall, m.recalling = recalling{}, false
	m.handoff.Resume()
	for _, s := range m.order {
		if !s.leaving {
			m.resumeSlot(s)
		}
	}
	for _, w := range words {
		m.events.notify(w.slot, w.event)
	}
	m.found()
	for _, id := range inOrder(putOff) {
		if m.peers.has(id) {
			m.introduce(id) // and its transfers come again
		}
	}
	if m.stopping {
		m.releaseAll()
	}
}

// Recalling reports whether the member waits for greetings after a restart.
func (m *Member) Recalling() bool { return m.recalling }

// isShown compares what a peer shows of this member with its journal, and gives up its
// memory if the journal has gone back. A position that is in the journal costs no signature check.
func (m *Member) isShown(from ident.Member, s *wire.Shown) {
	if s == nil || !m.cfg.Durable {
		return
	}
	signer, p, err := m.peekShown(s)
	if err != nil || signer != m.self || p.IsZero() {
		m.members.faults.blame(from, "shown object")
		return
	}
	loss := m.lossOf(p)
	if loss == handoff.Whole {
		return
	}
	if !m.verifies(s) {
		m.members.faults.blame(from, "shown object")
		return
	}
	m.giveUpMemory(p, loss)
}

// giveUpMemory begins a new custody memory, because the journal is not what this member
// has signed: what it held is lost to it, and nobody runs under it here again. Programs
// that run go on until their deadline; until then it takes no other token.
func (m *Member) giveUpMemory(p token.Position, loss handoff.Loss) {
	m.rollbacks++
	m.lastLoss = loss
	what := "the journal has gone back: " + loss.String()
	if loss == handoff.Copied {
		what = "another process runs with this member's key, or the clock was set back: " + loss.String()
	}
	held := len(m.holds)
	m.emit(effect.Report{
		Kind: "journal went back", About: m.self,
		Detail: fmt.Sprintf("%s. A peer has shown what was signed at record %d of custody, in the start of %s; a new incarnation begins; tokens lost to this member: %d",
			what, p.Serial, clock.FromMillis(p.Opening).UTC().Format(time.RFC3339), held),
	})
	m.incarnation = m.newIncarnation()
	last := m.handoff.Opened().Opening
	m.replaceHandoff()
	m.openJournal(max(p.Opening, last))
	for t, h := range m.holds {
		h.lost = true
		delete(m.holds, t)
	}
	m.renewPolicies()
	m.beginRecall()
	for _, id := range m.peers.list() {
		if hello := m.peers.of(id).hello; hello != nil {
			m.handoff.PeerUp(id, hello)
			m.noteGreeting(id)
		}
		m.introduce(id)
	}
	m.members.endpoints.sign()
}

// replaceHandoff puts an empty memory in the place of the one that there is.
func (m *Member) replaceHandoff() {
	effects, _ := m.handoff.Drain()
	m.effects = append(m.effects, effects...)
	cfg := m.handoffConfig(m.incarnation)
	cfg.Stats, cfg.Serial = m.handoff.Stats(), m.handoff.Position().Serial // not 0: see noteCopy
	m.handoff = handoff.New(cfg)
	m.handoff.SetNow(m.now)
	if m.stopping {
		m.handoff.Stop()
	}
	m.persist(m.incarnationRecord(), true)
}

// openJournal begins an opening, whose number is above those of all before it.
func (m *Member) openJournal(above uint64) {
	var tag [token.TagSize]byte
	_, _ = m.sources.openings.Read(tag[:]) // never fails
	m.handoff.Open(max(above+1, m.now.Millis()), tag)
}

// renewPolicies gives each slot a policy that knows of no token. What the old ones were
// to be told they are not.
func (m *Member) renewPolicies() {
	m.events.queue, m.events.taken = m.events.queue[:0], 0
	for _, s := range slices.Clone(m.order) {
		if s.leaving {
			m.forgetSlot(s)
			continue
		}
		p, err := m.makePolicy(s.key, s.resource, s.params, 0)
		if err != nil {
			continue // it was made before
		}
		s.policy, s.demand = p, false
		m.timers.set(s, clock.Never)
		m.live.monitors.unwatchAll(s)
	}
	m.sortSlots()
}

// hasForgotten compares the position of an endpoint record of this member's own with its
// journal, and gives up its memory if the journal has gone back.
func (m *Member) hasForgotten(p token.Position) bool {
	loss := m.lossOf(p)
	switch {
	case p.IsZero() || !m.cfg.Durable || loss == handoff.Whole:
		return false
	case loss == handoff.Copied && p.Serial == 0 && len(m.copies) < maxCopies:
		m.noteCopy(p)
		return false
	}
	m.giveUpMemory(p, loss)
	return true
}

// noteCopy notes that another process with this member's key has begun with an empty memory,
// after this one has started: what it signs takes nothing away from this one.
func (m *Member) noteCopy(p token.Position) {
	p.Serial = 0
	if m.copies == nil {
		m.copies = make(map[token.Position]bool)
	}
	m.copies[p] = true
	m.emit(effect.Report{
		Kind: "copy runs", About: m.self,
		Detail: "another process runs with this member's key, in a copy of its folder; it has begun with an empty memory, at " +
			clock.FromMillis(p.Opening).UTC().Format(time.RFC3339),
	})
}

// lossOf is what a position shows of the journal; nothing, if a copy of this member has
// signed there that has a memory of its own.
func (m *Member) lossOf(p token.Position) handoff.Loss {
	if m.copies[token.Position{Opening: p.Opening, Tag: p.Tag}] {
		return handoff.Whole
	}
	return m.handoff.Loss(p)
}
