package member

import (
	"fmt"
	"slices"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// custodyMemory is the memory of all custodies, which an incarnation names: it begins a
// new one, continues one that the journal has, or replaces one that is lost.
type custodyMemory struct {
	*core
	custody *custody
	world   environment
	book    *memoryBook
}

// last finds the custody memory that the journal ends with, and
// says whether it may be continued.
func (m *custodyMemory) last(past []journal.Stamped) (begin int, continued bool, err error) {
	for i, p := range slices.Backward(past) {
		r, ok := p.Record.(*journal.Incarnation)
		if !ok {
			continue
		}
		if r.Member != m.self {
			return 0, false, fmt.Errorf("%w: %v", ErrNotMember, r.Member)
		}
		m.incarnation = r.Incarnation
		same := r.Machine == m.cfg.Machine && r.Durable && m.cfg.Durable
		return i, same && !m.cfg.NewIncarnation, nil
	}
	return 0, false, nil
}

// begin starts a new custody memory. That a durable member does not continue
// the one it had is worth a line in a log: tokens it held are lost to it.
func (m *custodyMemory) begin(replaced bool) {
	old := m.incarnation
	m.incarnation = m.newIncarnation()
	if replaced && m.cfg.Durable {
		m.emit(effect.Report{
			Kind: "new incarnation", About: m.self,
			Detail: fmt.Sprintf("the custody memory %v is not continued: the journal was copied, was volatile, or --new-incarnation was given", old),
		})
	}
	m.custody.handoff = handoff.New(m.config(m.incarnation))
	m.custody.handoff.SetNow(m.now)
	m.persist(m.record(), true)
}

// replace puts an empty memory in the place of the one that there is.
func (m *custodyMemory) replace() {
	effects, _ := m.custody.handoff.Drain()
	m.effects = append(m.effects, effects...)
	cfg := m.config(m.incarnation)
	cfg.Stats, cfg.Serial = m.custody.handoff.Stats(), m.custody.handoff.Position().Serial // not 0: see noteCopy
	m.custody.handoff = handoff.New(cfg)
	m.custody.handoff.SetNow(m.now)
	if m.stopping {
		m.custody.handoff.Stop()
	}
	m.persist(m.record(), true)
}

// open begins an opening, whose number is above those of all before it.
func (m *custodyMemory) open(above uint64) {
	var tag [token.TagSize]byte
	_, _ = m.sources.openings.Read(tag[:]) // never fails
	m.custody.handoff.Open(max(above+1, m.now.Millis()), tag)
}

func (m *custodyMemory) record() *journal.Incarnation {
	return &journal.Incarnation{
		Incarnation: m.incarnation, Member: m.self, Durable: m.cfg.Durable, Machine: m.cfg.Machine,
	}
}

func (m *custodyMemory) newIncarnation() (inc ident.Incarnation) {
	_, _ = m.sources.member.Read(inc[:]) // never fails
	return inc
}

func (m *custodyMemory) config(incarnation ident.Incarnation) handoff.Config {
	return handoff.Config{
		Self: m.self, Group: m.cfg.Group.ID(), Key: m.cfg.Key, Incarnation: incarnation,
		Durable: m.cfg.Durable, Tuning: m.cfg.Tuning, Environment: m.world, Rand: m.sources.handoff,
		Detector: m.newDetector(),
	}
}

func (m *custodyMemory) newDetector() conflictDetector {
	return conflictDetector{evidence.NewConflictDetector(m.cfg.Group.ID(), evidence.Kept), m.book}
}
