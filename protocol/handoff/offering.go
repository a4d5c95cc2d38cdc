package handoff

import (
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// offering finds the next holders of the tokens in HOLD: it sends OFFERs and keeps
// the ACCEPTs that come back. It signs nothing and changes no custody. The Sender
// asks it for an ACCEPT to use, and has it go on as long as there is none.
type offering struct {
	*shared
	recipients recipients
	jitter     *rand.Rand
	searches   map[key]*record // the records with a search
}

// of is the record of a token that is offered, by the hop that the offers name, or nil.
func (o *offering) of(t ident.Token, hop uint64) *record { return o.searches[key{t, hop - 1}] }

// begin starts a search, unless there is one.
func (o *offering) begin(rec *record) *search {
	if rec.search == nil {
		rec.search = &search{}
		o.searches[rec.key] = rec
	}
	return rec.search
}

// end stops the search, if there is one. Whoever has accepted, other than the
// winner, is told.
func (o *offering) end(rec *record, winner ident.Member) {
	if rec.search == nil {
		return
	}
	for _, a := range rec.search.accepts {
		if a.from != winner {
			o.cancel(rec, a)
		}
	}
	rec.search = nil
	delete(o.searches, rec.key)
}

// aim chooses who is asked: target alone, or anybody when it is zero. Whoever
// else has accepted is told that it was for nothing, but for those that were the target and have not
// answered in time. A sender that takes only the answer of the target that it asked last could keep the token
// for as long as each one answers when the next one is asked.
func (o *offering) aim(rec *record, target ident.Member) {
	s := rec.search
	if s.target == target {
		return
	}
	s.target = target
	s.skip()
	s.tried, s.alone, s.vain = nil, false, false
	if target.IsZero() {
		return
	}
	for _, a := range s.accepts {
		if !s.isFor(a.from) {
			o.cancel(rec, a)
		}
	}
	s.forget(func(a accepted) bool { return !s.isFor(a.from) })
}

// usable reports whether an ACCEPT in hand may still name the receiver.
func (o *offering) usable(s *search, a accepted) bool {
	mem := o.recipients.met(a.from, a.named.Incarnation)
	return mem != nil && !mem.isForgotten(a.named.Number) && o.cfg.Environment.Eligible(a.from) == nil && !o.passesOver(s, a.from)
}

// passesOver reports whether a member that has accepted does not get the token.
func (o *offering) passesOver(s *search, id ident.Member) bool {
	if s.isLate(id) && id != s.target {
		return o.cfg.Environment.ShunsLate(id)
	}
	return o.shuns(s, id)
}

// shuns reports whether a member does not get a token that is for anybody, as it does
// not pass tokens on.
func (o *offering) shuns(s *search, id ident.Member) bool {
	return s.target.IsZero() && o.cfg.Environment.Shuns(id)
}

// choose returns the ACCEPT that a transfer names, if the policy has let go and no operation runs: that of the target, or else the
// newest one.
func (o *offering) choose(rec *record) (accepted, bool) {
	s := rec.search
	if s == nil || !s.release || rec.busy || o.paused {
		return accepted{}, false
	}
	if a, ok := s.best(o.now.Boot, func(a accepted) bool { return a.from == s.target && o.usable(s, a) }); ok {
		return a, true
	}
	return s.best(o.now.Boot, func(a accepted) bool { return o.usable(s, a) })
}

// next goes on with a search that has no ACCEPT to use: it renews what is in hand,
// asks again, or asks somebody else.
func (o *offering) next(rec *record) {
	s := rec.search
	if s == nil {
		return
	}
	fresh := func(a accepted) bool {
		return o.now.Boot.Before(a.renew) && (s.target.IsZero() || a.from == s.target) && o.usable(s, a)
	}
	if a, ok := s.best(o.now.Boot, fresh); ok {
		o.book.wakeAt(rec, a.renew)
		return
	}
	if s.attempts >= o.cfg.Tuning.OffersPerPeer {
		o.fails(s)
	}
	if s.current.IsZero() || o.cfg.Environment.Eligible(s.current) != nil || o.shuns(s, s.current) {
		o.draw(s)
	}
	if s.current.IsZero() {
		o.nobody(rec)
		return
	}
	o.offer(rec)
}

// nobody waits a while when there was nobody to ask, or all that there are have been
// asked in vain. When that is so once more, with nobody who accepted meanwhile, the
// policy is told, and decides anew: the member may have a use for the token. If
// it had named a target it is told at once, since it may name another.
func (o *offering) nobody(rec *record) {
	s := rec.search
	if s.release && (s.alone || !s.target.IsZero()) {
		o.unwanted(rec)
	}
	s.alone = true
	pause := o.cfg.Tuning.NobodyPause
	o.book.wakeAt(rec, o.now.Boot.Add(backoff(o.jitter, pause, pause, 0)))
}

// unwanted tells the policy that the token stays, and is no longer released.
func (o *offering) unwanted(rec *record) {
	s := rec.search
	if s.vain {
		s.leaves(s.target)
	}
	s.release, s.vain = false, false
	o.notify(Notice{Kind: Unwanted, Title: rec.title, Hop: rec.key.hop, Peer: s.target})
}

// draw finds the next peer to ask. When all have been tried, all may be
// drawn again at the next call, so that a group that refuses is not asked in a
// tight loop.
func (o *offering) draw(s *search) {
	s.current, s.attempts = ident.Member{}, 0
	if t := s.target; !t.IsZero() {
		if !s.wasTried(t) && o.cfg.Environment.Eligible(t) == nil {
			s.current = t
		}
		s.tried = s.tried[:0]
		return
	}
	chosen, ok := o.cfg.Environment.Choose(s.wasTried)
	if !ok || len(s.tried) >= maxTried {
		s.tried = s.tried[:0]
		return
	}
	s.current = chosen
}

// skip leaves the current peer for another one.
func (o *offering) skip(s *search) {
	s.skip()
	o.stats.Reselected++
}

// fails leaves the current peer, which does not answer. If the policy releases the token to it later, that is in vain.
func (o *offering) fails(s *search) {
	s.vain = !s.target.IsZero()
	o.skip(s)
}

// offer sends one OFFER to the current peer.
func (o *offering) offer(rec *record) {
	s := rec.search
	if !o.book.move(rec, SenderOffer) {
		return
	}
	if s.attempts > 0 {
		o.stats.Retried++
		s.carry = true
	}
	o.stats.Offers++
	signers := rec.title.Signers()
	msg := &wire.Offer{
		Token: rec.key.token, Hop: rec.key.hop + 1, Genesis: rec.title.Genesis.Raw(),
		Signers: signers, Settled: o.recipients.promise(s.current),
	}
	if s.carry {
		msg.Certificates = o.certificates.of(signers)
	}
	o.send(s.current, msg)
	s.onWay = true
	t := o.cfg.Tuning
	wait := backoff(o.jitter, t.OfferTimeout, t.OfferTimeout<<t.OffersPerPeer, s.attempts)
	s.attempts++
	o.book.wakeAt(rec, o.now.Boot.Add(wait))
}

// remember keeps an ACCEPT whoever sent it, the current peer or an earlier one (rule
// S1). It reports whether there is one more in hand.
func (o *offering) remember(rec *record, from ident.Member, msg *wire.Accept) bool {
	mem := o.recipients.met(from, msg.Incarnation)
	if mem == nil && o.recipients.of(from).current == nil {
		mem = o.meet(from, msg.Incarnation)
	}
	if mem == nil || mem.isForgotten(msg.Accept) || msg.Accept == 0 || msg.Accept > maxNumber {
		o.stats.Stale++
		return false
	}
	mem.next = max(mem.next, msg.Accept+1)
	s := rec.search
	if !s.isFor(from) {
		o.cancel(rec, accepted{from: from, named: msg.Reservation()})
		return false
	}
	lifetime := o.lifetime(msg)
	s.remember(accepted{
		from: from, named: msg.Reservation(),
		until: o.now.Boot.Add(lifetime), renew: o.now.Boot.Add(lifetime - lifetime/4),
	})
	return true
}

// wait goes on after an ACCEPT that cannot be used yet. It reports whether somebody
// has to be asked now.
func (o *offering) wait(s *search, from ident.Member, msg *wire.Accept) bool {
	if o.lifetime(msg) < o.cfg.Tuning.OfferTimeout {
		// It cannot be waited for. Asking the same peer at once for a better
		// one could go on without end.
		s.forget(func(a accepted) bool { return a.from == from })
		if from != s.current {
			return false
		}
		o.skip(s)
		return true
	}
	if !s.target.IsZero() && from != s.target {
		return false
	}
	s.alone, s.vain = false, false
	if from == s.current {
		s.attempts, s.onWay = 0, false
	}
	return true
}

// refused drops what a peer has accepted, which is told so. It reports whether
// somebody else has to be asked now.
func (o *offering) refused(rec *record, from ident.Member) bool {
	s := rec.search
	for _, a := range s.accepts {
		if a.from == from {
			o.cancel(rec, a)
		}
	}
	if s.forget(func(a accepted) bool { return a.from == from }) {
		o.book.wakeAt(rec, o.now.Boot)
	}
	s.hasAnswered(from)
	if s.current != from {
		return false
	}
	s.vain = false
	o.skip(s)
	return true
}

// cancel tells a peer that its ACCEPT is not used; it is advice, and may get
// lost.
func (o *offering) cancel(rec *record, a accepted) {
	o.send(a.from, &wire.Cancel{
		Token: rec.key.token, Hop: rec.key.hop + 1, Incarnation: a.named.Incarnation, Accept: a.named.Number,
	})
}

// meet notes which incarnation a peer is. ACCEPTs of another one are worthless.
func (o *offering) meet(id ident.Member, incarnation ident.Incarnation) *memory {
	mem, replaced := o.recipients.meet(id, incarnation)
	if replaced {
		o.discard(id, func(a accepted) bool { return a.named.Incarnation != incarnation })
	}
	return mem
}

// discard drops ACCEPTs in hand of one peer. A search that has lost one goes on at
// once: it may have waited for nothing else.
func (o *offering) discard(id ident.Member, which func(accepted) bool) {
	for _, rec := range o.searches {
		if rec.search.forget(func(a accepted) bool { return a.from == id && which(a) }) {
			o.book.wakeAt(rec, o.now.Boot)
		}
	}
}

// lowest is the lowest number of an ACCEPT in hand of a peer's incarnation.
func (o *offering) lowest(id ident.Member, incarnation ident.Incarnation) uint64 {
	lowest := uint64(maxNumber) + 1
	for _, rec := range o.searches {
		for _, a := range rec.search.accepts {
			if a.from == id && a.named.Incarnation == incarnation {
				lowest = min(lowest, a.named.Number)
			}
		}
	}
	return lowest
}

// lost notes that the connection with a peer was closed: an offer that went on it may
// not have arrived, and is sent again with the next one.
func (o *offering) lost(id ident.Member) {
	for _, rec := range o.searches {
		if rec.search.current == id {
			rec.search.onWay = false
		}
	}
}

// lifetime is how long an ACCEPT may be used.
func (o *offering) lifetime(msg *wire.Accept) time.Duration {
	return min(o.cfg.Tuning.Lifetime, clock.Millis(msg.Lifetime))
}
