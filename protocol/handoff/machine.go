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

// Machine does the handoffs of one member, for all its tokens: its Sender and
// its Receiver work on one Book. Its behaviour depends only on its inputs.
// Methods append effects and notices, which Drain returns. It is not safe for
// concurrent use.
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

// SetNow sets the time at which every later call acts.
func (m *Machine) SetNow(now clock.Reading) { m.now = now }

// Drain returns the effects and notices since the last call. The slices are
// valid until the next call.
func (m *Machine) Drain() ([]effect.Effect, []Notice) { return m.drain() }

// Stats returns a copy of the counters.
func (m *Machine) Stats() Stats { return m.stats }

// Receipt reads and verifies a receipt; the error is the verifier's.
func (m *Machine) Receipt(raw []byte) (token.AnswerBody, error) {
	a, err := m.verifier.Answer(token.Receipt, raw)
	return a.Body(), err
}

// DrawSequence returns the next sequence number for a token made here. A drawn
// number is never drawn again; gaps are permitted.
func (m *Machine) DrawSequence() uint64 { return m.draw(&m.numbers.sequence) }

// Own gives this member custody, at hop 0, of a token whose genesis it has just
// signed. Genesis, sequence number and custody are one durable record.
func (m *Machine) Own(g token.Genesis, founding bool) {
	m.verifier.Trust(g)
	m.certificates.persist(&m.output, m.cfg.Self)
	m.persist(&journal.Generated{Genesis: g.Raw(), Founding: founding}, true)
	m.book.hold(key{g.ID(), 0}, token.Title{Genesis: g})
}

// Tick does what is due at the time of SetNow.
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

// Introduce sets the fields about handoffs in a HELLO to a peer.
func (m *Machine) Introduce(id ident.Member, hello *wire.Hello) {
	if o := m.book.offerers[id]; o != nil {
		hello.Floor = o.floor
	}
	hello.Settled = m.recipients.promise(id)
}

// PeerUp tells the machine that a connection with a peer is open and the peer's
// HELLO has come. The machine at once sends again what waits for the peer. It
// leaves out an offer that has waited for this connection or was sent on it,
// because a driver itself keeps messages to a peer until there is a connection.
func (m *Machine) PeerUp(id ident.Member, hello *wire.Hello) {
	m.hearSettled(id, hello.Settled)
	m.Sender.peerUp(id, hello)
}

// PeerClosed tells the machine that the connection with a peer was closed:
// broken, or in order, as when another connection takes its place. An offer
// that was sent on it may not have arrived, so the next PeerUp sends it again.
func (m *Machine) PeerClosed(id ident.Member, broken bool) {
	if broken {
		m.Receiver.peerClosed(id)
	}
	m.offers.lost(id)
}

// PeerDown tells the machine that a peer cannot be reached, or that its
// connection broke. Offers to the peer fail. The machine does not use an ACCEPT
// of the peer, because a token sent to it would wait for its return. Transfers
// to the peer wait. After Stop, the machine no longer waits for transfers from
// it.
func (m *Machine) PeerDown(id ident.Member) {
	m.Receiver.peerDown(id)
	m.Sender.peerDown(id)
}

// Open begins an opening of the journal, numbered after all earlier ones, with
// a random tag. Objects signed before it name no position.
func (m *Machine) Open(number uint64, tag [token.TagSize]byte) {
	m.persist(m.openings.begin(number, tag), true)
	m.openings.opened = m.openings.at(0)
}

// Opened returns the position at which the present opening began.
func (m *Machine) Opened() token.Position { return m.openings.opened }

// Loss says what a position that this member has signed shows about its
// journal.
func (m *Machine) Loss(p token.Position) Loss { return m.openings.loss(p) }

// Position returns the position of the next record in the journal, which
// objects signed for that record name.
func (m *Machine) Position() token.Position { return m.openings.at(1) }

// Pause keeps the machine from taking and passing on tokens, until Resume.
func (m *Machine) Pause() { m.paused = true }

// Resume ends Pause.
func (m *Machine) Resume() { m.paused = false }

// Checkpoint returns the shortest journal that rebuilds this machine, in an
// order that Replay accepts. It leaves out reservations: after a restart a
// durable member takes transfers without them (handoff rules §4.5).
func (m *Machine) Checkpoint() []journal.Record {
	marks, custody, signers := m.book.checkpoint()
	return slices.Concat(
		[]journal.Record{m.numbers.record()}, marks, m.recipients.checkpoint(),
		m.certificates.checkpoint(signers), custody, m.openings.records(),
	)
}
