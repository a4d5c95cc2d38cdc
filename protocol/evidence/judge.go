package evidence

import (
	"slices"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
)

// Of says what two objects prove, and against whom, if their signatures hold:
// those are not looked at, New and Verify do that. The order of the objects does
// not matter. It reports false for what an honest member may have signed, for
// one object twice, and for what is no object.
func Of(g ident.Group, a, b Object) (Kind, ident.Member, bool) {
	kind, accused, _, ok := compare(g, a, b)
	return kind, accused, ok
}

// compare is Of, and the objects as evidence has them.
func compare(g ident.Group, a, b Object) (Kind, ident.Member, [][]byte, bool) {
	x, isObject := peek(g, a)
	y, isToo := peek(g, b)
	if !isObject || !isToo {
		return 0, ident.Member{}, nil, false
	}
	for _, k := range Kinds() {
		switch {
		case contradict(k, x, y):
			return k, x.signer, arranged(k, a.Raw, b.Raw), true
		case contradict(k, y, x):
			return k, y.signer, arranged(k, b.Raw, a.Raw), true
		}
	}
	return 0, ident.Member{}, nil, false
}

func arranged(k Kind, first, second []byte) [][]byte {
	if k == Misfit {
		second = blank(second)
	}
	return [][]byte{first, second}
}

// contradict reports whether two objects, in this order, are evidence of kind k
// against the signer of the first.
func contradict(k Kind, x, y statement) bool {
	if want := objectKinds[k]; x.kind != want[0] || want[1] != 0 && y.kind != want[1] {
		return false
	}
	same := x.signer == y.signer
	switch k {
	case Fork:
		return same && x.hash.Compare(y.hash) < 0 &&
			x.transfer.Token == y.transfer.Token && x.transfer.Hop == y.transfer.Hop &&
			x.transfer.Previous == y.transfer.Previous
	case Contradiction:
		return same && x.answer.Transfer == y.answer.Transfer
	case Reclaimed:
		return same && y.transfer.Previous == x.answer.Transfer
	case DoubleMint:
		return same && x.hash.Compare(y.hash) < 0 &&
			x.genesis.Incarnation == y.genesis.Incarnation && x.genesis.Sequence == y.genesis.Sequence
	case Misfit:
		return names(x.transfer, y) && !follows(x, y)
	}
	return false
}

// follows reports whether a transfer follows from a genesis, transfer or void
// that it names, as far as the two show it (handoff rules §4.1).
func follows(next, from statement) bool {
	t := next.transfer
	switch from.kind {
	case envelope.Genesis:
		return t.Token == ident.Token(from.hash) && t.Hop == 1 && t.Void == nil && t.From == from.genesis.Generator
	case envelope.Transfer:
		holder := from.transfer.To
		if t.Void != nil {
			holder = from.transfer.From
		}
		return t.Token == from.transfer.Token && t.Hop-1 == from.transfer.Hop && t.From == holder
	case envelope.Void:
		a := from.answer
		return t.Previous == a.Transfer && t.Token == a.Token && t.Hop-1 == a.Hop && t.From != a.Signer
	}
	return true
}

// Recover finds out which objects a journal has written down as evidence of a
// kind, by its name, in the order of Kind.Objects. It reports false for what is
// no evidence.
func Recover(g ident.Group, what string, raws [][]byte) (a, b Object, ok bool) {
	k := Kind(max(0, slices.Index(kindNames[:], what)))
	if !k.valid() || len(raws) != objectCount {
		return Object{}, Object{}, false
	}
	seconds := []envelope.Kind{objectKinds[k][1]}
	if seconds[0] == 0 {
		seconds = namedKinds
	}
	for _, second := range seconds {
		a, b = Object{Kind: objectKinds[k][0], Raw: raws[0]}, Object{Kind: second, Raw: raws[1]}
		if found, _, is := Of(g, a, b); is && found == k {
			return a, b, true
		}
	}
	return Object{}, Object{}, false
}
