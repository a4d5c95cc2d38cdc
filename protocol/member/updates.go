package member

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// newsRate and newsBurst bound the NEWS of one peer, per second and at once.
	// It sends one when somebody leaves, fails or comes back: rarely, or in
	// bursts when a network breaks.
	newsRate  = 10
	newsBurst = 100

	// updateRate and updateBurst bound the updates of one peer that are looked at,
	// per second and at once: each costs up to two signature checks. Only news
	// travel, so that more come when very many join, and those the comparison of
	// directories brings.
	updateRate  = 100
	updateBurst = 2000

	// spreadExtra is how many more peers than ln N urgent news go to. With ln N
	// + c random receivers each, a rumour misses somebody in a group of any size
	// with a probability of about e^-c (Kermarrec, Massoulié, Ganesh, 2003).
	spreadExtra = 3
)

// attach puts updates on what moves custody and on what answers it, so that each
// handoff tells both sides what the other has heard.
func (m *Member) attach(e effect.Effect) {
	s, ok := e.(effect.Send)
	if !ok || !m.peers.has(s.To) { // perhaps nobody is there to hear it
		return
	}
	switch msg := s.Message.(type) {
	case *wire.Transfer:
		msg.Updates = m.takeUpdates()
	case *wire.Receipt:
		msg.Updates = m.takeUpdates()
	}
}

// isForRevoked reports whether an effect would talk to a revoked member. Handoffs
// go on asking for what it was sent and has not answered, but nobody dials it: it
// answers nobody any more, and is told why when it comes.
func (m *Member) isForRevoked(e effect.Effect) bool {
	s, ok := e.(effect.Send)
	return ok && m.dir.Revoked(s.To)
}

func (m *Member) takeUpdates() [][]byte {
	return m.updates.Take(m.settings.UpdateCapacity, m.dir.Candidates()+1, m.heard...)
}

// spread tells others of an update: on the tokens and receipts to come.
func (m *Member) spread(key update.Key, u update.Update) { m.enlist(key, u) }

func (m *Member) enlist(key update.Key, u update.Update) (raw []byte, ok bool) {
	raw, err := u.Encode()
	if err != nil {
		m.reject("update not encoded")
		return nil, false
	}
	m.updates.Add(key, raw)
	return raw, true
}

// spreadNow tells others of what cannot wait for a token: who joined, left, died,
// or is alive after all.
func (m *Member) spreadNow(key update.Key, u update.Update) {
	if raw, ok := m.enlist(key, u); ok {
		m.urgent = append(m.urgent, raw)
	}
}

// sendUrgent sends what cannot wait to a few random peers, who do the same if it
// is news to them.
func (m *Member) sendUrgent() {
	if len(m.urgent) == 0 {
		return
	}
	urgent := m.urgent
	m.urgent = nil
	peers := m.peers.list()
	random := rand.New(m.sources.member)
	random.Shuffle(len(peers), func(i, j int) { peers[i], peers[j] = peers[j], peers[i] })
	fanout := spreadExtra + int(math.Ceil(math.Log(float64(m.dir.Candidates()+2))))
	for _, id := range peers[:min(len(peers), fanout)] {
		for _, news := range bundles(urgent) {
			m.send(id, &wire.News{Updates: news})
		}
	}
}

// bundles are updates in lists that each fit a message.
func bundles(list [][]byte) (out [][][]byte) {
	if len(list) == 0 {
		return nil
	}
	size, begin := 0, 0
	for i, raw := range list {
		if i > begin && (i-begin == wire.MaxUpdates || size+len(raw) > pageBytes) {
			out = append(out, list[begin:i])
			size, begin = 0, i
		}
		size += len(raw) + entryHead
	}
	return append(out, list[begin:])
}

// entryHead is what one byte string costs beside its bytes.
const entryHead = 3

// newsMessage takes in updates that came outside a handoff.
func (m *Member) newsMessage(from ident.Member, p *peer, msg *wire.News) {
	if !p.news.spend(m.now.Boot, newsRate, newsBurst) {
		m.reject("news rate")
		return
	}
	m.takeIn(from, msg.Updates)
}

// takeIn takes in the updates that a peer carries. Each one proves itself. The
// first that does not ends it: its carrier has not checked what it passes on.
func (m *Member) takeIn(from ident.Member, list [][]byte) {
	if len(list) == 0 {
		return
	}
	if m.ignored(from) {
		m.reject("ignored peer")
		return
	}
	m.heard = append(m.heard, list...)
	p := m.peers.of(from)
	for _, raw := range list {
		if p == nil || !p.updates.spend(m.now.Boot, updateRate, updateBurst) {
			m.reject("update rate")
			return
		}
		u, err := update.Parse(raw)
		if errors.Is(err, update.ErrKind) {
			m.reject("unknown kind of update") // of a later version of the protocol
			continue
		}
		if err != nil {
			m.blame(from, "malformed update")
			return
		}
		m.talk(func() { err = m.takeUpdate(from, u) })
		if err != nil && !errors.Is(err, certificate.ErrUnknownCA) {
			return // of a CA key that is not known here yet, who carries it may know
		}
	}
}

// takeUpdate takes in one update, and passes on what is news.
func (m *Member) takeUpdate(from ident.Member, u update.Update) error {
	if u.Kind == update.KindRevocation {
		return m.learnRevocations(from, [][]byte{u.Revocation})
	}
	if m.dir.Sampled() && !m.concerns(u) {
		return nil
	}
	if err := m.learnCertificate(from, u.Certificate, m.dir.Learn); err != nil {
		return err
	}
	switch u.Kind {
	case update.KindJoin:
		return m.learnEndpoint(from, u.Endpoint)
	case update.KindLeave:
		return m.learnLeave(from, u.Leave)
	case update.KindFailure:
		return m.learnFailure(from, u.Failure)
	}
	return nil
}

// concerns reports whether an update is about somebody of whom a member that
// knows a sample wants to know.
func (m *Member) concerns(u update.Update) bool {
	switch u.Kind {
	case update.KindJoin:
		c, err := certificate.Peek(m.cfg.Group.ID(), u.Certificate)
		return err != nil || m.dir.Wants(ident.MemberOf(c.Group, c.Key[:]))
	case update.KindLeave:
		id, err := certificate.LeaveSigner(m.cfg.Group.ID(), u.Leave)
		return err != nil || m.knows(id)
	case update.KindFailure:
		f, err := certificate.PeekFailure(m.cfg.Group.ID(), u.Failure)
		return err != nil || m.knows(f.Subject)
	}
	return true
}

func (m *Member) knows(id ident.Member) bool {
	return m.dir.RawCertificate(id) != ""
}
