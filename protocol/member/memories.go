package member

import (
	"maps"
	"slices"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// maxMemories bounds the members of whom the latest signed object is kept: 2.5 MB. When
// there are more, the object of the oldest opening goes.
const maxMemories = 4096

// memory is the latest that another member has signed about a token, as far as it was
// seen here: it is shown to that member when it greets (handoff rules §10).
type memory struct {
	kind     wire.ShownKind
	object   []byte
	position token.Position
}

// memories are those of all others.
type memories map[ident.Member]memory

// note keeps an object if it is the latest of its signer.
func (l memories) note(signer ident.Member, kind wire.ShownKind, object []byte, p token.Position) {
	known, is := l[signer]
	if p.IsZero() || is && !p.After(known.position) {
		return
	}
	if !is && len(l) >= maxMemories {
		delete(l, l.oldest())
	}
	l[signer] = memory{kind, object, p}
}

func (l memories) oldest() (id ident.Member) {
	first := true
	for other, m := range l {
		known := l[id]
		if first || known.position.After(m.position) || !m.position.After(known.position) && other.Compare(id) < 0 {
			id, first = other, false
		}
	}
	return id
}

// shown is what is shown to a member of itself.
func (l memories) shown(id ident.Member) *wire.Shown {
	m, known := l[id]
	if !known {
		return nil
	}
	return &wire.Shown{Kind: m.kind, Object: m.object}
}

// records are those of a checkpoint.
func (l memories) records() (list []journal.Record) {
	for _, id := range slices.SortedFunc(maps.Keys(l), ident.Member.Compare) {
		list = append(list, &journal.Known{What: knowledgeOf[l[id].kind], Object: l[id].object})
	}
	return list
}

// knowledgeOf is how the journal names what is shown.
var knowledgeOf = [...]journal.Knowledge{
	wire.ShownGenesis: journal.KnownGenesis, wire.ShownTransfer: journal.KnownTransfer,
	wire.ShownReceipt: journal.KnownReceipt, wire.ShownVoid: journal.KnownVoid,
}

// conflictDetector sees the objects of all handoffs: it finds what contradicts each other, and
// keeps the latest of each member.
type conflictDetector struct {
	handoff.ConflictDetector
	book *memoryBook
}

func (d conflictDetector) Genesis(g token.Genesis) (mine, other token.Object, found bool) {
	d.book.remember(g.Body().Generator, wire.ShownGenesis, g.Raw(), g.Body().Extensions)
	return d.ConflictDetector.Genesis(g)
}

func (d conflictDetector) Transfer(t token.Transfer) (mine, other token.Object, found bool) {
	d.book.remember(t.Body().From, wire.ShownTransfer, t.Raw(), t.Body().Extensions)
	return d.ConflictDetector.Transfer(t)
}

func (d conflictDetector) Answer(a token.Answer) (mine, other token.Object, found bool) {
	kind := wire.ShownReceipt
	if a.Verdict() == token.Void {
		kind = wire.ShownVoid
	}
	if a.Verdict() != token.Unknown {
		d.book.remember(a.Body().Signer, kind, a.Raw(), a.Body().Extensions)
	}
	return d.ConflictDetector.Answer(a)
}

// memoryBook is what this member shows others of what they have signed, and how it reads
// what is shown to itself.
type memoryBook struct {
	*core
	latest memories
}

func (k *memoryBook) remember(signer ident.Member, kind wire.ShownKind, object []byte, e canonical.Extensions) {
	if signer != k.self {
		k.latest.note(signer, kind, object, token.PositionOf(e))
	}
}

// recall takes in what a record of the journal shows of others.
func (k *memoryBook) recall(r journal.Record) {
	see := func(kind wire.ShownKind, raw []byte) {
		if s, p, err := k.peek(&wire.Shown{Kind: kind, Object: raw}); err == nil && len(raw) > 0 && s != k.self {
			k.latest.note(s, kind, raw, p)
		}
	}
	switch r := r.(type) {
	case *journal.Held:
		see(wire.ShownGenesis, r.Genesis)
		see(wire.ShownTransfer, r.Transfer)
	case *journal.Closed:
		see(wire.ShownReceipt, r.Receipt)
	case *journal.Reclaimed:
		see(wire.ShownVoid, r.Void)
	case *journal.Voided:
		see(wire.ShownTransfer, r.Transfer)
	case *journal.Known:
		if kind := slices.Index(knowledgeOf[:], r.What); kind > 0 {
			see(wire.ShownKind(kind), r.Object)
		}
	}
}

// peek reads what is shown, without a look at its signature.
func (k *memoryBook) peek(s *wire.Shown) (signer ident.Member, p token.Position, err error) {
	g := k.cfg.Group.ID()
	switch s.Kind {
	case wire.ShownGenesis:
		b, _, err := token.PeekGenesis(g, s.Object)
		return b.Generator, token.PositionOf(b.Extensions), err
	case wire.ShownTransfer:
		b, _, err := token.PeekTransfer(g, s.Object)
		return b.From, token.PositionOf(b.Extensions), err
	case wire.ShownReceipt:
		b, _, err := token.PeekAnswer(g, token.Receipt, s.Object)
		return b.Signer, token.PositionOf(b.Extensions), err
	}
	b, _, err := token.PeekAnswer(g, token.Void, s.Object)
	return b.Signer, token.PositionOf(b.Extensions), err
}

// shownKinds are the envelopes of what is shown.
var shownKinds = [...]envelope.Kind{
	wire.ShownGenesis: envelope.Genesis, wire.ShownTransfer: envelope.Transfer,
	wire.ShownReceipt: envelope.Receipt, wire.ShownVoid: envelope.Void,
}

// verifies reports whether this member has signed what it is shown.
func (k *memoryBook) verifies(s *wire.Shown) bool {
	u, err := token.Open(k.cfg.Group.ID(), shownKinds[s.Kind], s.Object)
	if err != nil {
		return false
	}
	_, err = u.Verify(k.cfg.Certificate.Key())
	return err == nil && ident.Member(u.KeyID()) == k.self
}
