package handoff

import (
	"crypto/subtle"
	"errors"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// OnOffer handles an OFFER (handoff rules §4). Certificates that came along
// have been learned already.
func (m *Machine) OnOffer(from ident.Member, msg *wire.Offer) {
	m.hearSettled(from, msg.Settled)
	rec := m.records[key{msg.Token, msg.Hop}]
	if rec != nil && (rec.isTaken() || rec.state == Voided) {
		return
	}
	if missing := m.missing(msg.Signers); len(missing) > 0 {
		m.send(from, &wire.Need{Token: msg.Token, Hop: msg.Hop, Members: missing})
		return
	}
	if reason, refused := m.refusal(from, msg); refused {
		m.send(from, &wire.Refuse{Token: msg.Token, Hop: msg.Hop, Reason: reason})
		return
	}
	if rec = m.reserve(from, key{msg.Token, msg.Hop}, rec); rec == nil {
		m.send(from, &wire.Refuse{Token: msg.Token, Hop: msg.Hop, Reason: wire.RefuseBusy})
		return
	}
	m.send(from, &wire.Accept{
		Token: msg.Token, Hop: msg.Hop, Incarnation: m.cfg.Incarnation, Accept: rec.accept,
		MAC:      m.macs.of(from, rec.key, rec.accept),
		Lifetime: uint64(m.cfg.Tuning.Lifetime.Milliseconds()),
	})
}

// missing are those signers whose certificates are not known.
func (m *Machine) missing(signers []ident.Member) []ident.Member {
	var list []ident.Member
	for _, s := range signers {
		if m.cfg.World.Key(s) == nil {
			list = append(list, s)
		}
	}
	return list
}

// refusal returns why this member refuses an offer, if it does. The offerer cannot hand over
// a refused token, as its transfer would need the MAC of an ACCEPT. The exception is a
// token that this member accepted earlier, before it began to stop, say.
func (m *Machine) refusal(from ident.Member, msg *wire.Offer) (wire.Refusal, bool) {
	if m.stopping {
		return wire.RefuseStopping, true
	}
	if m.paused {
		return wire.RefuseRecalling, true
	}
	if m.cfg.World.Standing(from) != nil {
		return wire.RefuseSigner, true
	}
	genesis, err := m.verifier.Genesis(msg.Genesis)
	if err != nil || genesis.ID() != msg.Token {
		m.stats.Rejected++
		return wire.RefuseTitle, true
	}
	m.compareGenesis(genesis)
	reason, admitted := m.cfg.World.Admits(genesis.Body(), msg.Hop)
	return reason, !admitted
}

// reserve makes or renews the reservation for an offer, or returns nil when
// there is no room. A reservation below the offerer's floor, or one that was
// made for another offerer, counts as none.
func (m *Machine) reserve(from ident.Member, k key, rec *record) *record {
	o := m.offererOf(from)
	if rec != nil && (rec.from != from || rec.accept < o.floor) {
		m.tryForget(m.offerers[rec.from], rec)
		rec = nil
	}
	if rec == nil || rec.state != Live {
		if m.live >= MaxReservations || m.held+m.live >= MaxHeld ||
			o.live >= MaxReservationsPerPeer || len(o.records) >= MaxUnsettled {
			return nil
		}
	}
	if rec == nil {
		rec = &record{key: k, from: from, accept: m.drawAccept()}
		m.add(rec)
		o.records[rec.accept] = rec
	}
	if rec.state != Live {
		o.live++
		m.live++
	}
	if !m.move(rec, ReceiverOffer) {
		return nil
	}
	m.wakeAt(rec, m.now.Boot.Add(m.cfg.Tuning.Lifetime))
	return rec
}

// lapse turns a reservation into one that no longer counts.
func (m *Machine) lapse(rec *record, e Event) {
	if !m.move(rec, e) {
		return
	}
	m.offerers[rec.from].live--
	m.live--
	m.wakeAt(rec, m.now.Boot.Add(m.cfg.Tuning.Kept))
}

// OnCancel handles a CANCEL. A late or lying one is harmless: what has lapsed
// is still taken.
func (m *Machine) OnCancel(from ident.Member, msg *wire.Cancel) {
	rec := m.records[key{msg.Token, msg.Hop}]
	if rec == nil || rec.state != Live || rec.from != from ||
		msg.Incarnation != m.cfg.Incarnation || msg.Accept != rec.accept {
		return
	}
	m.lapse(rec, ReceiverCancel)
}

// parcel is a TRANSFER message whose signatures verify and whose parts belong
// together.
type parcel struct {
	transfer token.Transfer
	title    token.Title // of the sender, from which the transfer follows
}

// OnTransfer handles a TRANSFER, in the order of handoff rules §4. The error
// says why it was dropped.
func (m *Machine) OnTransfer(from ident.Member, msg *wire.Transfer) error {
	p, missing, err := m.open(from, msg)
	if err != nil {
		m.stats.Rejected++
		return err
	}
	b := p.transfer.Body()
	if len(missing) > 0 {
		m.send(from, &wire.Need{Token: b.Token, Hop: b.Hop, Members: missing})
		return nil
	}
	k := key{b.Token, b.Hop}
	rec := m.records[k]
	// When two copies of a token meet, it is taken all the same: its sender may
	// have got it in good faith (handoff rules §9).
	convicted := m.examine(p)
	switch {
	case rec != nil && rec.isTaken():
		m.duplicate(rec, p.transfer, token.Receipt, convicted)
	case rec != nil && rec.state == Voided:
		m.duplicate(rec, p.transfer, token.Void, convicted)
	case m.isStale(k, b):
		m.stats.Stale++
		m.answer(nil, p.transfer, token.Unknown)
	case m.paused:
		return ErrPaused
	case rec == nil && len(m.offerers[b.From].records) >= 2*MaxUnsettled:
		// Neither taken nor declined: it may come again when room was made.
		m.stats.Rejected++
		return ErrUnsettled
	case m.mustDecline(rec, p.title.Genesis):
		m.decline(k, rec, p.transfer)
	default:
		m.take(k, rec, p)
	}
	return nil
}

// open verifies a TRANSFER message: signatures, addressee, chain (step 1).
// When certificates are missing it says whose; the transfer itself is then
// verified.
func (m *Machine) open(from ident.Member, msg *wire.Transfer) (p parcel, missing []ident.Member, err error) {
	p.transfer, err = m.verifier.Transfer(msg.Transfer)
	if err != nil {
		return p, nil, err
	}
	b := p.transfer.Body()
	if b.From != from || b.To != m.cfg.Self {
		return p, nil, ErrAddress
	}
	note := func(e error) {
		if unknown, is := errors.AsType[*token.UnknownSignerError](e); is {
			missing = append(missing, unknown.Member)
		} else if e != nil && err == nil {
			err = e
		}
	}
	var e error
	p.title.Genesis, e = m.verifier.Genesis(msg.Genesis)
	note(e)
	if len(msg.Previous) > 0 {
		p.title.Transfer, e = m.verifier.Transfer(msg.Previous)
		note(e)
	}
	if len(msg.Void) > 0 {
		p.title.Void, e = m.verifier.Answer(token.Void, msg.Void)
		note(e)
	}
	if err != nil || len(missing) > 0 {
		return p, missing, err
	}
	if err = p.title.Check(); err == nil {
		err = p.title.Admits(p.transfer)
	}
	if err != nil {
		m.misfit(p.transfer, msg)
	}
	return p, nil, err
}

// duplicate answers a transfer whose hop is decided (steps 2 and 3): the same
// transfer gets the same answer. Another one is evidence: against its signer,
// if that signed the first one too; otherwise somebody before both has given
// the token away twice, and who that was the chains will tell.
func (m *Machine) duplicate(rec *record, t token.Transfer, v token.Verdict, convicted bool) {
	if rec.taken == t.Hash() {
		if m.move(rec, ReceiverDuplicate) {
			m.stats.Duplicates++
			m.answer(rec, t, v)
		}
		return
	}
	m.accuse(rec, t, convicted)
}

// isStale is step 4: this memory does not answer for the number any more, or has
// never accepted the hop with it. A number is good for one hop, so that what a
// peer can make this member remember is bounded by its numbers.
func (m *Machine) isStale(k key, b token.TransferBody) bool {
	o := m.offerers[b.From]
	if b.Incarnation != m.cfg.Incarnation || o == nil || b.Accept < o.floor || b.Accept >= m.nextAccept {
		return true
	}
	mac := m.macs.of(b.From, k, b.Accept)
	return subtle.ConstantTimeCompare(mac[:], b.MAC[:]) == 0
}

// mustDecline reports whether a transfer that could be taken is declined: the
// member is stopping, full, or does not know the resource any more.
func (m *Machine) mustDecline(rec *record, g token.Genesis) bool {
	if m.stopping {
		return true
	}
	if !m.cfg.World.Circulates(g.Body()) {
		return true
	}
	reserved := rec != nil && rec.state == Live
	return m.held >= MaxHeld && !reserved
}

// claim turns a reservation, or the lack of one, into the record of a decided
// transfer.
func (m *Machine) claim(k key, rec *record, t token.Transfer, e Event) *record {
	b := t.Body()
	o := m.offerers[b.From]
	if rec != nil {
		old := m.offerers[rec.from]
		if rec.state == Live {
			old.live--
			m.live--
		}
		old.remove(rec)
	} else {
		rec = &record{key: k}
		m.add(rec)
	}
	rec.from, rec.accept, rec.taken = b.From, b.Accept, t.Hash()
	o.records[rec.accept] = rec
	m.move(rec, e)
	m.wakeAt(rec, clock.Never)
	return rec
}

// take takes custody: durable, then enabled, then receipted (step 5). That the
// reservation has lapsed is no reason to refuse.
func (m *Machine) take(k key, rec *record, p parcel) {
	belated := rec == nil || rec.state != Live || rec.interrupted
	rec = m.claim(k, rec, p.transfer, ReceiverTake)
	rec.title = token.Title{Genesis: p.title.Genesis, Transfer: p.transfer}
	m.held++
	m.stats.Taken++
	m.writeCertificates(rec.title.Signers()...)
	m.persist(&journal.Held{Transfer: p.transfer.Raw(), Genesis: p.title.Genesis.Raw()}, true)
	rec.serial = m.openings.serial
	m.answer(rec, p.transfer, token.Receipt)
	m.notify(Notice{Kind: Gained, Title: rec.title, Hop: k.hop, Peer: rec.from, Belated: belated})
}

// decline gives custody back, for ever, by a void (step 5).
func (m *Machine) decline(k key, rec *record, t token.Transfer) {
	rec = m.claim(k, rec, t, ReceiverDecline)
	m.stats.Declined++
	body := token.AnswerTo(t, m.cfg.Self, m.cfg.Incarnation)
	body.Extensions = m.Position().Extensions()
	void, err := body.Sign(m.cfg.Group, token.Void, m.cfg.Key)
	if err != nil {
		m.report("internal", rec.from, "void not signed: "+err.Error())
		return
	}
	m.persist(&journal.Voided{Transfer: t.Raw(), Void: void.Raw()}, true)
	rec.serial = m.openings.serial
	m.send(rec.from, &wire.Void{Void: void.Raw()})
}

// answer signs and sends an answer to a transfer, which names the record of custody that it is about. A
// record that is from before this opening it names as the last one from there.
func (m *Machine) answer(rec *record, t token.Transfer, v token.Verdict) {
	body := token.AnswerTo(t, m.cfg.Self, m.cfg.Incarnation)
	if v != token.Unknown {
		p := m.opened
		p.Serial = max(p.Serial, rec.serial)
		body.Extensions = p.Extensions()
	}
	a, err := body.Sign(m.cfg.Group, v, m.cfg.Key)
	if err != nil {
		m.report("internal", t.Body().From, "answer not signed: "+err.Error())
		return
	}
	to := t.Body().From
	switch v {
	case token.Receipt:
		m.send(to, &wire.Receipt{Receipt: a.Raw()})
	case token.Void:
		m.send(to, &wire.Void{Void: a.Raw()})
	case token.Unknown:
		m.send(to, &wire.Unknown{Unknown: a.Raw()})
	}
}
