package member

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// creditorsAtOnce is how many members that may wait for an answer are dialled in
// one look by a member that nobody can dial.
const creditorsAtOnce = 8

// signRate and signBurst bound how often this member signs an endpoint record, per
// second and at once. Each is told to everybody. Two that lie can have it answer
// them as often as they state it failed, and so can a second member with the same
// key; what is due beyond that is signed when there is room again, ten seconds
// later at most.
const (
	signRate  = 0.1
	signBurst = 8
)

// whereabouts is where this member can be reached, as it says itself.
type whereabouts struct {
	announced bool                           // the driver has said where
	addresses []string                       // none: it only dials out
	attached  map[ident.Member]clock.Instant // to whom, if it only dials out; when the connection was lost, or Never
	record    certificate.SignedEndpoint
	attachAt  clock.Instant // when it looks at its attachments again
	signAt    clock.Instant // when a record that is due is signed
	signs     budget
}

// announce takes in where the driver listens, and says so to others if that is
// news.
func (m *Member) announce(addresses []string) {
	w := &m.where
	w.announced, w.addresses = true, slices.Clone(addresses)
	m.changed = true
	if len(addresses) > 0 {
		clear(w.attached)
	}
	if raw, ok := m.dir.Endpoint(m.self); ok {
		if old, err := certificate.ParseEndpoint(m.cfg.Group.ID(), raw, m.cfg.Certificate.Key()); err == nil {
			w.record = old
		}
	}
	if len(addresses) == 0 { // it may find those again that it was attached to
		for _, id := range w.record.Body().Attached {
			w.attached[id] = m.now.Boot
		}
	}
	m.attachSome()
	if b := w.record.Body(); w.record.IsZero() || !m.saysThis(b) || !m.saysOpening(b) || m.dir.Failed(m.self) {
		m.signEndpoint()
	}
}

// saysThis reports whether an endpoint record says where this member is now.
func (m *Member) saysThis(b certificate.Endpoint) bool {
	return b.Mode == m.mode() && slices.Equal(b.Addresses, m.where.addresses) && slices.Equal(b.Attached, m.attachments())
}

// saysOpening reports whether an endpoint record names this opening of the journal, where
// one can be missed: so a copy of this member that runs somewhere else hears of it.
func (m *Member) saysOpening(b certificate.Endpoint) bool {
	return !m.cfg.Durable || token.PositionOf(b.Extensions) == m.handoff.Opened()
}

func (m *Member) mode() certificate.Mode {
	if len(m.where.addresses) > 0 {
		return certificate.Reachable
	}
	return certificate.DialsOut
}

// attachments are to whom this member keeps connections, in order of their ids.
func (m *Member) attachments() []ident.Member {
	return slices.SortedFunc(maps.Keys(m.where.attached), ident.Member.Compare)
}

// signEndpoint signs a new endpoint record, numbered above the one that is known,
// or notes when it may. The clock numbers the first, so that a member that has
// lost its journal is probably above what it has signed before; if not, it will
// hear of that.
func (m *Member) signEndpoint() {
	w := &m.where
	w.signAt = clock.Never
	if !w.announced || m.departed {
		return
	}
	if !w.signs.spend(m.now.Boot, signRate, signBurst) {
		w.signAt = m.now.Boot.Add(w.signs.wait(signRate))
		return
	}
	above, _ := m.dir.Sequence(m.self)
	e := certificate.Endpoint{
		Member: m.self, Sequence: max(above+1, m.now.Millis()), Mode: m.mode(),
		Addresses: m.where.addresses, Attached: m.attachments(), Time: m.now.Millis(),
		Extensions: m.handoff.Opened().Extensions(),
	}
	signed, err := e.Sign(m.cfg.Group.ID(), m.cfg.Key)
	if err != nil {
		m.emit(effect.Report{Kind: "endpoint record not signed", About: m.self, Detail: err.Error()})
		return
	}
	m.where.record = signed
	if _, err := m.dir.LearnEndpoint(signed.Raw()); err != nil {
		m.reject("own endpoint record")
		return
	}
	m.located(m.self, signed.Raw())
	m.tellNow(m.self)
}

