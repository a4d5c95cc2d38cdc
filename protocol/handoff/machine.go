package handoff

import (
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// World answers the machine's questions about other members.
type World interface {
	token.Keys
	// Choose draws a member to pass a token to, uniformly among those that are
	// valid and can be reached, without the excluded ones.
	Choose(exclude func(ident.Member) bool) (ident.Member, bool)
	// Shuns reports whether no token is passed to a member, unless it is named as the receiver.
	// Choose draws none of those.
	Shuns(m ident.Member) bool
	// Standing is nil for a member that may take part in a new handoff.
	Standing(m ident.Member) error
	// Certificate is the encoded certificate of m, or "". It is asked for with
	// every handoff, so it must not decode anything.
	Certificate(m ident.Member) string
	// Circulates reports whether this group has the slot of a genesis.
	Circulates(g token.GenesisBody) bool
	// Admits says whether a token may make a hop to this member, as far as its
	// genesis and the number of the hop tell. The reason is for the offerer.
	Admits(g token.GenesisBody, hop uint64) (wire.Refusal, bool)
	// LastOperation is when the operation last ran under a token of this
	// genesis' slot, in ms since 1970, or 0.
	LastOperation(g token.GenesisBody) uint64
}

// Config is what a machine is made of.
type Config struct {
	Self        ident.Member
	Group       ident.Group
	Key         *signature.PrivateKey
	Incarnation ident.Incarnation
	Durable     bool
	Tuning      Tuning
	World       World
	Witness     Witness     // nil: none
	Rand        rand.Source // jitter only
	Stats       Stats       // to count on from
	Serial      uint64      // of the last record of custody of a memory that was given up
}

// NoticeKind says what has happened.
type NoticeKind uint8

// The notices.
const (
	Gained    NoticeKind = iota + 1 // a transfer was taken: custody is here
	Parted                          // a transfer was signed: custody is gone
	Delivered                       // a transfer was answered by a receipt
	Returned                        // a transfer was declined: custody is here again
	Abandoned                       // the machine stopped asking
	Unwanted                        // nobody can be asked, or not the target: it is held, and not let go of any more
	Convicted                       // two objects prove that their signer broke the rules; not about custody here
)

// Notice tells the member above what has happened, mostly to custody.
type Notice struct {
	Kind  NoticeKind
	Title token.Title   // Gained, Returned: the title; else that of the hop given away
	Hop   uint64        // the custody concerned
	Peer  ident.Member  // the other side; Convicted: who signed the objects
	Took  time.Duration // Delivered: from letting go to the receipt

	Receipt []byte // Delivered: as it was signed

	Belated bool // Gained: no reservation stood for it, as of before a restart, or one that has lapsed, or its connection broke since

	Objects [2]token.Object // Convicted; their signatures hold
}

// Receipt reads and verifies a receipt; the error is the verifier's.
func (m *Machine) Receipt(raw []byte) (token.AnswerBody, error) {
	a, err := m.verifier.Answer(token.Receipt, raw)
	return a.Body(), err
}

// Stats counts what the machine has done since it was made.
type Stats struct {
	Taken, Delivered, Returned, Abandoned uint64
	Offers, Retried, Reselected           uint64 // offers in all, again to the same peer, drawn anew
	Retransmitted                         uint64
	InDoubt                               uint64 // transfers that needed a second transmission
	InDoubtResolved                       uint64 // of these, answered by a receipt or void
	Duplicates, Stale, Declined           uint64
	Rejected, Evidence                    uint64
}

// Machine is the sender and the receiver of one member, for all its tokens.
// It is a pure function of what it is told: it is not safe for concurrent use,
// and every method that may act appends to the effects and notices that Drain
// takes away.
type Machine struct {
	cfg      Config
	verifier *token.Verifier
	macs     macs
	now      clock.Reading
	jitter   *rand.Rand

	records   map[key]*record
	passing   map[key]*record // those in HOLD with a pass
	offerers  map[ident.Member]*offerer
	receivers map[ident.Member]*receiver
	heap      wakeups

	nextAccept, acceptMark     uint64
	nextSequence, sequenceMark uint64
	held, live                 int
	stopping, paused           bool
	openings                   openings
	opened                     token.Position          // where the last of them began
	written                    map[ident.Member]string // encoded certificates in the journal

	pairs   map[[2]ident.Hash]bool // that are in the journal as evidence
	accused map[ident.Member]int   // how often, since the start; nobody: suspicion

	effects []effect.Effect
	notices []Notice
	// What the last Drain has returned: the buffers for what follows the next.
	drainedEffects []effect.Effect
	drainedNotices []Notice
	stats          Stats
}

// New returns a machine with an empty memory.
func New(cfg Config) *Machine {
	if cfg.Witness == nil {
		cfg.Witness = nobody{}
	}
	return &Machine{
		cfg:       cfg,
		verifier:  token.NewVerifier(cfg.Group, cfg.World),
		macs:      newMACs(cfg.Key, cfg.Incarnation),
		jitter:    rand.New(cfg.Rand),
		records:   make(map[key]*record),
		passing:   make(map[key]*record),
		offerers:  make(map[ident.Member]*offerer),
		receivers: make(map[ident.Member]*receiver),
		written:   make(map[ident.Member]string),
		pairs:     make(map[[2]ident.Hash]bool),
		accused:   make(map[ident.Member]int),
		// Numbers start at 1, so that a promise of 0 says nothing.
		nextAccept: 1, acceptMark: 1, nextSequence: 1, sequenceMark: 1,
		stats: cfg.Stats, openings: openings{serial: cfg.Serial},
	}
}

// Drain takes the effects and notices since the last call. The slices are
// valid until the next one.
func (m *Machine) Drain() ([]effect.Effect, []Notice) {
	m.effects, m.drainedEffects = m.drainedEffects[:0], m.effects
	m.notices, m.drainedNotices = m.drainedNotices[:0], m.notices
	return m.drainedEffects, m.drainedNotices
}

// Stats is a copy of the counters.
func (m *Machine) Stats() Stats { return m.stats }

// Held is how many tokens are in custody here.
func (m *Machine) Held() int { return m.held }

// SetNow tells the machine the time. Every call that follows acts at it.
func (m *Machine) SetNow(now clock.Reading) { m.now = now }

// Stop makes the machine refuse offers and decline transfers from now on. What
// it has accepted it takes back: a holder that relied on it would send its
// token into nothing, and get it back when this member does. See Reserved.
func (m *Machine) Stop() {
	if m.stopping {
		return
	}
	m.stopping = true
	for _, k := range m.sortedKeys() {
		if rec := m.records[k]; rec.state == Live {
			m.send(rec.from, &wire.Refuse{Token: k.token, Hop: k.hop, Reason: wire.RefuseStopping})
		}
	}
}

// Reserved is how many transfers may still come for reservations that nobody
// has cancelled. A machine that was told to stop declines them.
func (m *Machine) Reserved() int { return m.live }

// Unanswered is how many transfers still wait for their answer.
func (m *Machine) Unanswered() int {
	n := 0
	for _, rec := range m.records {
		if rec.state == Sent {
			n++
		}
	}
	return n
}

// Own takes custody, at hop 0, of a token whose genesis this member has just
// signed: genesis, sequence number and custody are one durable record.
func (m *Machine) Own(g token.Genesis, founding bool) {
	m.verifier.Trust(g)
	m.writeCertificates(ident.Member(m.cfg.Self))
	m.persist(&journal.Generated{Genesis: g.Raw(), Founding: founding}, true)
	m.add(&record{key: key{g.ID(), 0}, state: Hold, title: token.Title{Genesis: g}})
	m.held++
}

// Title is the title by which this member holds the token at this hop.
func (m *Machine) Title(t ident.Token, hop uint64) (token.Title, bool) {
	rec := m.records[key{t, hop}]
	if rec == nil || rec.state != Hold {
		return token.Title{}, false
	}
	return rec.title, true
}

// SetBusy says whether an operation runs under the token, which then is
// neither released nor dropped.
func (m *Machine) SetBusy(t ident.Token, hop uint64, busy bool) {
	rec := m.records[key{t, hop}]
	if rec == nil || rec.state != Hold {
		return
	}
	rec.busy = busy
	if !busy && rec.pass != nil {
		m.tryRelease(rec)
	}
}

// Drop removes a token that is held and not busy.
func (m *Machine) Drop(t ident.Token, hop uint64, reason uint64) bool {
	rec := m.records[key{t, hop}]
	if rec == nil || rec.busy || !m.move(rec, SenderDrop) {
		return false
	}
	m.endPass(rec, ident.Member{})
	m.held--
	m.persist(&journal.Dropped{Token: t, Hop: hop, Reason: reason}, true)
	m.retire(rec)
	return true
}

// move applies an event by the table. It reports whether the event can happen.
func (m *Machine) move(rec *record, e Event) bool {
	to, ok := after(rec.state, e)
	if ok {
		rec.state = to
	}
	return ok
}

// retire drops what a closed or dropped record no longer needs, and the record
// itself when no transfer can ask for it again.
func (m *Machine) retire(rec *record) {
	rec.title, rec.sent, rec.pass = token.Title{}, token.Transfer{}, nil
	m.wakeAt(rec, clock.Never)
	if rec.from.IsZero() {
		m.delete(rec)
		return
	}
	if o := m.offerers[rec.from]; o != nil && rec.accept < o.floor {
		m.tryForget(o, rec)
	}
}

func (m *Machine) add(rec *record) {
	rec.slot = -1
	rec.wake = clock.Never
	m.records[rec.key] = rec
}

func (m *Machine) delete(rec *record) {
	m.wakeAt(rec, clock.Never)
	delete(m.records, rec.key)
}

func (m *Machine) persist(r journal.Record, sync bool) {
	m.openings.note(r)
	if _, opens := r.(*journal.Opened); opens {
		m.opened = m.openings.at(0)
	}
	m.effects = append(m.effects, effect.Persist{At: m.now.Micros(), Record: r, Sync: sync})
}

func (m *Machine) send(to ident.Member, msg wire.Message) {
	m.effects = append(m.effects, effect.Send{To: to, Message: msg})
}

func (m *Machine) report(kind string, about ident.Member, detail string) {
	m.effects = append(m.effects, effect.Report{Kind: kind, About: about, Detail: detail})
}

func (m *Machine) notify(n Notice) { m.notices = append(m.notices, n) }

// writeCertificates journals the certificates that a title needs, so that its
// transfer can be sent, with all that verifies it, after any restart.
func (m *Machine) writeCertificates(signers ...ident.Member) {
	for _, s := range signers {
		raw := m.cfg.World.Certificate(s)
		if raw == "" || m.written[s] == raw {
			continue
		}
		m.written[s] = raw
		m.persist(&journal.Known{What: journal.KnownCertificate, Object: []byte(raw)}, false)
	}
}

// certificates are those of the signers, as far as they are known.
func (m *Machine) certificates(signers []ident.Member) [][]byte {
	list := make([][]byte, 0, len(signers))
	for _, s := range signers {
		if raw := m.cfg.World.Certificate(s); raw != "" {
			list = append(list, []byte(raw))
		}
	}
	return list
}
