package member

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/journal"
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
	begin, continued, err := m.circ.memory.last(past)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range past { // what the journal knows of others, whatever incarnation wrote it
		m.circ.book.recall(p.Record)
		m.circ.slots.recallFounding(p.Record)
		m.members.recall(p.Record)
		m.circ.entries.words.recall(p.Record)
	}
	if continued {
		err = m.circ.resume(past[begin:])
	} else {
		m.circ.memory.begin(len(past) > 0)
	}
	if err != nil {
		return nil, nil, err
	}
	m.circ.memory.open(lastOpening(past))
	if continued && !cfg.NoRecall {
		m.circ.recall.begin()
	}
	m.expelRevoked()
	if _, left := m.dir.Left(m.self); left {
		m.members.learner.depart()
	}
	m.circ.slots.recallVisits(past)
	m.circ.complaints.recall(past)
	m.circ.prosecutor.recall(past)
	m.circ.ring.update()
	m.circ.resumeSlots(m.circ.slots.inForce())
	m.noteConfiguration(past)
	if !m.recalling {
		m.circ.mint.found()
	}
	m.circ.settle()
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
		m.circ.founders.begin(m.circ.slots.order, last.Settings())
	}
	if last.IsZero() || last.Version() != current.Version() {
		m.members.records.known(journal.KnownConfiguration, current.Raw())
	}
}

// Checkpoint is the shortest journal that rebuilds this member. The driver
// calls it when every effect returned so far has been performed, and puts it
// in the place of all earlier records.
func (m *Member) Checkpoint() []journal.Record {
	list := []journal.Record{m.circ.memory.record()}
	list = append(list, m.members.knowledge()...)
	for _, s := range m.circ.slots.order {
		if s.founded {
			list = append(list, &journal.Founded{Resource: s.key.resource, Slot: s.key.number})
		}
		for i := range s.visits {
			list = append(list, &s.visits[i])
		}
		list = append(list, m.circ.complaints.records(s)...)
	}
	list = append(list, m.circ.entries.words.records()...)
	list = append(list, m.circ.book.latest.records()...)
	list = append(list, m.circ.custody.handoff.Checkpoint()...)
	for _, g := range m.circ.grants.inOrder() {
		list = append(list, g.record)
	}
	return list
}
