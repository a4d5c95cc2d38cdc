package handoff

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// Prepare begins to look for a member to pass a held token to, while it is
// still in use: OFFER and ACCEPT are exchanged, and nothing durable changes
// (pre-offer, handoff rules §3). A zero target means anybody. A token that was
// let go of already is not prepared.
func (m *Machine) Prepare(t ident.Token, hop uint64, target ident.Member) {
	rec := m.records[key{t, hop}]
	if rec == nil || rec.state != Hold || rec.pass != nil && (rec.pass.release || rec.pass.target == target) {
		return
	}
	if rec.pass == nil {
		m.beginPass(rec)
	}
	m.aim(rec, target)
	m.offerDue(rec)
}

// aim chooses who is asked: target alone, or anybody when it is zero. Whoever
// else has accepted is told that it was for nothing.
func (m *Machine) aim(rec *record, target ident.Member) {
	p := rec.pass
	if p.target == target {
		return
	}
	p.target = target
	p.skip()
	p.tried, p.alone = nil, false
	if target.IsZero() {
		return
	}
	for _, a := range p.accepts {
		if a.from != target {
			m.cancel(rec, a)
		}
	}
	p.forget(func(a accepted) bool { return a.from != target })
}

// Release lets go of a held token: as soon as it is not busy and the target
// has accepted it, or anybody when that is zero, custody goes there. When the
// target cannot be reached, refuses or does not answer, the token stays, and
// Unwanted says so.
func (m *Machine) Release(t ident.Token, hop uint64, target ident.Member, field []byte) {
	rec := m.records[key{t, hop}]
	if rec == nil || rec.state != Hold {
		return
	}
	if rec.pass == nil {
		m.beginPass(rec)
	}
	p := rec.pass
	p.release, p.since = true, m.now.Boot
	p.field = append([]byte(nil), field...)
	m.aim(rec, target)
	// Who has just found nobody looks again when its pause is over: a policy
	// that is told so may answer by letting go once more.
	if !m.tryRelease(rec) && (p.current.IsZero() || m.shuns(p, p.current)) && !p.alone {
		m.offerDue(rec)
	}
}

// Keep takes back that a held token is let go of, or will be: nobody is asked any
// more, and whoever has accepted it is told.
func (m *Machine) Keep(t ident.Token, hop uint64) {
	rec := m.records[key{t, hop}]
	if rec == nil || rec.state != Hold || rec.pass == nil {
		return
	}
	m.endPass(rec, ident.Member{})
	m.wakeAt(rec, clock.Never)
}

func (m *Machine) beginPass(rec *record) {
	rec.pass = &pass{}
	m.passing[rec.key] = rec
}

// endPass stops the search. Whoever has accepted, other than the winner, is
// told.
func (m *Machine) endPass(rec *record, winner ident.Member) {
	if rec.pass == nil {
		return
	}
	for _, a := range rec.pass.accepts {
		if a.from != winner {
			m.cancel(rec, a)
		}
	}
	rec.pass = nil
	delete(m.passing, rec.key)
}

// offerDue goes on with the search: it renews what is in hand, asks again, or
// asks somebody else.
func (m *Machine) offerDue(rec *record) {
	p := rec.pass
	if p == nil {
		return
	}
	if m.tryRelease(rec) {
		return
	}
	fresh := func(a accepted) bool { return m.now.Boot.Before(a.renew) && m.usable(p, a) }
	if a, ok := p.best(m.now.Boot, fresh); ok {
		m.wakeAt(rec, a.renew)
		return
	}
	if p.attempts >= m.cfg.Tuning.OffersPerPeer {
		p.skip()
		m.stats.Reselected++
	}
	if p.current.IsZero() || m.cfg.World.Standing(p.current) != nil || m.shuns(p, p.current) {
		m.drawPeer(p)
	}
	if p.current.IsZero() {
		m.nobody(rec)
		return
	}
	m.offer(rec)
}

