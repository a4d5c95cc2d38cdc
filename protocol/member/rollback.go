package member

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// isShown compares what a peer shows of this member with its journal, and gives up its
// memory if the journal has gone back. A position that is in the journal costs no signature check.
func (m *Member) isShown(from ident.Member, s *wire.Shown) {
	if s == nil || !m.cfg.Durable {
		return
	}
	signer, p, err := m.circ.book.peek(s)
	if err != nil || signer != m.self || p.IsZero() {
		m.members.faults.blame(from, "shown object")
		return
	}
	loss := m.circ.recall.lossOf(p)
	if loss == handoff.Whole {
		return
	}
	if !m.circ.book.verifies(s) {
		m.members.faults.blame(from, "shown object")
		return
	}
	m.giveUpMemory(p, loss)
}

// hasForgotten compares the position of an endpoint record of this member's own with its
// journal, and gives up its memory if the journal has gone back.
func (m *Member) hasForgotten(p token.Position) bool {
	loss := m.circ.recall.lossOf(p)
	switch {
	case p.IsZero() || !m.cfg.Durable || loss == handoff.Whole:
		return false
	case loss == handoff.Copied && p.Serial == 0 && len(m.circ.recall.copies) < maxCopies:
		m.circ.recall.noteCopy(p)
		return false
	}
	m.giveUpMemory(p, loss)
	return true
}

// giveUpMemory begins a new custody memory, because the journal is not what this member
// has signed: what it held is lost to it, and nobody runs under it here again. Programs
// that run go on until their deadline; until then it takes no other token.
func (m *Member) giveUpMemory(p token.Position, loss handoff.Loss) {
	m.circ.recall.rollbacks++
	m.circ.recall.lastLoss = loss
	what := "the journal has gone back: " + loss.String()
	if loss == handoff.Copied {
		what = "another process runs with this member's key, or the clock was set back: " + loss.String()
	}
	held := len(m.circ.custody.holds)
	m.emit(effect.Report{
		Kind: "journal went back", About: m.self,
		Detail: fmt.Sprintf("%s. A peer has shown what was signed at record %d of custody, in the start of %s; a new incarnation begins; tokens lost to this member: %d",
			what, p.Serial, clock.FromMillis(p.Opening).UTC().Format(time.RFC3339), held),
	})
	m.incarnation = m.circ.memory.newIncarnation()
	last := m.circ.custody.handoff.Opened().Opening
	m.circ.memory.replace()
	m.circ.memory.open(max(p.Opening, last))
	m.circ.custody.lose()
	m.circ.renewPolicies()
	m.circ.recall.begin()
	for _, id := range m.peers.list() {
		if hello := m.peers.of(id).hello; hello != nil {
			m.circ.custody.handoff.PeerUp(id, hello)
			m.circ.recall.greeted(id)
		}
		m.introduce(id)
	}
	m.members.endpoints.sign()
}

// endRecall lets the member use what it has, and take more.
func (m *Member) endRecall() {
	putOff := m.circ.endRecall()
	for _, id := range putOff {
		if m.peers.has(id) {
			m.introduce(id) // and its transfers come again
		}
	}
	if m.stopping {
		m.circ.custody.releaseAll()
	}
}
