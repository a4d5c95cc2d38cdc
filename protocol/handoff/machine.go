package handoff

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// Machine does the handoffs of one member, for all its tokens: its Sender and its
// Receiver work on one Book. It is a pure function of what it is told: it is not
// safe for concurrent use, and every method that may act appends to the effects and
// notices that Drain takes away.
type Machine struct {
	*shared
	*Book
	*Sender
	*Receiver
}

// shared is what the sender and the receiver of one member both work with.
type shared struct {
	cfg  Config
	book *Book
	output
	verifier     *token.Verifier
	certificates certificates
	conflicts    conflicts
	numbers      numbers
	stats        Stats
	paused       bool // see Pause
}

// New returns a machine with an empty memory.
func New(cfg Config) *Machine {
	sh := &shared{
		cfg: cfg, book: newBook(), output: output{openings: openings{serial: cfg.Serial}},
		verifier:     token.NewVerifier(cfg.Group, cfg.Environment),
		certificates: certificates{world: cfg.Environment, written: make(map[ident.Member]string)},
		numbers:      newNumbers(),
		stats:        cfg.Stats,
	}
	sh.conflicts = newConflicts(cfg.Detector, &sh.output, &sh.stats)
	return &Machine{
		shared: sh, Book: sh.book, Sender: newSender(sh),
		Receiver: &Receiver{shared: sh, macs: newMACs(cfg.Key, cfg.Incarnation)},
	}
}

// draw spends the next of a series of numbers.
func (sh *shared) draw(s *series) uint64 {
	n, reserved := s.draw()
	if !reserved {
		sh.persist(sh.numbers.record(), true)
	}
	return n
}

// SetNow tells the machine the time. Every call that follows acts at it.
func (m *Machine) SetNow(now clock.Reading) { m.now = now }

// Drain takes the effects and notices since the last call. The slices are
// valid until the next one.
func (m *Machine) Drain() ([]effect.Effect, []Notice) { return m.drain() }

// Stats is a copy of the counters.
func (m *Machine) Stats() Stats { return m.stats }

// Receipt reads and verifies a receipt; the error is the verifier's.
func (m *Machine) Receipt(raw []byte) (token.AnswerBody, error) {
	a, err := m.verifier.Answer(token.Receipt, raw)
	return a.Body(), err
}

// DrawSequence spends the next sequence number for a token made here. A number
// is spent once drawn; gaps are fine.
func (m *Machine) DrawSequence() uint64 { return m.draw(&m.numbers.sequence) }

// Own takes custody, at hop 0, of a token whose genesis this member has just
// signed: genesis, sequence number and custody are one durable record.
func (m *Machine) Own(g token.Genesis, founding bool) {
	m.verifier.Trust(g)
	m.certificates.persist(&m.output, m.cfg.Self)
	m.persist(&journal.Generated{Genesis: g.Raw(), Founding: founding}, true)
	m.book.hold(key{g.ID(), 0}, token.Title{Genesis: g}, token.Title{})
}

// Tick does what is due.
func (m *Machine) Tick() {
	for rec := m.book.due(m.now.Boot); rec != nil; rec = m.book.due(m.now.Boot) {
		switch rec.state {
		case Live:
			m.lapse(rec, ReceiverExpire)
		case Lapsed:
			m.book.forget(rec)
		case Hold:
			m.goOn(rec)
		case Sent:
			m.retransmit(rec)
		}
	}
}

// Introduce fills in what a HELLO to a peer says about handoffs with it.
func (m *Machine) Introduce(id ident.Member, hello *wire.Hello) {
	if o := m.book.offerers[id]; o != nil {
		hello.Floor = o.floor
	}
	hello.Settled = m.recipients.promise(id)
}

// PeerUp is told when a connection with a peer is open and its HELLO is here.
// What waits for the peer is sent again at once, but for an offer that has waited
// for this connection, or went on it: a driver sends what was said to a peer
// without a connection as soon as there is one.
func (m *Machine) PeerUp(id ident.Member, hello *wire.Hello) {
	m.hearSettled(id, hello.Settled)
	m.Sender.peerUp(id, hello)
}

// PeerClosed is told when the connection with a peer was closed, in order, as when
// another takes its place, or not. An offer that went on it may not have arrived: it is
// sent again with the next PeerUp.
func (m *Machine) PeerClosed(id ident.Member, broken bool) {
	if broken {
		m.Receiver.peerClosed(id)
	}
	m.offers.lost(id)
}

// PeerDown is told when a peer cannot be reached, or when its connection broke.
// Offers to it have failed, and what it accepted is better not used: a token
// sent to it would wait for its return. Transfers to it wait, and a machine that
// stops waits for none from it.
func (m *Machine) PeerDown(id ident.Member) {
	m.Receiver.peerDown(id)
	m.Sender.peerDown(id)
}

// Open begins an opening of the journal, after all others, with a random tag. Until it,
// what is signed names no position.
func (m *Machine) Open(number uint64, tag [token.TagSize]byte) {
	m.persist(m.openings.begin(number, tag), true)
	m.openings.opened = m.openings.at(0)
}

// Opened is the position at which this opening has begun.
func (m *Machine) Opened() token.Position { return m.openings.opened }

// Loss says what a position that this member has signed shows of its journal.
func (m *Machine) Loss(p token.Position) Loss { return m.openings.loss(p) }

// Position is where in the journal a record is that is written next: what is signed for
// it names it.
func (m *Machine) Position() token.Position { return m.openings.at(1) }

// Pause has the machine neither take a token nor pass one on, until Resume.
func (m *Machine) Pause() { m.paused = true }

// Resume ends Pause.
func (m *Machine) Resume() { m.paused = false }

// Checkpoint is the shortest journal that rebuilds this machine, in an order
// that Replay accepts. Reservations are not in it: a durable member takes what
// comes after a restart without them (handoff rules §4.5).
func (m *Machine) Checkpoint() []journal.Record {
	marks, custody, signers := m.book.checkpoint()
	return slices.Concat(
		[]journal.Record{m.numbers.record()}, marks, m.recipients.checkpoint(),
		m.certificates.checkpoint(signers), custody, m.openings.records(),
	)
}
