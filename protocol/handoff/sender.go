package handoff

import (
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// usable reports whether an ACCEPT in hand may still name a receiver of a pass.
func (m *Machine) usable(p *pass, a accepted) bool {
	mem, n := m.memoryOf(a.from, a.named.Incarnation), a.named.Number
	return mem != nil && n >= mem.said && n >= mem.floor && m.cfg.World.Standing(a.from) == nil && !m.shuns(p, a.from)
}

// shuns reports whether a pass does not go to a member, as it is for anybody, and that member
// does not pass tokens on.
func (m *Machine) shuns(p *pass, id ident.Member) bool {
	return p.target.IsZero() && m.cfg.World.Shuns(id)
}

// tryRelease gives custody away if the policy has let go, no operation runs
// and somebody has accepted. It reports whether custody is gone.
func (m *Machine) tryRelease(rec *record) bool {
	p := rec.pass
	if p == nil || !p.release || rec.busy || m.paused {
		return false
	}
	a, ok := p.best(m.now.Boot, func(a accepted) bool { return m.usable(p, a) })
	if !ok {
		return false
	}
	m.release(rec, a)
	return true
}

// release signs the transfer, makes it durable, and only then sends it.
func (m *Machine) release(rec *record, a accepted) {
	body := rec.title.Next(a.from, a.named)
	body.Time = m.now.Millis()
	body.Field = rec.pass.field
	body.Extensions = m.Position().Extensions()
	body.SetLastOperation(m.cfg.World.LastOperation(rec.title.Genesis.Body()))
	transfer, err := body.Sign(m.cfg.Group, m.cfg.Key)
	if err != nil {
		// The field is bounded by the policy interface and the rest is ours:
		// only a bug gets here. The token stays.
		m.report("internal", a.from, "transfer not signed: "+err.Error())
		return
	}
	if !m.move(rec, SenderRelease) {
		return
	}
	since, carry := rec.pass.since, rec.pass.carry
	m.endPass(rec, a.from)
	m.held--
	m.verifier.Trust(transfer)
	rec.sent, rec.letGoAt, rec.sentAt, rec.tries, rec.doubtful = transfer, since, m.now.Boot, 0, false

	mem := m.receiverOf(a.from).of(a.named.Incarnation)
	mem.open[a.named.Number] = true
	m.promise(a.from, mem)
	m.persist(&journal.Sent{Transfer: transfer.Raw()}, true)
	m.transmit(rec, carry)
	m.notify(Notice{Kind: Parted, Title: rec.title, Hop: rec.key.hop, Peer: a.from})
}

// transmit sends the transfer of a record in SENT.
func (m *Machine) transmit(rec *record, carry bool) {
	title := rec.title
	msg := &wire.Transfer{
		Transfer: rec.sent.Raw(), Genesis: title.Genesis.Raw(),
		Previous: title.Transfer.Raw(), Void: title.Void.Raw(),
	}
	if carry {
		msg.Certificates = m.certificates(title.Signers())
	}
	m.send(rec.sent.Body().To, msg)
	t := m.cfg.Tuning
	wait := m.backoff(t.RetransmitFirst, t.RetransmitMax, rec.tries)
	if rec.doubtful {
		wait = m.backoff(t.UnknownPause, t.UnknownPause, 0)
	}
	rec.tries++
	m.wakeAt(rec, m.now.Boot.Add(wait))
}

// retransmit asks again. A volatile sender gives up in the end; a durable one
// never does.
func (m *Machine) retransmit(rec *record) {
	if !m.cfg.Durable && m.now.Boot.Sub(rec.sentAt) > m.cfg.Tuning.GiveUp {
		m.giveUp(rec)
		return
	}
	if !m.move(rec, SenderRetransmit) {
		return
	}
	if rec.tries == 1 {
		m.stats.InDoubt++
	}
	m.stats.Retransmitted++
	m.transmit(rec, true)
}

// giveUp stops asking, for good: later answers are ignored. A promise may cover
// the number, see promise.
func (m *Machine) giveUp(rec *record) {
	if !m.move(rec, SenderGiveUp) {
		return
	}
	m.stats.Abandoned++
	b := rec.sent.Body()
	m.receiverOf(b.To).of(b.Incarnation).open[b.Accept] = false
	m.persist(&journal.Closed{Token: rec.key.token, Hop: rec.key.hop}, false)
	m.notify(Notice{Kind: Abandoned, Title: rec.title, Hop: rec.key.hop, Peer: b.To})
	m.retire(rec)
}

// OnAnswer handles a RECEIPT, VOID or UNKNOWN: it must be signed by the member
// that the transfer was sent to, and name exactly that transfer.
func (m *Machine) OnAnswer(from ident.Member, verdict token.Verdict, raw []byte) error {
	answer, err := m.verifier.Answer(verdict, raw)
	if err != nil {
		m.stats.Rejected++
		return err
	}
	b := answer.Body()
	if b.Hop == 0 {
		return nil
	}
	m.compareAnswer(answer)
	rec := m.records[key{b.Token, b.Hop - 1}]
	if rec == nil || rec.state != Sent || !answer.Answers(rec.sent) {
		return nil
	}
	switch verdict {
	case token.Receipt:
		m.receipt(rec, answer)
	case token.Void:
		m.reclaim(rec, answer)
	case token.Unknown:
		m.unknown(rec, answer)
	}
	return nil
}

// receipt closes the handoff. The record is journalled lazily: asking again
// after a crash does no harm.
func (m *Machine) receipt(rec *record, answer token.Answer) {
	if !m.move(rec, SenderReceipt) {
		return
	}
	m.answered(rec)
	m.stats.Delivered++
	m.persist(&journal.Closed{Token: rec.key.token, Hop: rec.key.hop, Receipt: answer.Raw()}, false)
	m.notify(Notice{
		Kind: Delivered, Title: rec.title, Hop: rec.key.hop, Peer: rec.sent.Body().To,
		Took: m.now.Boot.Sub(rec.letGoAt), Receipt: answer.Raw(),
	})
	m.retire(rec)
}

// reclaim continues custody at the hop of the declined transfer, which is
// burned: no second transfer of that hop is ever signed.
func (m *Machine) reclaim(rec *record, void token.Answer) {
	k := key{rec.key.token, rec.key.hop + 1}
	if !m.vacate(k) || !m.move(rec, SenderVoid) {
		return
	}
	m.answered(rec)
	m.stats.Returned++
	title := token.Title{Genesis: rec.title.Genesis, Transfer: rec.sent, Void: void}
	m.writeCertificates(title.Signers()...)
	m.persist(&journal.Reclaimed{Token: k.token, Hop: k.hop, Void: void.Raw()}, true)
	m.retire(rec)
	m.add(&record{key: k, state: Hold, title: title})
	m.held++
	m.notify(Notice{Kind: Returned, Title: title, Hop: k.hop, Peer: void.Body().Signer})
}

// vacate makes room for custody that comes back by a void. A reservation in its
// place is a lie's, of somebody who offered this very hop without having it, and
// is forgotten. It reports false when a transfer of the hop was taken or declined
// here, which takes two chains of one token: then this one waits.
func (m *Machine) vacate(k key) bool {
	old := m.records[k]
	if old == nil {
		return true
	}
	if old.state != Live && old.state != Lapsed {
		return false
	}
	m.tryForget(m.offerers[old.from], old)
	return true
}

// unknown is a hint and no more: the receiver cannot say what became of the
// transfer. It is asked again, rarely; a volatile sender may stop.
func (m *Machine) unknown(rec *record, answer token.Answer) {
	if !m.move(rec, SenderUnknown) {
		return
	}
	if !m.cfg.Durable && answer.Body().Incarnation != rec.sent.Body().Incarnation {
		m.giveUp(rec)
		return
	}
	if !rec.doubtful {
		rec.doubtful = true
		t := m.cfg.Tuning
		m.wakeAt(rec, m.now.Boot.Add(m.backoff(t.UnknownPause, t.UnknownPause, 0)))
	}
}

// answered notes that a transfer's accept number is no longer open.
func (m *Machine) answered(rec *record) {
	b := rec.sent.Body()
	delete(m.receiverOf(b.To).of(b.Incarnation).open, b.Accept)
	if rec.tries > 1 {
		m.stats.InDoubtResolved++
	}
}

// inOrder is every record that waits for a peer, in an order that does not
// depend on the map.
func (m *Machine) inOrder() []*record {
	list := slices.Clone(m.heap)
	slices.SortFunc(list, func(a, b *record) int { return a.key.compare(b.key) })
	return list
}
