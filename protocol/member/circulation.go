package member

import (
	"bytes"
	"errors"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// circulation moves tokens: it has the slots with their policies, the tokens in custody,
// and the programs that wait and run. It turns what happens to custody into events for
// policies (notice.go), and a policy's actions into calls of the handoff (act.go).
type circulation struct {
	*core
	live       *liveness
	learner    *learner
	news       *dissemination
	events     *events
	candidates *candidates
	ring       *ring
	slots      *slotTable
	custody    *custody
	memory     *custodyMemory
	book       *memoryBook
	recall     *recall
	demands    *demands
	grants     *grants
	entries    *entries
	schedule   *schedule
	messenger  *messenger
	admission  *admission
	mint       *mint
	founders   *founders
	reminders  *reminders
	receipts   *receipts
	complaints *complaints
	prosecutor prosecutor

	nextSeed func() [32]byte // for the next policy's source
	actions  []policy.Action // of the last event; its array is used again
}

func newCirculation(c *core, q *events, live *liveness, members *membership) *circulation {
	slots := &slotTable{core: c, byKey: make(map[slotKey]*slot)}
	candidates := &candidates{core: c, live: live, shuns: make(shuns)}
	ring := &ring{core: c, live: live, candidates: candidates, endpoints: members.endpoints}
	admission := &admission{core: c, slots: slots, events: q}
	book := &memoryBook{core: c, latest: make(memories)}
	custody := &custody{core: c, slots: slots, events: q, holds: make(map[ident.Token]*hold)}
	memory := &custodyMemory{core: c, custody: custody, world: environment{c, candidates, admission}, book: book}
	demands := &demands{core: c, slots: slots, events: q}
	grants := &grants{core: c, slots: slots, custody: custody, demands: demands, events: q, inForce: make(map[ident.Grant]*grant)}
	entries := newEntries(c, grants)
	schedule := &schedule{core: c, slots: slots, demands: demands}
	grants.entries, grants.hours = entries, schedule
	messenger := newMessenger(c, q)
	mint := &mint{core: c, slots: slots, custody: custody, events: q, admission: admission, ring: ring}
	return &circulation{
		core: c, live: live, learner: members.learner, news: members.news, events: q,
		candidates: candidates, ring: ring, slots: slots, custody: custody, memory: memory, book: book,
		recall:  &recall{core: c, own: live.own, greeter: members.greeter, custody: custody, grants: grants},
		demands: demands, grants: grants, entries: entries, schedule: schedule, messenger: messenger, admission: admission, mint: mint,
		founders:   &founders{core: c, custody: custody, candidates: candidates, messenger: messenger, mint: mint},
		reminders:  &reminders{core: c, slots: slots, events: q, broken: make(map[ident.Member]struct{})},
		receipts:   &receipts{core: c, custody: custody},
		complaints: &complaints{core: c, slots: slots, budget: budget{complaintBurst, c.now.Boot}},
		prosecutor: prosecutor{c},
	}
}

// begin begins a step.
func (c *circulation) begin() {
	c.custody.handoff.SetNow(c.now)
	c.schedule.tick() // what is handled now looks at the hours
	c.demands.lapse()
	c.entries.lapse()
}

// connected notes that a member has a connection with this one.
func (c *circulation) connected(id ident.Member) {
	c.messenger.connected(id)
	c.reminders.remind(id)
}

// withdraw ends a demand, whether it waits for a token or at a gate.
func (c *circulation) withdraw(request uint64) {
	if !c.entries.withdraw(request) {
		c.demands.withdraw(request)
	}
}

// unreachable notes that a dial failed, or that a connection broke.
func (c *circulation) unreachable(in Unreachable, broken bool) {
	if broken {
		c.reminders.breaks(in.Peer)
	}
	c.messenger.unreachable(in)
	c.custody.handoff.PeerDown(in.Peer)
}

// disconnected notes that a connection was closed in order.
func (c *circulation) disconnected(in Disconnected) {
	if in.Lost {
		c.reminders.breaks(in.Peer)
	}
	c.custody.handoff.PeerClosed(in.Peer, in.Lost && !in.Alive)
}

// stop has nothing new begin, and releases the tokens here.
func (c *circulation) stop() {
	c.custody.handoff.Stop()
	c.demands.refuseAll(ErrStopping)
	c.entries.refuseAll(ErrStopping)
	if !c.recalling {
		c.custody.releaseAll()
	}
}

// isIdle reports whether nothing is left to wait for, after stop. A token stays here under a grant that lasts across a restart.
func (c *circulation) isIdle() bool {
	h := c.custody.handoff
	return (h.Held() == c.grants.across() || c.recalling) && h.Unanswered() == 0 && h.Reserved() == 0
}

// tick does what is due about custody, policies and programs.
func (c *circulation) tick() {
	c.custody.handoff.Tick()
	for _, s := range c.slots.timers.take(c.now.Boot) {
		c.events.notify(s, policy.Event{Kind: policy.Timer})
	}
	c.grants.tick()
	c.entries.tick()
}

// next is when there is something to do.
func (c *circulation) next() clock.Instant {
	return min(c.custody.handoff.NextDeadline(), c.slots.timers.next(), c.grants.next(), c.entries.next(), c.schedule.next(), c.founders.next(), c.ring.again, c.messenger.at, c.recall.next())
}

// settle lets policies and handoffs answer each other until both are quiet.
func (c *circulation) settle() {
	for {
		effects, notices := c.custody.handoff.Drain()
		for _, e := range effects {
			if c.isForRevoked(e) {
				continue
			}
			c.news.attach(e)
			c.effects = append(c.effects, e)
		}
		for i := range notices {
			c.notice(&notices[i])
		}
		c.entries.lift()
		next, ok := c.events.next()
		if !ok {
			if len(notices) == 0 && len(effects) == 0 {
				return
			}
			continue
		}
		c.decide(next)
	}
}

// isForRevoked reports whether an effect would talk to a revoked member. Handoffs
// go on asking for what it was sent and has not answered, but nobody dials it: it
// answers nobody any more, and is told why when it comes.
func (c *circulation) isForRevoked(e effect.Effect) bool {
	s, ok := e.(effect.Send)
	return ok && c.dir.Revoked(s.To)
}

// message is about custody, or of a policy.
func (c *circulation) message(from ident.Member, msg wire.Message) error {
	switch msg := msg.(type) {
	case *wire.Offer:
		c.learner.signers(from, msg.Certificates)
		c.custody.handoff.OnOffer(from, msg)
		if msg.Hop == 1 && c.custody.handoff.Expects(from, msg.Token, msg.Hop) {
			c.admission.accepted(from, msg)
		}
	case *wire.Need:
		c.custody.handoff.OnNeed(from, msg)
	case *wire.Accept:
		c.custody.handoff.OnAccept(from, msg)
	case *wire.Refuse:
		c.custody.handoff.OnRefuse(from, msg)
		c.refused(msg)
	case *wire.Cancel:
		c.custody.handoff.OnCancel(from, msg)
	case *wire.Transfer:
		c.learner.signers(from, msg.Certificates)
		c.learner.updates(from, msg.Updates)
		err := c.custody.handoff.OnTransfer(from, msg)
		if errors.Is(err, handoff.ErrPaused) {
			c.recall.putOff[from] = true
		}
		return err
	case *wire.Receipt:
		c.learner.updates(from, msg.Updates)
		return c.custody.handoff.OnAnswer(from, token.Receipt, msg.Receipt)
	case *wire.Void:
		return c.custody.handoff.OnAnswer(from, token.Void, msg.Void)
	case *wire.Unknown:
		return c.custody.handoff.OnAnswer(from, token.Unknown, msg.Unknown)
	case *wire.Policy:
		c.policyMessage(from, msg)
	}
	return nil
}

// policyMessage hands a message of a policy to the one of the slot.
func (c *circulation) policyMessage(from ident.Member, msg *wire.Policy) {
	s := c.slots.configured(msg.Resource, msg.Slot)
	switch {
	case s == nil || msg.Configuration != c.settings.Version:
		c.reject("policy mismatch")
	case msg.Policy == Founding:
		c.founders.onMessage(from, s, msg.Body)
	case s.resource.Policy != msg.Policy:
		c.reject("policy mismatch")
	case c.recalling && shareOf(msg.Body) == ofKeepers:
		c.recall.keepWord(policyEvent{s, policy.Event{Kind: policy.Message, From: from, Body: bytes.Clone(msg.Body)}})
	default:
		c.events.notify(s, policy.Event{Kind: policy.Message, From: from, Body: msg.Body})
	}
}

// greeted tells the policies that a member has connected: it is alive, but may have restarted
// and forgotten what it was told.
func (c *circulation) greeted(id ident.Member) {
	for _, s := range c.slots.order {
		c.events.notify(s, policy.Event{Kind: policy.Greeted, From: id})
	}
}

// lookAround finds the neighbour anew if it may be another one, and tells the policies of a
// change.
func (c *circulation) lookAround() {
	if !c.changed && c.now.Boot < c.ring.again {
		return
	}
	if c.ring.update() {
		for _, s := range c.slots.order {
			c.notifyNeighbour(s)
		}
	}
}

// notifyNeighbour tells a slot's policy which member follows this one on the ring.
func (c *circulation) notifyNeighbour(s *slot) {
	c.events.notify(s, policy.Event{Kind: policy.Neighbour, From: c.ring.id, Members: c.ring.members})
}

// resume continues a custody memory.
func (c *circulation) resume(past []journal.Stamped) error {
	replay := handoff.NewReplay(c.memory.config(c.incarnation))
	started := make(map[ident.Grant]*journal.Started)
	for _, p := range past {
		switch r := p.Record.(type) {
		case *journal.Started:
			started[r.Grant] = r
		case *journal.Ended:
			delete(started, r.Grant)
		}
		if err := replay.Apply(p.Record); err != nil {
			return err
		}
	}
	machine, err := replay.Finish(c.now)
	if err != nil {
		return err
	}
	c.custody.handoff = machine
	c.custody.resume(started)
	c.grants.resume(started)
	return nil
}

// endRecall has all policies begin, and returns whose transfers have to come again.
func (c *circulation) endRecall() (putOff []ident.Member) {
	putOff, words := c.recall.end()
	c.resumeSlots(c.slots.inForce())
	for _, w := range words {
		c.events.notify(w.slot, w.event)
	}
	c.mint.found()
	return putOff
}
