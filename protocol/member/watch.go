package member

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// minPace and maxPace bound the pause between two probes of a member that
	// does not answer. It is an eighth of gossip_interval in between, so that a
	// death is noticed within one.
	minPace = 500 * time.Millisecond
	maxPace = 5 * time.Second

	// suspectAfter is after how many failed probes in a row a member is
	// suspected: it is not chosen any more, and others are asked to probe it.
	suspectAfter = 2

	// stateAfter is after how many failed probes in a row this member states the
	// failure. One packet in ten lost makes a handshake fail less than once in a
	// thousand times, so four in a row are no accident of a bad link.
	stateAfter = 4

	// attachedPatience is how many paces a member that only dials out, and is
	// attached to this one, may take to dial again before it is stated failed.
	// Nobody can probe it.
	attachedPatience = 8

	// maxSuspects bounds the members that are watched at once. When more do not
	// answer, it is rather this member that is cut off.
	maxSuspects = 1024

	// probeHelpers is how many others are asked to probe a suspect, as in SWIM
	// (Das, Gupta, Motivala, 2002).
	probeHelpers = 3

	// suspectRate and suspectBurst bound the dials of suspects, per second and at
	// once. The rate is divided by the square of the member's patience, as most dials
	// are in vain of who is late. A dial costs 1.3 ms of processor time on both sides
	// together, so that 100 members that suspect each other on one machine take a
	// quarter of a core, and a two-hundredth when they are very late. A few suspects
	// are dialled at each pace.
	suspectRate  = 2
	suspectBurst = 4

	// probeRate and probeBurst bound the PROBE of one peer, per second and at
	// once: each may cost a dial.
	probeRate  = 1
	probeBurst = 20

	// maxStated bounds the statements that are kept in mind so as not to be made
	// twice. A statement made twice does no harm.
	maxStated = 4096
)

// suspicion is about a member that does not answer.
type suspicion struct {
	sequence uint64        // of the endpoint record under which it does not answer
	since    clock.Instant // when it first did not
	failures int           // probes in a row
	next     clock.Instant // when it is probed again
	helped   bool          // others were asked, or this member is one of those asked
}

// pace is the pause between two probes.
func (m *Member) pace() time.Duration {
	return min(max(m.settings.GossipInterval/8, minPace), maxPace)
}

// unanswered notes that nobody answered a dial, or that a connection broke because
// its peer had fallen silent: which takes so many packets without an answer that
// it counts as two dials. On a member that is late many connections break at once,
// and it counts for nothing; nor are others bothered by it.
func (m *Member) unanswered(id ident.Member, broken bool) {
	if broken && m.isLate() {
		return
	}
	if m.suspects[id] == nil {
		m.suspect(id, m.pace(), false)
	}
	s := m.suspects[id]
	if s == nil {
		return
	}
	if s.failures++; broken {
		s.failures++
	}
	if s.failures >= suspectAfter && !s.helped && !m.isLate() {
		s.helped = true
		m.askHelpers(id, s)
	}
}

// refusing notes that a member answered that it will not talk, so that it lives.
func (m *Member) refusing(id ident.Member) {
	if m.dir.Dialable(id) {
		delete(m.suspects, id)
	}
}

// suspect begins to watch a member, unless it is dead already, stated failed by
// this member, or cannot be probed by it.
func (m *Member) suspect(id ident.Member, after time.Duration, helped bool) {
	sequence, known := m.dir.Sequence(id)
	switch {
	case !known || m.stopping || id == m.self || m.peers[id] != nil:
		return
	case m.dir.Status(id, m.now.Wall) != nil || m.hasStated(id):
		return
	case len(m.suspects) >= maxSuspects:
		m.reject("too many suspects")
		return
	}
	if !m.dir.Dialable(id) {
		if !m.dir.AttachedTo(id, m.self) {
			return
		}
		after = attachedPatience * m.pace()
	}
	s := &suspicion{sequence: sequence, since: m.now.Boot, next: m.now.Boot.Add(after), helped: helped}
	m.suspects[id] = s
	m.watchAt = min(m.watchAt, s.next)
}

// askHelpers asks a few peers whether they reach a member.
func (m *Member) askHelpers(id ident.Member, s *suspicion) {
	peers := m.peersInOrder()
	random := rand.New(m.sources.member)
	for range min(probeHelpers, len(peers)) {
		i := random.IntN(len(peers))
		m.send(peers[i], &wire.Probe{Subject: id, Sequence: s.sequence})
		peers = slices.Delete(peers, i, i+1)
	}
}

