package evidence

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/envelope"
)

// Kind is which rule was broken (handoff rules §9).
type Kind uint8

// The kinds. What is in brackets are the objects, in their order.
const (
	// Fork: two transfers of one hop of one token, by the same title [TRANSFER,
	// TRANSFER]. A member gives custody of a hop away once; what comes back by a void
	// has the next number. With different previous transfers they are no evidence:
	// somebody before has forked the token, and its second chain may come to a member
	// that has settled the first one and forgotten it.
	Fork Kind = iota + 1
	// Contradiction: one transfer declined permanently and taken [VOID, RECEIPT].
	Contradiction
	// Reclaimed: one transfer declined permanently, and the token given away by it
	// [VOID, TRANSFER whose previous is the declined one].
	Reclaimed
	// DoubleMint: two tokens with one number of one incarnation [GENESIS, GENESIS].
	DoubleMint
	// Misfit: a transfer that does not follow from what it names [TRANSFER, and
	// the genesis, transfer or void whose hash is in it]. Of the second object
	// only the hash counts, whoever signed it: its signature is blanked.
	Misfit

	// TwoAnswers: a gate's session for one sign-in and another session, or a refusal, for the same one [GATE ANSWER, GATE ANSWER].
	TwoAnswers
	// NumberTwice: a gate's answers by which two sign-ins have one session, or one session two holders or tokens [GATE ANSWER, GATE ANSWER].
	NumberTwice

	kindEnd
)

// kindNames are stable: a metric label and the journal's word.
var kindNames = [kindEnd]string{
	Fork: "two transfers of one hop", Contradiction: "void and receipt", Reclaimed: "void and transfer",
	DoubleMint: "two tokens of one number", Misfit: "transfer that does not follow",
	TwoAnswers: "two answers to one sign-in", NumberTwice: "one session number for two sessions",
}

func (k Kind) String() string {
	if !k.valid() {
		return fmt.Sprintf("evidence kind %d", uint8(k))
	}
	return kindNames[k]
}

func (k Kind) valid() bool { return k > 0 && k < kindEnd }

// Kinds are all kinds, in the order of their numbers.
func Kinds() []Kind {
	var list []Kind
	for k := Kind(1); k < kindEnd; k++ {
		list = append(list, k)
	}
	return list
}

// AgainstGate reports whether a kind convicts gates, and no members.
func (k Kind) AgainstGate() bool { return k.valid() && objectKinds[k][0] == envelope.GateAnswer }

// Objects are what the objects of this kind are signed as, in their order; the
// second is 0 where the first says it, by its hash.
func (k Kind) Objects() [2]envelope.Kind {
	if !k.valid() {
		return [2]envelope.Kind{}
	}
	return objectKinds[k]
}

// objectKinds are what the objects of a kind are signed as; 0 where the hash
// says it.
var objectKinds = [kindEnd][2]envelope.Kind{
	Fork:          {envelope.Transfer, envelope.Transfer},
	Contradiction: {envelope.Void, envelope.Receipt},
	Reclaimed:     {envelope.Void, envelope.Transfer},
	DoubleMint:    {envelope.Genesis, envelope.Genesis},
	Misfit:        {envelope.Transfer, 0},
	TwoAnswers:    {envelope.GateAnswer, envelope.GateAnswer},
	NumberTwice:   {envelope.GateAnswer, envelope.GateAnswer},
}
