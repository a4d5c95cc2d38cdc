package member

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

// Member is one member of a group.
type Member struct {
	*core
	events   *events
	live     *liveness
	members  *membership
	nextSeed func() [32]byte // for the next policy's source

	handoff *handoff.Machine

	slots   map[slotKey]*slot
	order   []*slot // by resource and number
	timers  timers  // of the slots' policies
	added   []*slot // that are being founded
	holds   map[ident.Token]*hold
	demands []*demand
	grants  map[ident.Grant]*grant

	broken map[ident.Member]struct{} // whose connection broke, until the next one

	// Whether a journal has gone back: see memories.go, recall.go.
	memories  memories // the latest objects that others have signed
	recall    recalling
	rollbacks uint64 // custody memories given up, since the start
	lastLoss  handoff.Loss
	copies    map[token.Position]bool // where others with this key have begun anew, with serial 0

	tells                   tells   // to members that are not connected: see tells.go
	policyRate, policyBurst float64 // POLICY messages that a peer may send

	ring       neighbour
	clocks     peerClocks
	shuns      shuns // whom policies pass no tokens to
	complaints budget

	housekeepAt clock.Instant
	actions     []policy.Action

	generated, dropped uint64 // tokens
}

// Step tells the member of one input and returns what is to be done, in order.
// The slice is the caller's.
func (m *Member) Step(now clock.Reading, in Input) []effect.Effect {
	m.now = now
	m.handoff.SetNow(now)
	m.lapse()
	m.handle(in)
	m.tick()
	m.lookAround()
	m.settle()
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
		if broken {
			m.breaks(in.Peer)
		}
		m.live.unreachable(in, broken)
		m.tellUnanswered(in)
		m.handoff.PeerDown(in.Peer)
	case Disconnected:
		m.disconnected(in.Peer)
		if in.Lost {
			m.breaks(in.Peer)
		}
		m.handoff.PeerClosed(in.Peer, in.Lost && !in.Alive)
	case Demand:
		m.demand(in)
	case Withdraw:
		m.withdraw(in.Request)
	case Ended:
		m.reported(in)
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

// tick does what time brings.
func (m *Member) tick() {
	m.handoff.Tick()
	for _, s := range m.timers.take(m.now.Boot) {
		m.events.notify(s, policy.Event{Kind: policy.Timer})
	}
	m.expireGrants()
	m.live.tick()
	m.tellStrangers()
	m.awaitGreetings()
	m.foundSlots()
	m.members.tick()
	m.housekeep()
}

// settle lets policies and handoffs answer each other until both are quiet.
func (m *Member) settle() {
	for {
		effects, notices := m.handoff.Drain()
		for _, e := range effects {
			if m.isForRevoked(e) {
				continue
			}
			m.members.news.attach(e)
			m.effects = append(m.effects, e)
		}
		for i := range notices {
			m.notice(&notices[i])
		}
		next, ok := m.events.next()
		if !ok {
			if len(notices) == 0 && len(effects) == 0 {
				return
			}
			continue
		}
		m.decide(next)
	}
}

// NextDeadline is when Step wants to be called with a Tick, or clock.Never.
func (m *Member) NextDeadline() clock.Instant {
	next := min(m.handoff.NextDeadline(), m.timers.next(), m.members.next(), m.live.next(), m.housekeepAt, m.ring.again, m.tells.at, m.nextGreeting())
	for _, s := range m.added {
		if s.founding.active && !m.recalling {
			next = min(next, s.founding.at)
		}
	}
	for _, g := range m.grants {
		next = min(next, g.next())
	}
	return next
}

// Idle reports whether a member that was told to shut down has nothing left to
// wait for: it holds no token that it could pass on, every transfer is
// answered, and nobody may still send one that it has accepted.
func (m *Member) Idle() bool {
	return m.stopping && (m.handoff.Held() == 0 || m.recalling) && m.handoff.Unanswered() == 0 && m.handoff.Reserved() == 0
}

func (m *Member) shutdown() {
	if m.stopping {
		return
	}
	m.stopping = true
	m.handoff.Stop()
	m.refuseAll(ErrStopping)
	if !m.recalling {
		m.releaseAll()
	}
}

// releaseAll lets go of all tokens under which nothing runs.
func (m *Member) releaseAll() {
	for _, h := range m.holdsInOrder() {
		if h.grant == nil {
			m.handoff.Release(h.token, h.hop, ident.Member{}, h.field)
		}
	}
}

// opened is the opening of the journal that this member has begun.
func (m *Member) opened() token.Position { return m.handoff.Opened() }

// creditors are members that may wait for an answer about a token.
func (m *Member) creditors() []ident.Member { return m.handoff.Creditors() }

// reconfigure makes the slots of the group configuration, and has everything follow it.
func (m *Member) reconfigure() error {
	former := m.settings
	slots, err := m.configure()
	if err != nil {
		return err
	}
	m.dir.SetGroup(m.cfg.Group)
	m.members.exchange.hasten()
	m.housekeepAt = min(m.housekeepAt, m.now.Boot) // the settlement time may be another
	for _, s := range slots {
		m.resumeSlot(s)
	}
	if m.handoff != nil { // or the journal is still being read: see noteConfiguration
		m.beginFounding(slots, former)
	}
	return nil
}
