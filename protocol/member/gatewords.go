package member

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// maxWritten bounds what is journalled of one sign-in, whatever its gate says: a BUSY for each session that it waits for, OPEN and
// CLOSED. BUSY and REFUSE leave room for the other two: where a slot has several places, an honest wait may hear of many sessions.
const (
	maxWritten  = 8
	maxWaitings = maxWritten - 2
)

// gateWords are what gates have signed to this member. They write that down for auditors, and compare each OPEN with those before.
type gateWords struct {
	*core
	certificates map[ident.Member][]byte // of gates, in the journal
	opened       map[string]opening      // by resource
}

// opening is the last session that a gate has opened for this member.
type opening struct {
	key     [envelope.KeyIDSize]byte // of the gate; another one counts anew
	session uint64
	signed  []byte
}

func newGateWords(c *core) *gateWords {
	return &gateWords{core: c, certificates: make(map[ident.Member][]byte), opened: make(map[string]opening)}
}

// meet journals the certificate of a gate, which the auditor needs for what that signs.
func (t *gateWords) meet(raw []byte) {
	if t.certified(raw) {
		t.persist(&journal.Known{What: journal.KnownGate, Object: raw}, false)
	}
}

// certified keeps a certificate, and reports whether that is news.
func (t *gateWords) certified(raw []byte) bool {
	claims, err := certificate.Peek(t.cfg.Group.ID(), raw)
	if err != nil {
		return false
	}
	id := ident.MemberOf(t.cfg.Group.ID(), claims.Key[:])
	if bytes.Equal(t.certificates[id], raw) {
		return false
	}
	t.certificates[id] = raw
	return true
}

// hear journals an answer to a sign-in, if it says more than the one before, and notes the session that it opens.
func (t *gateWords) hear(e *entry, in GateSaid) {
	if len(in.Signed) == 0 || in.Answer == nil || e.told >= mostWritten(in.Answer) || !saysMore(e.heard, in.Answer) {
		return
	}
	e.told++
	e.heard = in.Answer
	told := &journal.Told{Answer: in.Signed}
	t.persist(told, false)
	t.recall(told)
}

// mostWritten is how many answers of a sign-in may be in the journal once this one is.
func mostWritten(a gate.Answer) int {
	switch a.(type) {
	case gate.BusyAnswer, gate.RefuseAnswer:
		return maxWaitings
	}
	return maxWritten
}

// saysMore reports whether an answer says more than the one before it.
func saysMore(before, a gate.Answer) bool {
	switch a := a.(type) {
	case gate.OpenAnswer:
		return before != gate.Answer(a)
	case gate.BusyAnswer:
		o, ok := before.(gate.BusyAnswer)
		a.Until, o.Until = 0, 0
		return !ok || a != o
	case gate.ClosedAnswer:
		return a.Session > 0 // otherwise the member has signed out before a session
	}
	return true
}

// opens compares an OPEN with the custody that it is for, and with those that were noted before. It returns what no gate says that keeps
// its rules; empty if there is nothing.
func (t *gateWords) opens(e *entry, a gate.OpenAnswer, signed []byte) (lie string) {
	h := e.grant.hold
	resource := h.slot.key.resource
	var key [envelope.KeyIDSize]byte
	if _, u, err := wire.ReadAnswer(t.cfg.Group.ID(), signed); err == nil {
		key = u.KeyID()
	}
	switch last := t.opened[resource]; {
	case e.session > 0 && a.Session == e.session:
		return "" // it has said so before
	case e.session > 0:
		return fmt.Sprintf("session %d for a sign-in that has session %d", a.Session, e.session)
	case last.key == key && a.Session <= last.session:
		return fmt.Sprintf("session %d after session %d", a.Session, last.session)
	case len(signed) > 0 && (a.Token != h.token || a.Hop != h.hop):
		return fmt.Sprintf("session %d of another token", a.Session)
	}
	e.session = a.Session
	return ""
}

// recall takes in what a record of the journal says of gates.
func (t *gateWords) recall(record journal.Record) {
	switch r := record.(type) {
	case *journal.Known:
		if r.What == journal.KnownGate {
			t.certified(r.Object)
		}
	case *journal.Told:
		b, u, err := wire.ReadAnswer(t.cfg.Group.ID(), r.Answer)
		if a, ok := b.Answer.(gate.OpenAnswer); err == nil && ok && b.Member == t.self {
			if last := t.opened[b.Resource]; last.key != u.KeyID() || last.session < a.Session {
				t.opened[b.Resource] = opening{u.KeyID(), a.Session, r.Answer}
			}
		}
	}
}

// records are what a checkpoint carries: of the gates in the configuration, their certificates and the last sessions. What it leaves out is
// forgotten, so that the journal has it again when a gate comes back.
func (t *gateWords) records() (list []journal.Record) {
	gates := make(map[ident.Member]bool)
	resources := make(map[string]bool)
	for _, r := range t.settings.Resources {
		gates[r.Gate.Member], resources[r.Name] = true, true
	}
	maps.DeleteFunc(t.certificates, func(id ident.Member, _ []byte) bool { return !gates[id] })
	maps.DeleteFunc(t.opened, func(name string, _ opening) bool { return !resources[name] })
	for _, id := range slices.SortedFunc(maps.Keys(t.certificates), ident.Member.Compare) {
		list = append(list, &journal.Known{What: journal.KnownGate, Object: t.certificates[id]})
	}
	for _, name := range slices.Sorted(maps.Keys(t.opened)) {
		list = append(list, &journal.Told{Answer: t.opened[name].signed})
	}
	return list
}
