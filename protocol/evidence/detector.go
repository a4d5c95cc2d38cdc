package evidence

import (
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// ConflictDetector remembers signed objects that it was shown, and finds what contradicts
// them. It keeps the latest of each sort, so an old contradiction may escape it:
// that is what the audit of journals is for. It is not safe for concurrent use.
type ConflictDetector struct {
	group ident.Group
	// Remembered twice over: what was shown lately is in young. When half of what
	// may be kept is there, it becomes old, and the old is forgotten.
	young, old map[trace]seen
	kept       int
}

// trace is under what an object is found again.
type trace struct {
	by    relation
	who   ident.Member
	hash  ident.Hash // a transfer's, a token's, or an incarnation
	count uint64
}

// relation is what two objects can have in common.
type relation uint8

const (
	sameHop      relation = iota // transfers of one hop
	samePrevious                 // the transfer after another
	declining                    // the void of a transfer
	taking                       // its receipt
	sameNumber                   // geneses of one number
)

// Kept is how many entries a member's ConflictDetector has at most: two for a transfer,
// one for another object. At about 600 bytes each, they are 300 kB, and go back
// about a hundred handoffs of the member: with one token in a group of 50, about
// 5000 hops.
const Kept = 512

// Judge is Of, with the name of the kind and the objects in the order of its
// Objects.
func (d *ConflictDetector) Judge(a, b Object) (what string, accused ident.Member, first, second Object, ok bool) {
	kind, accused, ok := Of(d.group, a, b)
	if ok && a.Kind != kind.Objects()[0] {
		a, b = b, a
	}
	return kind.String(), accused, a, b, ok
}

// NewConflictDetector returns one that remembers nothing yet, and never more than kept
// entries.
func NewConflictDetector(g ident.Group, kept int) *ConflictDetector {
	return &ConflictDetector{group: g, kept: kept, young: make(map[trace]seen), old: make(map[trace]seen)}
}

// seen is one object that is remembered.
type seen struct {
	hash   ident.Hash
	object Object
}

// Genesis tells the witness of a genesis, and returns what it remembers that
// contradicts it, if anything: then the two are evidence, see New. Of objects
// that contradict each other the witness keeps the first.
func (d *ConflictDetector) Genesis(g token.Genesis) (mine, other Object, found bool) {
	return d.show(ofGenesis(g.Body(), g.Hash()), g.Raw())
}

// Transfer is Genesis for a transfer.
func (d *ConflictDetector) Transfer(t token.Transfer) (mine, other Object, found bool) {
	return d.show(ofTransfer(t.Body(), t.Hash()), t.Raw())
}

// Answer is Genesis for a receipt or void. An unknown contradicts nothing.
func (d *ConflictDetector) Answer(a token.Answer) (mine, other Object, found bool) {
	kind := envelope.Receipt
	switch a.Verdict() {
	case token.Void:
		kind = envelope.Void
	case token.Unknown:
		return Object{}, Object{}, false
	}
	return d.show(ofAnswer(kind, a.Body(), a.Hash()), a.Raw())
}

// Recall tells the witness of an object from a member's own journal, without a
// look at its signature. What is no object is passed over.
func (d *ConflictDetector) Recall(o Object) {
	if s, ok := peek(d.group, o); ok {
		d.show(s, o.Raw)
	}
}

func (d *ConflictDetector) show(s Statement, raw []byte) (mine, other Object, found bool) {
	mine = Object{Kind: s.Kind, Raw: raw}
	var space [2]trace
	for _, at := range s.rivals(space[:0]) {
		known, is := d.recall(at)
		if !is || known.hash == s.Hash {
			continue
		}
		if _, _, contradicts := Of(d.group, known.object, mine); contradicts {
			return mine, known.object, true
		}
	}
	for _, at := range s.traces(space[:0]) {
		d.remember(at, seen{s.Hash, mine})
	}
	return mine, Object{}, false
}

func (d *ConflictDetector) recall(at trace) (seen, bool) {
	o, ok := d.young[at]
	if !ok {
		o, ok = d.old[at]
	}
	return o, ok
}

func (d *ConflictDetector) remember(at trace, o seen) {
	if len(d.young) >= d.kept/2 {
		d.young, d.old = d.old, d.young
		clear(d.young)
	}
	d.young[at] = o
}

// traces appends to list under what an object is kept: at most two.
func (s Statement) traces(list []trace) []trace {
	switch s.Kind {
	case envelope.Genesis:
		return append(list, s.mint())
	case envelope.Transfer:
		return append(list, s.hop(), trace{by: samePrevious, who: s.Signer, hash: s.Previous})
	case envelope.Void:
		return append(list, trace{by: declining, who: s.Signer, hash: s.Answered})
	case envelope.Receipt:
		return append(list, trace{by: taking, who: s.Signer, hash: s.Answered})
	}
	return list
}

// rivals appends to list under what another object is kept that would contradict
// this one: at most two.
func (s Statement) rivals(list []trace) []trace {
	switch s.Kind {
	case envelope.Genesis:
		return append(list, s.mint())
	case envelope.Transfer:
		return append(list, s.hop(), trace{by: declining, who: s.Signer, hash: s.Previous})
	case envelope.Void:
		return append(list,
			trace{by: taking, who: s.Signer, hash: s.Answered},
			trace{by: samePrevious, who: s.Signer, hash: s.Answered},
		)
	case envelope.Receipt:
		return append(list, trace{by: declining, who: s.Signer, hash: s.Answered})
	}
	return list
}

func (s Statement) hop() trace {
	return trace{by: sameHop, who: s.Signer, hash: ident.Hash(s.Token), count: s.Hop}
}

func (s Statement) mint() trace {
	at := trace{by: sameNumber, who: s.Signer, count: s.Sequence}
	copy(at.hash[:], s.Incarnation[:])
	return at
}