// nobody waits a while when there was nobody to ask, or all that there are have been
// asked in vain. When that is so once more, with nobody who accepted meanwhile, the
// policy is told, and decides anew: the member may have a use for the token. If
// it had named a target it is told at once, since it may name another.
func (m *Machine) nobody(rec *record) {
	p := rec.pass
	if p.release && (p.alone || !p.target.IsZero()) {
		p.release = false
		m.notify(Notice{Kind: Unwanted, Title: rec.title, Hop: rec.key.hop, Peer: p.target})
	}
	p.alone = true
	m.wakeAt(rec, m.now.Boot.Add(m.backoff(m.cfg.Tuning.NobodyPause, m.cfg.Tuning.NobodyPause, 0)))
}

// drawPeer finds the next peer to ask. When all have been tried, all may be
// drawn again at the next call, so that a group that refuses is not asked in a
// tight loop.
func (m *Machine) drawPeer(p *pass) {
	p.current, p.attempts = ident.Member{}, 0
	if t := p.target; !t.IsZero() {
		if !p.wasTried(t) && m.cfg.World.Standing(t) == nil {
			p.current = t
		}
		p.tried = p.tried[:0]
		return
	}
	chosen, ok := m.cfg.World.Choose(p.wasTried)
	if !ok || len(p.tried) >= maxTried {
		p.tried = p.tried[:0]
		return
	}
	p.current = chosen
}

// offer sends one OFFER to the current peer.
func (m *Machine) offer(rec *record) {
	p := rec.pass
	if !m.move(rec, SenderOffer) {
		return
	}
	if p.attempts > 0 {
		m.stats.Retried++
		p.carry = true
	}
	m.stats.Offers++
	signers := rec.title.Signers()
	msg := &wire.Offer{
		Token: rec.key.token, Hop: rec.key.hop + 1, Genesis: rec.title.Genesis.Raw(),
		Signers: signers, Settled: m.settledFor(p.current),
	}
	if p.carry {
		msg.Certificates = m.certificates(signers)
	}
	m.send(p.current, msg)
	p.onWay = true
	t := m.cfg.Tuning
	wait := m.backoff(t.OfferTimeout, t.OfferTimeout<<t.OffersPerPeer, p.attempts)
	p.attempts++
	m.wakeAt(rec, m.now.Boot.Add(wait))
}

// OnAccept handles an ACCEPT: it is remembered whoever sent it, the current
// peer or an earlier one (rule S1).
func (m *Machine) OnAccept(from ident.Member, msg *wire.Accept) {
	rec := m.passing[key{msg.Token, msg.Hop - 1}]
	if rec == nil || from == m.cfg.Self || !m.move(rec, SenderAccept) {
		return
	}
	mem := m.memoryOf(from, msg.Incarnation)
	if mem == nil && m.receiverOf(from).current == nil {
		mem = m.meet(from, msg.Incarnation)
	}
	if mem == nil || msg.Accept < mem.said || msg.Accept < mem.floor || msg.Accept == 0 || msg.Accept > maxNumber {
		m.stats.Stale++
		return
	}
	mem.next = max(mem.next, msg.Accept+1)
	p := rec.pass
	if !p.target.IsZero() && p.target != from {
		m.cancel(rec, accepted{from: from, named: msg.Reservation()})
		return
	}
	lifetime := min(m.cfg.Tuning.Lifetime, clock.Millis(msg.Lifetime))
	p.remember(accepted{
		from: from, named: msg.Reservation(),
		until: m.now.Boot.Add(lifetime), renew: m.now.Boot.Add(lifetime - lifetime/4),
	})
	switch {
	case m.tryRelease(rec):
	case lifetime < m.cfg.Tuning.OfferTimeout:
		// It cannot be waited for. Asking the same peer at once for a better
		// one could go on for ever.
		p.forget(func(a accepted) bool { return a.from == from })
		if from == p.current {
			m.pass(rec)
		}
	default:
		p.alone = false
		if from == p.current {
			p.attempts, p.onWay = 0, false
		}
		m.offerDue(rec)
	}
}