// overtaken meets a record of this member's own that is newer than the one it
// remembers, or has the same number and the greater bytes: the journal is older
// than what it has signed. It signs a newer one.
func (m *Member) overtaken(raw []byte) {
	theirs, err := certificate.ParseEndpoint(m.cfg.Group.ID(), raw, m.cfg.Certificate.Key())
	if err != nil || theirs.Body().Sequence < m.where.record.Body().Sequence {
		return
	}
	if m.hasForgotten(token.PositionOf(theirs.Body().Extensions)) {
		return // which has signed one
	}
	m.signEndpoint()
}

// refute answers that this member is taken for dead, by a quorum, with a newer
// endpoint record.
func (m *Member) refute() {
	if !m.dir.Failed(m.self) {
		return
	}
	m.emit(effect.Report{Kind: "stated failed", About: m.self, Detail: "by a quorum of others, who do not reach this member; it says that it is alive"})
	m.signEndpoint()
}

// attachSome keeps a member that only dials out attached to a few others, and
// says so to everybody when they change.
func (m *Member) attachSome() {
	w := &m.where
	w.attachAt = clock.Never
	if !w.announced || len(w.addresses) > 0 || m.stopping {
		return
	}
	w.attachAt = m.now.Boot.Add(m.live.detector.pace())
	before := m.attachments()
	for id, lost := range w.attached {
		if !m.peers.has(id) && (m.now.Boot.Sub(lost) > attachedPatience*m.live.detector.pace() || m.dir.Status(id, m.now.Wall) != nil) {
			delete(w.attached, id)
		}
	}
	m.attachConnected()
	for n := len(w.attached); n < directory.Attachments; n++ {
		id, ok := m.dir.PickAttachment(m.sources.member, m.now.Wall, func(id ident.Member) bool {
			_, already := w.attached[id]
			return already || m.peers.has(id) || m.live.detector.isSuspect(id)
		})
		if !ok {
			break
		}
		m.greeter.greet(id) // once connected, it is attached
	}
	m.redial()
	m.linkRing()
	m.dialCreditors()
	if !w.record.IsZero() && !slices.Equal(before, m.attachments()) {
		m.signEndpoint()
	}
}

// attachConnected takes those for attached that are connected and can be.
func (m *Member) attachConnected() {
	for _, id := range m.peers.list() {
		if len(m.where.attached) >= directory.Attachments {
			return
		}
		if m.dir.Dialable(id) && m.dir.Status(id, m.now.Wall) == nil {
			m.where.attached[id] = clock.Never
		}
	}
}

// redial dials those that this member is attached to and has lost.
func (m *Member) redial() {
	for _, id := range m.attachments() {
		if !m.peers.has(id) {
			m.greeter.greet(id)
		}
	}
}

// attachedAgain notes that the connection with an attachment is there.
func (m *Member) attachedAgain(id ident.Member) {
	if _, ok := m.where.attached[id]; ok {
		m.where.attached[id] = clock.Never
		return
	}
	if m.where.announced && len(m.where.addresses) == 0 && len(m.where.attached) < directory.Attachments {
		m.where.attachAt = m.now.Boot
	}
}

// detached notes that the connection with an attachment is gone.
func (m *Member) detached(id ident.Member) {
	if lost, ok := m.where.attached[id]; ok && lost == clock.Never {
		m.where.attached[id] = m.now.Boot
		m.where.attachAt = m.now.Boot
	}
	if slices.Contains(m.ring.links[:], id) {
		m.where.attachAt = m.now.Boot
	}
}

// dialCreditors dials those that may wait for an answer from a member that they
// cannot dial.
func (m *Member) dialCreditors() {
	if !m.where.announced || len(m.where.addresses) > 0 {
		return
	}
	list := slices.DeleteFunc(m.handoff.Creditors(), func(id ident.Member) bool {
		return m.peers.has(id) || !m.dir.Dialable(id) || m.dir.Revoked(id)
	})
	random := rand.New(m.sources.member)
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, id := range list[:min(len(list), creditorsAtOnce)] {
		m.greeter.greet(id)
	}
}
