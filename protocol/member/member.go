package member

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
)

// Member is one member of a group.
type Member struct {
	*core
	live    *liveness
	members *membership
	circ    *circulation

	housekeepAt clock.Instant
}

// Step tells the member of one input and returns what is to be done, in order.
// The slice is the caller's.
func (m *Member) Step(now clock.Reading, in Input) []effect.Effect {
	m.now = now
	m.circ.begin()
	m.handle(in)
	m.tick()
	m.circ.lookAround()
	m.circ.settle()
	m.members.news.flush()
	return m.drain()
}

func (m *Member) handle(in Input) {
	switch in := in.(type) {
	case Tick:
	case Late:
		m.live.own.late.note(in.By, m.now.Boot)
	case Received:
		m.receive(in)
	case Connected:
		m.connected(in.Certificate)
	case Unreachable:
		broken := m.peers.has(in.Peer)
		m.disconnected(in.Peer)
		m.live.unreachable(in, broken)
		m.circ.unreachable(in, broken)
	case Disconnected:
		m.disconnected(in.Peer)
		m.circ.disconnected(in)
	case Demand:
		m.circ.grants.demand(in)
	case Withdraw:
		m.circ.withdraw(in.Request)
	case Ended:
		m.circ.grants.reported(in)
	case GateReachable:
		m.circ.entries.reaches(in)
	case GateSaid:
		m.circ.entries.said(in)
	case Learn:
		m.members.learn(in)
	case Announce:
		m.members.endpoints.announce(in.Addresses)
	case Renewed:
		m.members.renew(in.Certificate)
	case Leave:
		m.leave()
	case Shutdown:
		m.shutdown()
	}
}

// tick does what time brings. The order is part of what a seed means: Timer events come
// before Silent, and both before what messengers and founders say.
func (m *Member) tick() {
	m.circ.tick()
	m.live.tick()
	m.circ.messenger.tick()
	if m.circ.recall.isOver() {
		m.endRecall()
	}
	m.circ.founders.tick()
	m.members.tick()
	m.housekeep()
}

// NextDeadline is when Step wants to be called with a Tick, or clock.Never.
func (m *Member) NextDeadline() clock.Instant {
	return min(m.circ.next(), m.live.next(), m.members.next(), m.housekeepAt)
}

// Idle reports whether a member that was told to shut down has nothing left to
// wait for: it holds no token that it could pass on (one under a grant across a restart stays), every transfer is
// answered, and nobody may still send one that it has accepted.
func (m *Member) Idle() bool {
	return m.stopping && m.circ.isIdle()
}

func (m *Member) shutdown() {
	if m.stopping {
		return
	}
	m.stopping = true
	m.circ.stop()
}

// reconfigure makes the slots of the group configuration, and has everything follow it.
func (m *Member) reconfigure() error {
	former := m.settings
	slots, err := m.circ.configure()
	if err != nil {
		return err
	}
	m.dir.SetGroup(m.cfg.Group)
	m.members.exchange.hasten()
	m.housekeepAt = min(m.housekeepAt, m.now.Boot) // the settlement time may be another
	m.circ.resumeSlots(slots)
	if m.circ.custody.handoff != nil { // or the journal is still being read: see noteConfiguration
		m.circ.founders.begin(slots, former)
	}
	return nil
}
