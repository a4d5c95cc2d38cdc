package handoff

import (
	"crypto/subtle"
	"errors"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// Receiver takes tokens: it reserves room for an offered token, and takes or
// declines the transfer. It moves records from LIVE to HOLD or VOIDED, and
// remembers both until the offerer has promised that it knows the answer.
type Receiver struct {
	*shared
	macs     macs
	stopping bool
}

// Stop makes the machine refuse offers and decline transfers from now on. It
// takes back its ACCEPTs: a holder that relied on one would send its token to a
// member that has stopped, and get it back only when this member returns. See
// Reserved.
func (r *Receiver) Stop() {
	if r.stopping {
		return
	}
	r.stopping = true
	for _, k := range r.book.keys() {
		if rec := r.book.in(Live, k.token, k.hop); rec != nil {
			r.send(rec.from, &wire.Refuse{Token: k.token, Hop: k.hop, Reason: wire.RefuseStopping})
		}
	}
}

// OnOffer handles an OFFER (handoff rules §4). The caller has learned the
// certificates that came with it.
func (r *Receiver) OnOffer(from ident.Member, msg *wire.Offer) {
	r.hearSettled(from, msg.Settled)
	rec := r.book.records[key{msg.Token, msg.Hop}]
	if rec != nil && (rec.isTaken() || rec.state == Voided) {
		return
	}
	if missing := r.missing(msg.Signers); len(missing) > 0 {
		r.send(from, &wire.Need{Token: msg.Token, Hop: msg.Hop, Members: missing})
		return
	}
	if reason, refused := r.refusal(from, msg); refused {
		r.send(from, &wire.Refuse{Token: msg.Token, Hop: msg.Hop, Reason: reason})
		return
	}
	if rec = r.reserve(from, key{msg.Token, msg.Hop}, rec); rec == nil {
		r.send(from, &wire.Refuse{Token: msg.Token, Hop: msg.Hop, Reason: wire.RefuseBusy})
		return
	}
	r.send(from, &wire.Accept{
		Token: msg.Token, Hop: msg.Hop, Incarnation: r.cfg.Incarnation, Accept: rec.accept,
		MAC:      r.macs.of(from, rec.key, rec.accept),
		Lifetime: uint64(r.cfg.Tuning.Lifetime.Milliseconds()),
	})
}

// missing are those signers whose certificates are not known.
func (r *Receiver) missing(signers []ident.Member) []ident.Member {
	var list []ident.Member
	for _, s := range signers {
		if r.cfg.Environment.Key(s) == nil {
			list = append(list, s)
		}
	}
	return list
}

// refusal returns why this member refuses an offer, if it does. The offerer cannot hand over
// a refused token, as its transfer would need the MAC of an ACCEPT. The exception is a
// token that this member accepted earlier, before it began to stop, say.
func (r *Receiver) refusal(from ident.Member, msg *wire.Offer) (wire.Refusal, bool) {
	if r.stopping {
		return wire.RefuseStopping, true
	}
	if r.paused {
		return wire.RefuseRecalling, true
	}
	if r.cfg.Environment.Eligible(from) != nil {
		return wire.RefuseSigner, true
	}
	genesis, err := r.verifier.Genesis(msg.Genesis)
	if err != nil || genesis.ID() != msg.Token {
		r.stats.Rejected++
		return wire.RefuseTitle, true
	}
	r.conflicts.genesis(genesis)
	reason, admitted := r.cfg.Environment.Admits(genesis, msg.Hop)
	return reason, !admitted
}

// reserve makes or renews the reservation for an offer, or returns nil when
// there is no room. A reservation below the offerer's floor, or one that was
// made for another offerer, counts as none.
func (r *Receiver) reserve(from ident.Member, k key, rec *record) *record {
	o := r.offererOf(from)
	if rec != nil && (rec.from != from || rec.accept < o.floor) {
		r.book.forget(rec)
		rec = nil
	}
	if (rec == nil || rec.state != Live) && !(r.book.hasRoom() && o.hasRoom()) {
		return nil
	}
	if rec == nil {
		rec = &record{key: k, from: from, accept: r.draw(&r.numbers.accepts)}
		r.book.add(rec)
	}
	if !r.book.move(rec, ReceiverOffer) {
		return nil
	}
	r.book.wakeAt(rec, r.now.Boot.Add(r.cfg.Tuning.Lifetime))
	return rec
}

// offererOf finds or, with a durable floor, makes the entry of an offerer. A
// floor that was deleted is made anew at the next number (handoff rules §1).
func (r *Receiver) offererOf(id ident.Member) *offerer {
	o := r.book.offerers[id]
	if o == nil {
		o = newOfferer(r.numbers.accepts.next)
		r.book.offerers[id] = o
		r.persist(&journal.Floor{Offerer: id, Floor: o.floor}, true)
	}
	return o
}

// lapse turns a reservation into one that no longer counts.
func (r *Receiver) lapse(rec *record, e Event) {
	if r.book.move(rec, e) {
		r.book.wakeAt(rec, r.now.Boot.Add(r.cfg.Tuning.Kept))
	}
}

// OnCancel handles a CANCEL, which makes a reservation lapse. A late or lying
// CANCEL does no harm, because a transfer for a lapsed reservation is still
// taken.
func (r *Receiver) OnCancel(from ident.Member, msg *wire.Cancel) {
	rec := r.book.in(Live, msg.Token, msg.Hop)
	if rec == nil || rec.from != from ||
		msg.Incarnation != r.cfg.Incarnation || msg.Accept != rec.accept {
		return
	}
	r.lapse(rec, ReceiverCancel)
}

// verifiedTransfer is a TRANSFER message whose signatures verify and whose parts belong
// together.
type verifiedTransfer struct {
	transfer token.Transfer
	title    token.Title // of the sender, from which the transfer follows
}

// OnTransfer handles a TRANSFER, in the order of handoff rules §4. The error
// says why the machine dropped it.
func (r *Receiver) OnTransfer(from ident.Member, msg *wire.Transfer) error {
	p, missing, err := r.open(from, msg)
	if err != nil {
		r.stats.Rejected++
		return err
	}
	b := p.transfer.Body()
	if len(missing) > 0 {
		r.send(from, &wire.Need{Token: b.Token, Hop: b.Hop, Members: missing})
		return nil
	}
	k := key{b.Token, b.Hop}
	rec := r.book.records[k]
	// When two copies of a token meet, it is taken all the same: its sender may
	// have got it in good faith (handoff rules §9).
	convicted := r.conflicts.transfer(p)
	switch {
	case rec != nil && rec.isTaken():
		r.duplicate(rec, p.transfer, token.Receipt, convicted)
	case rec != nil && rec.state == Voided:
		r.duplicate(rec, p.transfer, token.Void, convicted)
	case r.isStale(k, b):
		r.stats.Stale++
		r.answer(nil, p.transfer, token.Unknown)
	case r.paused:
		return ErrPaused
	case rec == nil && len(r.book.offerers[b.From].records) >= 2*MaxUnsettled:
		// Neither taken nor declined: it may come again when room was made.
		r.stats.Rejected++
		return ErrUnsettled
	case r.mustDecline(rec, p.title.Genesis):
		r.decline(k, rec, p.transfer)
	default:
		r.take(k, rec, p)
	}
	return nil
}

// open verifies a TRANSFER message: signatures, addressee, chain (step 1).
// When certificates are missing it says whose; the transfer itself is then
// verified.
func (r *Receiver) open(from ident.Member, msg *wire.Transfer) (p verifiedTransfer, missing []ident.Member, err error) {
	p.transfer, err = r.verifier.Transfer(msg.Transfer)
	if err != nil {
		return p, nil, err
	}
	b := p.transfer.Body()
	if b.From != from || b.To != r.cfg.Self {
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
	p.title.Genesis, e = r.verifier.Genesis(msg.Genesis)
	note(e)
	if len(msg.Previous) > 0 {
		p.title.Transfer, e = r.verifier.Transfer(msg.Previous)
		note(e)
	}
	if len(msg.Void) > 0 {
		p.title.Void, e = r.verifier.Answer(token.Void, msg.Void)
		note(e)
	}
	if err != nil || len(missing) > 0 {
		return p, missing, err
	}
	if err = p.title.Check(); err == nil {
		err = p.title.Admits(p.transfer)
	}
	if err != nil {
		r.conflicts.misfit(p.transfer, msg)
	}
	return p, nil, err
}

// duplicate answers a transfer whose hop is decided (steps 2 and 3): the same
// transfer gets the same answer. Another one is evidence: against its signer,
// if that signed the first one too; otherwise somebody before both has given
// the token away twice, and who that was the chains will tell.
func (r *Receiver) duplicate(rec *record, t token.Transfer, v token.Verdict, convicted bool) {
	if rec.taken == t.Hash() {
		if r.book.move(rec, ReceiverDuplicate) {
			r.stats.Duplicates++
			r.answer(rec, t, v)
		}
		return
	}
	r.conflicts.accuse(rec, t, convicted)
}

// isStale is step 4: this memory does not answer for the number any more, or has
// never accepted the hop with it. A number is good for one hop, so that what a
// peer can make this member remember is bounded by its numbers.
func (r *Receiver) isStale(k key, b token.TransferBody) bool {
	o := r.book.offerers[b.From]
	if b.Incarnation != r.cfg.Incarnation || o == nil || b.Accept < o.floor || b.Accept >= r.numbers.accepts.next {
		return true
	}
	mac := r.macs.of(b.From, k, b.Accept)
	return subtle.ConstantTimeCompare(mac[:], b.MAC[:]) == 0
}

// mustDecline reports whether a transfer that could be taken is declined: the
// member is stopping, full, or does not know the resource any more.
func (r *Receiver) mustDecline(rec *record, g token.Genesis) bool {
	if r.stopping {
		return true
	}
	if !r.cfg.Environment.Circulates(g.Body()) {
		return true
	}
	reserved := rec != nil && rec.state == Live
	return r.book.held >= MaxHeld && !reserved
}

// take takes custody: durable, then enabled, then receipted (step 5). That the
// reservation has lapsed is no reason to refuse.
func (r *Receiver) take(k key, rec *record, p verifiedTransfer) {
	belated := rec == nil || rec.state != Live || rec.interrupted
	rec = r.book.decide(k, rec, p.transfer, ReceiverTake)
	rec.title, rec.before = token.Title{Genesis: p.title.Genesis, Transfer: p.transfer}, p.title
	r.stats.Taken++
	r.certificates.persist(&r.output, rec.signers()...)
	r.persist(rec.titleRecord(), true)
	rec.serial = r.openings.serial
	r.answer(rec, p.transfer, token.Receipt)
	r.notify(Notice{Kind: Gained, Title: rec.title, Hop: k.hop, Peer: rec.from, Giver: p.title.Giver(), Belated: belated})
}

// decline gives custody back, permanently, by a void (step 5).
func (r *Receiver) decline(k key, rec *record, t token.Transfer) {
	rec = r.book.decide(k, rec, t, ReceiverDecline)
	r.stats.Declined++
	body := token.AnswerTo(t, r.cfg.Self, r.cfg.Incarnation)
	body.Extensions = r.openings.at(1).Extensions()
	void, err := body.Sign(r.cfg.Group, token.Void, r.cfg.Key)
	if err != nil {
		r.report("internal", rec.from, "void not signed: "+err.Error())
		return
	}
	r.persist(&journal.Voided{Transfer: t.Raw(), Void: void.Raw()}, true)
	rec.serial = r.openings.serial
	r.send(rec.from, &wire.Void{Void: void.Raw()})
}

// answer signs and sends an answer to a transfer, which names the record of custody that it is about. A
// record that is from before this opening it names as the last one from there.
func (r *Receiver) answer(rec *record, t token.Transfer, v token.Verdict) {
	body := token.AnswerTo(t, r.cfg.Self, r.cfg.Incarnation)
	if v != token.Unknown {
		p := r.openings.opened
		p.Serial = max(p.Serial, rec.serial)
		body.Extensions = p.Extensions()
	}
	a, err := body.Sign(r.cfg.Group, v, r.cfg.Key)
	if err != nil {
		r.report("internal", t.Body().From, "answer not signed: "+err.Error())
		return
	}
	to := t.Body().From
	switch v {
	case token.Receipt:
		r.send(to, &wire.Receipt{Receipt: a.Raw()})
	case token.Void:
		r.send(to, &wire.Void{Void: a.Raw()})
	case token.Unknown:
		r.send(to, &wire.Unknown{Unknown: a.Raw()})
	}
}

// hearSettled raises the floor of an offerer on its promise. A promise about
// another incarnation, or beyond what was ever issued, is ignored. Custody and
// unanswered transfers are never deleted.
func (r *Receiver) hearSettled(from ident.Member, promise *wire.Settled) {
	o := r.book.offerers[from]
	if promise == nil || o == nil || promise.Incarnation != r.cfg.Incarnation || promise.Below > r.numbers.accepts.next {
		return
	}
	if promise.Below >= o.floor+settleBlock {
		r.raise(from, o, promise.Below)
	}
}

func (r *Receiver) raise(id ident.Member, o *offerer, floor uint64) {
	r.persist(&journal.Floor{Offerer: id, Floor: floor}, true)
	r.book.raise(o, floor)
}

// Bury forgets everything from an offerer that departed so long ago that no
// transfer of it can still be in progress: it raises the offerer's floor. A
// transfer of it that comes nevertheless is answered with UNKNOWN (handoff
// rules §1).
func (r *Receiver) Bury(id ident.Member) {
	o := r.book.offerers[id]
	if next := r.numbers.accepts.next; o != nil && o.floor != next {
		r.raise(id, o, next)
		r.report("buried", id, "dead for longer than the settlement time")
	}
}

// peerClosed notes that the connection with an offerer broke.
func (r *Receiver) peerClosed(id ident.Member) {
	if o := r.book.offerers[id]; o != nil {
		o.interrupt()
	}
}

// peerDown waits for no transfer from a peer that cannot be reached, if the machine stops.
func (r *Receiver) peerDown(id ident.Member) {
	r.peerClosed(id)
	if !r.stopping {
		return
	}
	for _, rec := range r.book.waiting() {
		if rec.state == Live && rec.from == id {
			r.lapse(rec, ReceiverCancel)
		}
	}
}
