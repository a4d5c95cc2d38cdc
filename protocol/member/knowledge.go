package member

import (
	"math"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

// pageBytes bounds the entries of one page of the directory, and the updates of
// one message, so that it fits a frame.
const pageBytes = wire.MaxFrame - 1024

// knownKept is how many members a checkpoint carries forward: enough to find
// the group again after a restart, about 2 MB of journal.
const knownKept = 4096

// knowledge is what a checkpoint carries of the group: its CA keys and
// configuration, all revocations, and as many members as knownKept, this one
// among them.
func (m *membership) knowledge() []journal.Record {
	var list []journal.Record
	known := func(what journal.Knowledge, raw []byte) {
		if len(raw) > 0 {
			list = append(list, &journal.Known{What: what, Object: raw})
		}
	}
	for _, raw := range m.cfg.Group.Vouchers() {
		known(journal.KnownAuthority, raw)
	}
	known(journal.KnownConfiguration, m.cfg.Group.Config().Raw())
	revocations, _ := m.dir.Revocations(0, math.MaxInt)
	for _, raw := range revocations {
		known(journal.KnownRevocation, raw)
	}
	entries, _, _ := m.dir.Page(ident.Member{}, ident.LastMember(), knownKept, math.MaxInt)
	if own, ok := m.dir.Entry(m.self); ok {
		entries = append(entries, own)
	}
	for _, e := range entries {
		known(journal.KnownCertificate, e.Certificate)
		known(journal.KnownEndpoint, e.Endpoint)
		known(journal.KnownLeave, e.Leave)
	}
	for _, e := range entries { // their witnesses come first
		for _, raw := range e.Failures {
			known(journal.KnownFailure, raw)
		}
	}
	return list
}

// recall takes in what a record of the journal says of others. What does not verify any more, after a
// change of the group file for example, is left out: it is asked for again.
func (m *membership) recall(record journal.Record) {
	r, is := record.(*journal.Known)
	if !is {
		return
	}
	switch r.What {
	case journal.KnownCertificate:
		_, _ = m.dir.Recall(r.Object, m.cfg.Group.History())
	case journal.KnownEndpoint:
		_, _ = m.dir.LearnEndpoint(r.Object)
	case journal.KnownLeave:
		_, _ = m.dir.LearnLeave(r.Object)
	case journal.KnownFailure:
		_, _ = m.dir.LearnFailure(r.Object)
	case journal.KnownRevocation:
		_, _ = m.dir.LearnRevocation(r.Object)
	case journal.KnownAuthority:
		if g, err := m.cfg.Group.WithAuthority(r.Object); err == nil {
			m.cfg.Group = g
			m.dir.SetGroup(g)
		}
	case journal.KnownConfiguration:
		_, _ = m.configs.adopt(r.Object, nil)
	}
}