// probeMessage is a peer's question whether this member reaches another. The
// answer, if it is no, is a statement of this member's own.
func (m *Member) probeMessage(p *peer, msg *wire.Probe) {
	if !p.probes.spend(m.now.Boot, probeRate, probeBurst) {
		m.reject("probe rate")
		return
	}
	if m.isLate() { // and a bad witness
		m.reject("probe while late")
		return
	}
	sequence, known := m.dir.Sequence(msg.Subject)
	switch {
	case !known || sequence != msg.Sequence:
	case m.peers[msg.Subject] != nil:
		m.greet(msg.Subject) // if it is dead the connection breaks for want of an answer
	case m.suspects[msg.Subject] == nil:
		m.suspect(msg.Subject, 0, true)
	}
}

// watch probes who is suspected, and states the failure of who has not answered
// for long enough.
func (m *Member) watch() {
	if m.now.Boot < m.watchAt {
		return
	}
	m.watchAt = clock.Never
	if m.departed {
		return // whose word counts no more
	}
	for _, id := range m.suspectsInOrder() {
		s := m.suspects[id]
		if sequence, _ := m.dir.Sequence(id); sequence != s.sequence || m.dir.Status(id, m.now.Wall) != nil {
			delete(m.suspects, id)
			continue
		}
		if s.next <= m.now.Boot {
			m.probe(id, s)
		}
		if m.suspects[id] != nil {
			m.watchAt = min(m.watchAt, s.next)
		}
	}
	if m.watchAt <= m.now.Boot { // who is due still waits for a dial
		m.watchAt = m.now.Boot.Add(m.redials.wait(m.suspectRate()))
	}
}

func (m *Member) suspectRate() float64 { return suspectRate / float64(m.patience()*m.patience()) }

// suspectsInOrder are those who do not answer, who has waited for a probe for
// longest first.
func (m *Member) suspectsInOrder() []ident.Member {
	return slices.SortedFunc(maps.Keys(m.suspects), func(a, b ident.Member) int {
		return cmp.Or(cmp.Compare(m.suspects[a].next, m.suspects[b].next), a.Compare(b))
	})
}

// probe dials a suspect once more, when that may be, or gives it up.
func (m *Member) probe(id ident.Member, s *suspicion) {
	reachable := m.dir.Dialable(id)
	if reachable && s.failures < stateAfter {
		if m.redials.spend(m.now.Boot, m.suspectRate(), suspectBurst) {
			s.next = m.now.Boot.Add(m.pace())
			m.greet(id)
		}
		return
	}
	s.next = m.now.Boot.Add(m.pace())
	switch {
	case m.isLate() || !m.inTouch(s.since):
		// It may be this member that is too late to hear, or cut off: it waits
		// until it is punctual and somebody else is heard, and begins anew.
		s.failures = min(s.failures, suspectAfter)
	default:
		delete(m.suspects, id)
		m.stateFailure(id, s.sequence)
	}
}

// inTouch reports whether somebody has been heard of since a time and is still
// connected: a member that hears nobody says nothing about others.
func (m *Member) inTouch(since clock.Instant) bool {
	return len(m.peers) > 0 && m.heardAt > since
}

// stateFailure signs that a member does not answer. A quorum of such statements
// makes it failed until it signs a new endpoint record.
func (m *Member) stateFailure(id ident.Member, sequence uint64) {
	signed, err := certificate.Failure{
		Witness: m.self, Subject: id, Sequence: sequence, Time: m.now.Millis(),
	}.Sign(m.cfg.Group.ID(), m.cfg.Key)
	if err != nil {
		m.reject("failure not signed")
		return
	}
	if len(m.stated) >= maxStated {
		clear(m.stated)
	}
	m.stated[id] = sequence + 1 // so that 0 means none
	_ = m.learnFailure(m.self, signed.Raw())
}

// answered notes that a member is alive.
func (m *Member) answered(id ident.Member) {
	delete(m.suspects, id)
	delete(m.stated, id)
}

// suspected reports whether a member has not answered of late.
func (m *Member) suspected(id ident.Member) bool {
	s := m.suspects[id]
	return s != nil && s.failures >= suspectAfter
}

// shunned reports whether a member is not chosen as the next holder for not
// answering: it is suspected, or this member has stated it failed, and others
// have not, so that it may only be the way to it that is broken. Nor is one that does not
// pass tokens on.
func (m *Member) shunned(id ident.Member) bool {
	return m.unresponsive(id) || m.isShunned(id)
}

// unresponsive reports whether another member has not answered of late.
func (m *Member) unresponsive(id ident.Member) bool { return m.hasStated(id) || m.suspected(id) }

// hasStated reports whether this member has stated the failure of another under
// the endpoint record that is known. With a newer one the other says that it lives.
func (m *Member) hasStated(id ident.Member) bool {
	stated := m.stated[id]
	if stated == 0 {
		return false
	}
	sequence, known := m.dir.Sequence(id)
	return known && stated == sequence+1
}
