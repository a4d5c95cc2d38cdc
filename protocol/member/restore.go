package member

import (
	"fmt"
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

// New makes a member with an empty journal. The effects come before those of
// the first Step.
func New(cfg Config, now clock.Reading) (*Member, []effect.Effect, error) {
	return Restore(cfg, nil, now)
}

// Restore rebuilds a member from its journal, oldest record first. The custody
// memory is continued only by a durable member, on the machine where it began,
// and not against the operator's word; otherwise a new incarnation begins,
// which remembers no custody (handoff rules §1). Errors: ErrKey, ErrNotMember,
// handoff.ErrReplay.
func Restore(cfg Config, past []journal.Stamped, now clock.Reading) (*Member, []effect.Effect, error) {
	m, err := newMember(cfg, now)
	if err != nil {
		return nil, nil, err
	}
	begin, continued, err := m.lastIncarnation(past)
	if err != nil {
		return nil, nil, err
	}
	m.recallKnowledge(past)
	if continued {
		err = m.resume(past[begin:])
	} else {
		m.begin(len(past) > 0)
	}
	if err != nil {
		return nil, nil, err
	}
	m.openJournal(lastOpening(past))
	if continued && !cfg.NoRecall {
		m.beginRecall()
	}
	m.expelRevoked()
	if _, left := m.dir.Left(m.self); left {
		m.members.learner.depart()
	}
	m.recallVisits(past)
	m.recallEvidence(past)
	m.findNeighbour()
	for _, s := range m.order {
		if !s.leaving {
			m.resumeSlot(s)
		}
	}
	m.noteConfiguration(past)
	if !m.recalling {
		m.found()
	}
	m.settle()
	return m, m.drain(), nil
}

// lastOpening is the highest number of an opening, of whatever incarnation.
func lastOpening(past []journal.Stamped) (number uint64) {
	for _, p := range past {
		if r, ok := p.Record.(*journal.Opened); ok {
			number = max(number, r.Opening)
		}
	}
	return number
}

// noteConfiguration journals the configuration in force, if the journal ends with
// another one: the operator has put a newer group file in place. Slots that it has added
// have no token yet.
func (m *Member) noteConfiguration(past []journal.Stamped) {
	current := m.cfg.Group.Config()
	var last group.Config
	for _, p := range past {
		if r, ok := p.Record.(*journal.Known); ok && r.What == journal.KnownConfiguration {
			if c, err := group.ParseConfig(m.cfg.Group.ID(), r.Object, m.cfg.Group.History()); err == nil {
				last = c
			}
		}
	}
	if !last.IsZero() && last.Version() < current.Version() {
		m.beginFounding(m.order, last.Settings())
	}
	if last.IsZero() || last.Version() != current.Version() {
		m.members.records.known(journal.KnownConfiguration, current.Raw())
	}
}

// lastIncarnation finds the custody memory that the journal ends with, and
// says whether it may be continued.
func (m *Member) lastIncarnation(past []journal.Stamped) (begin int, continued bool, err error) {
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
func (m *Member) begin(replaced bool) {
	old := m.incarnation
	m.incarnation = m.newIncarnation()
	if replaced && m.cfg.Durable {
		m.emit(effect.Report{
			Kind: "new incarnation", About: m.self,
			Detail: fmt.Sprintf("the custody memory %v is not continued: the journal was copied, was volatile, or --new-incarnation was given", old),
		})
	}
	m.handoff = handoff.New(m.handoffConfig(m.incarnation))
	m.handoff.SetNow(m.now)
	m.persist(m.incarnationRecord(), true)
}

func (m *Member) incarnationRecord() *journal.Incarnation {
	return &journal.Incarnation{
		Incarnation: m.incarnation, Member: m.self, Durable: m.cfg.Durable, Machine: m.cfg.Machine,
	}
}

// recallKnowledge takes in what the journal knows about others, whatever
// incarnation wrote it.
func (m *Member) recallKnowledge(past []journal.Stamped) {
	for _, p := range past {
		m.recallMemory(p.Record)
		switch r := p.Record.(type) {
		case *journal.Founded:
			m.markFounded(slotKey{r.Resource, r.Slot})
		case *journal.Generated:
			if b, _, err := token.PeekGenesis(m.cfg.Group.ID(), r.Genesis); err == nil && r.Founding {
				m.markFounded(slotKey{b.Resource, b.Slot})
			}
		case *journal.Known:
			m.members.recall(r)
		}
	}
}

func (m *Member) markFounded(k slotKey) {
	if s := m.slots[k]; s != nil {
		s.founded = true
	}
}

// resume continues a custody memory.
func (m *Member) resume(past []journal.Stamped) error {
	replay := handoff.NewReplay(m.handoffConfig(m.incarnation))
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
	machine, err := replay.Finish(m.now)
	if err != nil {
		return err
	}
	m.handoff = machine
	m.resumeHolds(started)
	m.resumeGrants(started)
	return nil
}

// resumeHolds goes on with the tokens in custody. A crash may have come before the end
// of a fork (see endsFork): of two custodies of one token that stays under which a
// program may still run, else the higher hop.
func (m *Member) resumeHolds(started map[ident.Grant]*journal.Started) {
	running := make(map[ident.Token]uint64) // by the hop, and 1
	for _, r := range started {
		running[r.Token] = r.Hop + 1
	}
	holdings := m.handoff.Holdings()
	slices.Reverse(holdings) // from the highest hop of each token on
	for _, h := range holdings {
		t, g := h.Title.Token(), h.Title.Genesis.Body()
		k := slotKey{g.Resource, g.Slot}
		s, runs := m.slots[k], running[t] == h.Hop+1
		if s == nil && runs {
			s = m.resumeLeaving(k)
		}
		before := m.holds[t]
		switch {
		case s == nil, s.leaving && !runs:
			m.drop(k, t, h.Hop, policy.Unconfigured)
		case before == nil:
			m.hold(s, h.Title, h.Hop)
		case runs:
			m.drop(k, t, before.hop, policy.Forked)
			m.hold(s, h.Title, h.Hop)
		default:
			m.drop(k, t, h.Hop, policy.Forked)
		}
	}
}

// resumeGrants waits for programs that may still run: of this boot, before
// their deadline. Those of an earlier boot are dead.
func (m *Member) resumeGrants(started map[ident.Grant]*journal.Started) {
	for id, r := range started {
		h := m.holds[r.Token]
		if h == nil || h.hop != r.Hop {
			continue
		}
		g := &grant{id: id, hold: h, deadline: clock.Instant(r.Deadline), record: r, resumed: true}
		m.grants[id] = g
		h.grant = g
		if r.Boot != m.cfg.Boot {
			g.deadline, g.killing = m.now.Boot, true // the first tick ends it
		}
		g.found = g.deadline <= m.now.Boot
		m.handoff.SetBusy(h.token, h.hop, true)
	}
}

// recallVisits rebuilds what the policies are told of the time before the
// restart, from the newest records.
func (m *Member) recallVisits(past []journal.Stamped) {
	known := make(map[ident.Token]journal.Visited)
	grants := make(map[ident.Grant]ident.Token)
	for _, p := range past {
		switch r := p.Record.(type) {
		case *journal.Visited:
			known[r.Token] = *r
			m.recallVisit(*r)
		case *journal.Generated:
			m.recallCustody(known, r.Genesis, p.At)
		case *journal.Held:
			m.recallCustody(known, r.Genesis, p.At)
		case *journal.Started:
			grants[r.Grant] = r.Token
		case *journal.Ended:
			if v, ok := known[grants[r.Grant]]; ok && r.Operated {
				v.At, v.Operated = p.At, true
				m.recallVisit(v)
			}
		}
	}
}

func (m *Member) recallCustody(known map[ident.Token]journal.Visited, genesis []byte, at uint64) {
	b, h, err := token.PeekGenesis(m.cfg.Group.ID(), genesis)
	if err != nil {
		return
	}
	v := journal.Visited{
		Resource: b.Resource, Slot: b.Slot, Token: ident.Token(h), Born: b.Time, Generator: b.Generator, At: at,
	}
	known[v.Token] = v
	m.recallVisit(v)
}

func (m *Member) recallVisit(v journal.Visited) {
	s := m.slots[slotKey{v.Resource, v.Slot}]
	if s == nil {
		return
	}
	s.remember(v)
	s.lastSeen = max(s.lastSeen, v.At)
	if v.Operated {
		s.lastOperation = max(s.lastOperation, v.At)
		s.ownOperation = max(s.ownOperation, v.At)
	}
}

// found makes the first token of each slot, if this member was told to and has
// not done so before.
func (m *Member) found() {
	if !m.cfg.Found || m.revoked || m.departed {
		return
	}
	for _, s := range m.order {
		if !s.founded && !s.leaving {
			m.generate(s, true)
		}
	}
}

// Checkpoint is the shortest journal that rebuilds this member. The driver
// calls it when every effect returned so far has been carried out, and puts it
// in the place of all earlier records.
func (m *Member) Checkpoint() []journal.Record {
	list := []journal.Record{m.incarnationRecord()}
	list = append(list, m.members.knowledge()...)
	for _, s := range m.order {
		if s.founded {
			list = append(list, &journal.Founded{Resource: s.key.resource, Slot: s.key.number})
		}
		for i := range s.visits {
			list = append(list, &s.visits[i])
		}
	}
	list = append(list, m.memories.records()...)
	list = append(list, m.handoff.Checkpoint()...)
	for _, g := range m.grantsInOrder() {
		list = append(list, g.record)
	}
	return list
}
