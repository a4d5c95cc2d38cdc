package handoff

import (
	"math/rand/v2"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// Sender passes on the tokens in custody: it finds a next holder, signs the
// transfer, and sends it until an answer comes. It moves records from HOLD to
// SENT and on to CLOSED, or after a VOID back to HOLD at the next hop.
type Sender struct {
	*shared
	offers     *offering
	recipients recipients
	jitter     *rand.Rand
}

func newSender(sh *shared) *Sender {
	rs, jitter := make(recipients), rand.New(sh.cfg.Rand)
	offers := &offering{shared: sh, recipients: rs, jitter: jitter, searches: make(map[key]*record)}
	return &Sender{shared: sh, offers: offers, recipients: rs, jitter: jitter}
}

// Prepare begins to look for a member to pass a held token to, while the token
// is still in use: the machine exchanges OFFER and ACCEPT, and nothing durable
// changes (pre-offer, handoff rules §3). A zero target means any member.
// Prepare does nothing for a token that was released already.
func (s *Sender) Prepare(t ident.Token, hop uint64, target ident.Member) {
	rec := s.book.in(Hold, t, hop)
	if rec == nil || rec.search != nil && (rec.search.release || rec.search.target == target) {
		return
	}
	s.offers.begin(rec)
	s.offers.aim(rec, target)
	s.goOn(rec)
}

// Release marks a held token as released. As soon as the token is not busy and
// the target (any member if it is zero) has accepted it, custody goes to that
// member. If the target cannot be reached, refuses or does not answer, the
// token stays, and the notice Unwanted says so: at once, if the target has not
// answered what Prepare had it asked.
func (s *Sender) Release(t ident.Token, hop uint64, target ident.Member, field []byte) {
	rec := s.book.in(Hold, t, hop)
	if rec == nil {
		return
	}
	search := s.offers.begin(rec)
	search.release, search.since = true, s.now.Boot
	search.field = append([]byte(nil), field...)
	s.offers.aim(rec, target)
	// Who has just found nobody looks again when its pause is over: a policy
	// that is told so may answer by letting go once more.
	if s.tryRelease(rec) {
		return
	}
	if search.vain && !rec.busy {
		s.offers.unwanted(rec)
	} else if (search.current.IsZero() || s.offers.shuns(search, search.current)) && !search.alone {
		s.goOn(rec)
	}
}

// Keep takes back Release or Prepare of a held token: the machine asks nobody
// further, and tells a peer that has accepted the token.
func (s *Sender) Keep(t ident.Token, hop uint64) {
	rec := s.book.in(Hold, t, hop)
	if rec == nil || rec.search == nil {
		return
	}
	s.offers.end(rec, ident.Member{})
	s.book.wakeAt(rec, clock.Never)
}

// SetBusy says whether an operation runs under the token. While one runs, the
// token is neither passed on nor dropped.
func (s *Sender) SetBusy(t ident.Token, hop uint64, busy bool) {
	rec := s.book.in(Hold, t, hop)
	if rec == nil {
		return
	}
	rec.busy = busy
	s.tryRelease(rec)
}

// Drop removes a token that is held and not busy, and reports whether it did.
func (s *Sender) Drop(t ident.Token, hop uint64, reason uint64) bool {
	rec := s.book.records[key{t, hop}]
	if rec == nil || rec.busy || !s.book.move(rec, SenderDrop) {
		return false
	}
	s.offers.end(rec, ident.Member{})
	s.persist(&journal.Dropped{Token: t, Hop: hop, Reason: reason}, true)
	s.book.retire(rec)
	return true
}

// OnAccept handles an ACCEPT.
func (s *Sender) OnAccept(from ident.Member, msg *wire.Accept) {
	rec := s.offers.of(msg.Token, msg.Hop)
	if rec == nil || from == s.cfg.Self || !s.book.move(rec, SenderAccept) {
		return
	}
	if !s.offers.remember(rec, from, msg) || s.tryRelease(rec) {
		return
	}
	if s.offers.wait(rec.search, from, msg) {
		s.goOn(rec)
	}
}

// OnRefuse handles a REFUSE of an offer: the machine asks another member. A
// REFUSE may follow an ACCEPT. The machine then does not use that ACCEPT, and
// tells the peer so.
func (s *Sender) OnRefuse(from ident.Member, msg *wire.Refuse) {
	if rec := s.offers.of(msg.Token, msg.Hop); rec != nil && s.offers.refused(rec, from) {
		s.goOn(rec)
	}
}

// OnNeed handles a NEED, in answer to an offer or to a transfer.
func (s *Sender) OnNeed(from ident.Member, msg *wire.Need) {
	rec := s.book.records[key{msg.Token, msg.Hop - 1}]
	switch {
	case rec == nil:
	case rec.search != nil && rec.search.current == from && !rec.search.carry:
		rec.search.carry = true
		rec.search.attempts = 0
		s.offers.offer(rec)
	case rec.state == Sent && rec.sent.Body().To == from && rec.tries == 1:
		s.retransmit(rec)
	}
}

// goOn gives custody away if that can be done now, and else goes on with the search.
func (s *Sender) goOn(rec *record) {
	if !s.tryRelease(rec) {
		s.offers.next(rec)
	}
}

// tryRelease gives custody away if the policy has let go, no operation runs
// and somebody has accepted. It reports whether there was somebody.
func (s *Sender) tryRelease(rec *record) bool {
	a, ok := s.offers.choose(rec)
	if ok {
		s.release(rec, a)
	}
	return ok
}

// release signs the transfer, makes it durable, and only then sends it.
func (s *Sender) release(rec *record, a accepted) {
	body := rec.title.Next(a.from, a.named)
	body.Time = s.now.Millis()
	body.Field = rec.search.field
	body.Extensions = s.openings.at(1).Extensions()
	body.SetLastOperation(s.cfg.Environment.LastOperation(rec.title.Genesis.Body()))
	transfer, err := body.Sign(s.cfg.Group, s.cfg.Key)
	if err != nil {
		// The field is bounded by the policy interface and the rest is ours:
		// only a bug gets here. The token stays.
		s.report("internal", a.from, "transfer not signed: "+err.Error())
		return
	}
	if !s.book.move(rec, SenderRelease) {
		return
	}
	since, carry := rec.search.since, rec.search.carry
	s.offers.end(rec, a.from)
	s.verifier.Trust(transfer)
	rec.sent, rec.releasedAt, rec.sentAt, rec.tries, rec.gotUnknown = transfer, since, s.now.Boot, 0, false

	mem := s.recipients.memory(a.from, a.named.Incarnation)
	mem.open[a.named.Number] = true
	s.promise(a.from, mem)
	s.persist(&journal.Sent{Transfer: transfer.Raw()}, true)
	s.transmit(rec, carry)
	s.notify(Notice{Kind: Parted, Title: rec.title, Hop: rec.key.hop, Peer: a.from})
}

// promise renews, when it has grown enough, what this member promises to a
// receiver. It is journalled ahead of the record that follows in the same step, which
// is synced, and so durable before anything that is said later.
func (s *Sender) promise(id ident.Member, mem *memory) {
	if mem.mayPromise() && mem.promise(s.offers.lowest(id, mem.incarnation)) {
		s.persist(mem.record(id), false)
	}
}

// transmit sends the transfer of a record in SENT.
func (s *Sender) transmit(rec *record, carry bool) {
	title := rec.title
	msg := &wire.Transfer{
		Transfer: rec.sent.Raw(), Genesis: title.Genesis.Raw(),
		Previous: title.Transfer.Raw(), Void: title.Void.Raw(),
	}
	if carry {
		msg.Certificates = s.certificates.of(title.Signers())
	}
	s.send(rec.sent.Body().To, msg)
	t := s.cfg.Tuning
	wait := backoff(s.jitter, t.RetransmitFirst, t.RetransmitMax, rec.tries)
	if rec.gotUnknown {
		wait = backoff(s.jitter, t.UnknownPause, t.UnknownPause, 0)
	}
	rec.tries++
	s.book.wakeAt(rec, s.now.Boot.Add(wait))
}

// retransmit asks again. A volatile sender gives up in the end; a durable one
// never does.
func (s *Sender) retransmit(rec *record) {
	if !s.cfg.Durable && s.now.Boot.Sub(rec.sentAt) > s.cfg.Tuning.GiveUp {
		s.giveUp(rec)
		return
	}
	if !s.book.move(rec, SenderRetransmit) {
		return
	}
	if rec.tries == 1 {
		s.stats.InDoubt++
	}
	s.stats.Retransmitted++
	s.transmit(rec, true)
}

// giveUp stops asking, for good: later answers are ignored. A promise may cover
// the number, see memory.promise.
func (s *Sender) giveUp(rec *record) {
	if !s.book.move(rec, SenderGiveUp) {
		return
	}
	s.stats.Abandoned++
	b := rec.sent.Body()
	s.recipients.memory(b.To, b.Incarnation).open[b.Accept] = false
	s.persist(&journal.Closed{Token: rec.key.token, Hop: rec.key.hop}, false)
	s.notify(Notice{Kind: Abandoned, Title: rec.title, Hop: rec.key.hop, Peer: b.To})
	s.book.retire(rec)
}

// OnAnswer handles a RECEIPT, VOID or UNKNOWN. The answer must be signed by the
// member that the transfer was sent to, and name exactly that transfer.
func (s *Sender) OnAnswer(from ident.Member, verdict token.Verdict, raw []byte) error {
	answer, err := s.verifier.Answer(verdict, raw)
	if err != nil {
		s.stats.Rejected++
		return err
	}
	b := answer.Body()
	if b.Hop == 0 {
		return nil
	}
	s.conflicts.answer(answer, s.book.records[key{b.Token, b.Hop}])
	rec := s.book.in(Sent, b.Token, b.Hop-1)
	if rec == nil || !answer.Answers(rec.sent) {
		return nil
	}
	switch verdict {
	case token.Receipt:
		s.receipt(rec, answer)
	case token.Void:
		s.reclaim(rec, answer)
	case token.Unknown:
		s.unknown(rec, answer)
	}
	return nil
}

// receipt closes the handoff. The record is journalled lazily: asking again
// after a crash does no harm.
func (s *Sender) receipt(rec *record, answer token.Answer) {
	if !s.book.move(rec, SenderReceipt) {
		return
	}
	s.answered(rec)
	s.stats.Delivered++
	s.persist(&journal.Closed{Token: rec.key.token, Hop: rec.key.hop, Receipt: answer.Raw()}, false)
	s.notify(Notice{
		Kind: Delivered, Title: rec.title, Hop: rec.key.hop, Peer: rec.sent.Body().To,
		Took: s.now.Boot.Sub(rec.releasedAt), Receipt: answer.Raw(),
	})
	s.book.retire(rec)
}

// reclaim continues custody at the hop of the declined transfer, which is
// burned: no second transfer of that hop is ever signed.
func (s *Sender) reclaim(rec *record, void token.Answer) {
	k := key{rec.key.token, rec.key.hop + 1}
	if !s.book.vacate(k) || !s.book.move(rec, SenderVoid) {
		return
	}
	s.answered(rec)
	s.stats.Returned++
	title := token.Title{Genesis: rec.title.Genesis, Transfer: rec.sent, Void: void}
	s.certificates.persist(&s.output, title.SignersSince(rec.title)...)
	s.persist(&journal.Reclaimed{Token: k.token, Hop: k.hop, Void: void.Raw()}, true)
	before := rec.title
	s.book.retire(rec)
	s.book.hold(k, title, before)
	s.notify(Notice{Kind: Returned, Title: title, Hop: k.hop, Peer: void.Body().Signer})
}

// unknown is a hint and no more: the receiver cannot say what became of the
// transfer. It is asked again, rarely; a volatile sender may stop.
func (s *Sender) unknown(rec *record, answer token.Answer) {
	if !s.book.move(rec, SenderUnknown) {
		return
	}
	if !s.cfg.Durable && answer.Body().Incarnation != rec.sent.Body().Incarnation {
		s.giveUp(rec)
		return
	}
	if !rec.gotUnknown {
		rec.gotUnknown = true
		pause := s.cfg.Tuning.UnknownPause
		s.book.wakeAt(rec, s.now.Boot.Add(backoff(s.jitter, pause, pause, 0)))
	}
}

// answered notes that a transfer's accept number is no longer open.
func (s *Sender) answered(rec *record) {
	b := rec.sent.Body()
	delete(s.recipients.memory(b.To, b.Incarnation).open, b.Accept)
	if rec.tries > 1 {
		s.stats.InDoubtResolved++
	}
}

// peerUp sends what waits for a peer again at once, but for an offer that has waited
// for this connection, or went on it.
func (s *Sender) peerUp(id ident.Member, hello *wire.Hello) {
	mem := s.offers.meet(id, hello.Incarnation)
	mem.floor = max(mem.floor, hello.Floor)
	s.offers.discard(id, func(a accepted) bool { return a.named.Number < mem.floor })
	for _, rec := range s.book.waiting() {
		switch {
		case rec.state == Sent && rec.sent.Body().To == id:
			s.retransmit(rec)
		case rec.search != nil && (rec.search.current == id && !rec.search.onWay || rec.search.current.IsZero()):
			s.goOn(rec)
		}
	}
}

// peerDown takes offers to a peer as failed, and does not use what it accepted.
func (s *Sender) peerDown(id ident.Member) {
	s.offers.discard(id, func(accepted) bool { return true })
	for _, rec := range s.book.waiting() {
		if rec.search != nil && rec.search.current == id {
			s.offers.fails(rec.search)
			s.goOn(rec)
		}
	}
}
