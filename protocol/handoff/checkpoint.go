package handoff

import (
	"maps"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// Holding is one token in custody.
type Holding struct {
	Title token.Title
	Hop   uint64
	Busy  bool
}

// Holdings are the tokens in custody here, in order of token and hop.
func (m *Machine) Holdings() []Holding {
	var list []Holding
	for _, k := range m.sortedKeys() {
		if rec := m.records[k]; rec.state == Hold {
			list = append(list, Holding{Title: rec.title, Hop: k.hop, Busy: rec.busy})
		}
	}
	return list
}

// Signers are the members whose certificates the custody here stands on, and
// those whose answers are awaited.
func (m *Machine) Signers() map[ident.Member]bool {
	needed := make(map[ident.Member]bool)
	for _, rec := range m.records {
		if rec.state != Hold && rec.state != Sent {
			continue
		}
		for _, s := range rec.title.Signers() {
			needed[s] = true
		}
		if rec.state == Sent {
			needed[rec.sent.Body().To] = true
		}
	}
	return needed
}

// Checkpoint is the shortest journal that rebuilds this machine, in an order
// that Replay accepts. Reservations are not in it: a durable member takes what
// comes after a restart without them (handoff rules §4.5).
func (m *Machine) Checkpoint() []journal.Record {
	list := []journal.Record{&journal.Counters{Accepts: m.acceptMark, Sequence: m.sequenceMark}}
	for _, id := range sortedMembers(m.offerers) {
		list = append(list, &journal.Floor{Offerer: id, Floor: m.offerers[id].floor})
	}
	for _, id := range sortedMembers(m.receivers) {
		list = append(list, m.receivers[id].promises(id)...)
	}
	var custody []journal.Record
	signers := make(map[ident.Member]bool)
	for _, k := range m.sortedKeys() {
		custody = append(custody, m.carry(m.records[k], signers)...)
	}
	for _, id := range slices.SortedFunc(maps.Keys(signers), ident.Member.Compare) {
		if raw := m.cfg.World.Certificate(id); raw != "" {
			list = append(list, &journal.Known{What: journal.KnownCertificate, Object: []byte(raw)})
		}
	}
	clear(m.written)
	for id := range signers {
		m.written[id] = m.cfg.World.Certificate(id)
	}
	return append(append(list, custody...), m.openings.records()...)
}

// promises are those to every remembered incarnation, the current one last: so
// Replay takes it for the one that was met last.
func (r *receiver) promises(id ident.Member) (list []journal.Record) {
	add := func(mem *memory) {
		if mem != nil && mem.said > 0 {
			list = append(list, &journal.Settled{Receiver: id, Incarnation: mem.incarnation, Below: mem.said})
		}
	}
	for _, mem := range r.memories {
		if mem != r.current {
			add(mem)
		}
	}
	add(r.current)
	return list
}

// carry is what a checkpoint keeps of one record.
func (m *Machine) carry(rec *record, signers map[ident.Member]bool) []journal.Record {
	switch rec.state {
	case Voided, Closed, Dropped:
		return []journal.Record{&journal.Taken{
			Token: rec.key.token, Hop: rec.key.hop, Transfer: rec.taken,
			From: rec.from, Accept: rec.accept, Declined: rec.state == Voided,
		}}
	case Hold, Sent:
		for _, s := range rec.title.Signers() {
			signers[s] = true
		}
		list := []journal.Record{titleRecord(rec.title)}
		if rec.state == Sent {
			list = append(list, &journal.Sent{Transfer: rec.sent.Raw()})
		}
		return list
	}
	return nil
}

func titleRecord(t token.Title) journal.Record {
	if t.Transfer.IsZero() {
		return &journal.Generated{Genesis: t.Genesis.Raw()}
	}
	return &journal.Held{Transfer: t.Transfer.Raw(), Genesis: t.Genesis.Raw(), Void: t.Void.Raw()}
}

func (m *Machine) sortedKeys() []key {
	return slices.SortedFunc(maps.Keys(m.records), key.compare)
}

func sortedMembers[V any](byMember map[ident.Member]V) []ident.Member {
	return slices.SortedFunc(maps.Keys(byMember), ident.Member.Compare)
}
