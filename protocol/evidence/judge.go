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
		case k.Convicts(x, y):
			return k, x.Signer, arranged(k, a.Raw, b.Raw), true
		case k.Convicts(y, x):
			return k, y.Signer, arranged(k, b.Raw, a.Raw), true
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

// Convicts reports whether two statements, in this order, are evidence of this
// kind against the signer of the first, if their signatures hold. All who judge
// what members have signed go by it.
func (k Kind) Convicts(x, y Statement) bool {
	if !k.valid() {
		return false
	}
	if want := objectKinds[k]; x.Kind != want[0] || want[1] != 0 && y.Kind != want[1] {
		return false
	}
	same := x.Signer == y.Signer
	switch k {
	case Fork:
		return same && x.Hash.Compare(y.Hash) < 0 && x.Token == y.Token && x.Hop == y.Hop && x.Previous == y.Previous
	case Contradiction:
		return same && x.Answered == y.Answered
	case Reclaimed:
		return same && y.Previous == x.Answered
	case DoubleMint:
		return same && x.Hash.Compare(y.Hash) < 0 && x.Incarnation == y.Incarnation && x.Sequence == y.Sequence
	case Misfit:
		return names(x, y) && !follows(x, y)
	case TwoAnswers:
		return x.Hash.Compare(y.Hash) < 0 && twoAnswers(x.Gate, y.Gate)
	case NumberTwice:
		return x.Hash.Compare(y.Hash) < 0 && numberTwice(x, y)
	}
	return false
}

// twoAnswers reports whether one sign-in has two sessions by two answers, or a session and a refusal.
func twoAnswers(a, b *GateAnswer) bool {
	return a.SignIn == b.SignIn && (a.Own || a.Refused) && (b.Own || b.Refused) && a.Session != b.Session
}

// numberTwice reports whether one session has two sign-ins by two answers, or two holders or tokens. The slot of a session is that of its
// sign-in; BUSY names sessions at other slots, too.
func numberTwice(x, y Statement) bool {
	a, b := x.Gate, y.Gate
	switch {
	case a.Session == 0, a.Session != b.Session, a.SignIn.Key != b.SignIn.Key, a.SignIn.Resource != b.SignIn.Resource:
		return false
	case a.Own && b.Own && (a.SignIn != b.SignIn || a.Slot != b.Slot):
		return true
	}
	nobody := ident.Member{}
	return a.Holder != nobody && b.Holder != nobody && (a.Holder != b.Holder || x.Token != y.Token || x.Hop != y.Hop)
}

// names reports whether a transfer has the hash of an object in the place where
// an object of its kind belongs.
func names(by, s Statement) bool {
	switch s.Kind {
	case envelope.Genesis, envelope.Transfer:
		return by.Previous == s.Hash
	case envelope.Void:
		return by.Void != nil && *by.Void == s.Hash
	}
	return false
}

// follows reports whether a transfer follows from a genesis, transfer or void
// that it names, as far as the two show it (handoff rules §4.1).
func follows(next, from Statement) bool {
	if next.Token != from.Token || next.Hop-1 != from.Hop {
		return false
	}
	switch from.Kind {
	case envelope.Genesis:
		return next.Void == nil && next.Signer == from.Signer
	case envelope.Transfer:
		if next.Void != nil {
			return next.Signer == from.Signer
		}
		return next.Signer == from.To
	case envelope.Void:
		return next.Previous == from.Answered && next.Signer != from.Signer
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