// OnRefuse handles a REFUSE of an offer: somebody else is asked. It may follow
// an ACCEPT, which then is not used; the peer is told so.
func (m *Machine) OnRefuse(from ident.Member, msg *wire.Refuse) {
	rec := m.passing[key{msg.Token, msg.Hop - 1}]
	if rec == nil {
		return
	}
	for _, a := range rec.pass.accepts {
		if a.from == from {
			m.cancel(rec, a)
		}
	}
	if rec.pass.forget(func(a accepted) bool { return a.from == from }) {
		m.wakeAt(rec, m.now.Boot)
	}
	if rec.pass.current == from {
		m.pass(rec)
	}
}

// cancel tells a peer that its ACCEPT is not used; it is advice, and may get
// lost.
func (m *Machine) cancel(rec *record, a accepted) {
	m.send(a.from, &wire.Cancel{
		Token: rec.key.token, Hop: rec.key.hop + 1, Incarnation: a.named.Incarnation, Accept: a.named.Number,
	})
}

// pass goes on to another peer.
func (m *Machine) pass(rec *record) {
	rec.pass.skip()
	m.stats.Reselected++
	m.offerDue(rec)
}

// OnNeed handles a NEED, in answer to an offer or to a transfer.
func (m *Machine) OnNeed(from ident.Member, msg *wire.Need) {
	rec := m.records[key{msg.Token, msg.Hop - 1}]
	switch {
	case rec == nil:
	case rec.state == Hold && rec.pass != nil && rec.pass.current == from && !rec.pass.carry:
		rec.pass.carry = true
		rec.pass.attempts = 0
		m.offer(rec)
	case rec.state == Sent && rec.sent.Body().To == from && rec.tries == 1:
		m.retransmit(rec)
	}
}

// Introduce fills in what a HELLO to a peer says about handoffs with it.
func (m *Machine) Introduce(id ident.Member, hello *wire.Hello) {
	if o := m.offerers[id]; o != nil {
		hello.Floor = o.floor
	}
	hello.Settled = m.settledFor(id)
}

// PeerUp is told when a connection with a peer is open and its HELLO is here.
// What waits for the peer is sent again at once, but for an offer that has waited
// for this connection, or went on it: a driver sends what was said to a peer
// without a connection as soon as there is one.
func (m *Machine) PeerUp(id ident.Member, hello *wire.Hello) {
	mem := m.meet(id, hello.Incarnation)
	mem.floor = max(mem.floor, hello.Floor)
	m.dropAccepts(id, func(a accepted) bool { return a.named.Number < mem.floor })
	m.hearSettled(id, hello.Settled)
	for _, rec := range m.inOrder() {
		switch {
		case rec.state == Sent && rec.sent.Body().To == id:
			m.retransmit(rec)
		case rec.state == Hold && rec.pass != nil && (rec.pass.current == id && !rec.pass.onWay || rec.pass.current.IsZero()):
			m.offerDue(rec)
		}
	}
}

// PeerClosed is told when the connection with a peer was closed, in order, as when
// another takes its place, or not. An offer that went on it may not have arrived: it is
// sent again with the next PeerUp.
func (m *Machine) PeerClosed(id ident.Member, broken bool) {
	if o := m.offerers[id]; o != nil && broken {
		o.interrupt()
	}
	for _, rec := range m.passing {
		if rec.pass.current == id {
			rec.pass.onWay = false
		}
	}
}

// PeerDown is told when a peer cannot be reached, or when its connection broke.
// Offers to it have failed, and what it accepted is better not used: a token
// sent to it would wait for its return. Transfers to it wait, and a machine that
// stops waits for none from it.
func (m *Machine) PeerDown(id ident.Member) {
	if o := m.offerers[id]; o != nil {
		o.interrupt()
	}
	m.dropAccepts(id, func(accepted) bool { return true })
	for _, rec := range m.inOrder() {
		switch {
		case rec.state == Hold && rec.pass != nil && rec.pass.current == id:
			m.pass(rec)
		case rec.state == Live && rec.from == id && m.stopping:
			m.lapse(rec, ReceiverCancel)
		}
	}
}
