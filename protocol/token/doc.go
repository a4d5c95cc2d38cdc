// Package token holds the signed objects that a token is made of and the rules
// by which one follows from another.
//
// A token is born with a genesis, signed by its generator; its id is the
// genesis' hash. Each hop adds a transfer, signed by the member that gives
// custody away and naming the member that gets it. A receipt, void or unknown,
// signed by the receiver, answers a transfer.
//
// What is signed and what is not are different types: a Body is signed with
// Sign, and only a Verifier turns bytes into a Genesis, a Transfer or an
// Answer. Whoever holds one of those values holds a verified object.
//
//	genesis ── transfer 1 ── transfer 2 ── transfer 3 (voided) ── transfer 4
//	  hop 0       hop 1         hop 2         burned                 hop 4
//
// A Title is the proof that a member has custody at a hop: the genesis, the
// last transfer, and the void by which custody came back to its sender if it
// did. Title.Admits says whether a transfer may follow (handoff rules §4.1).
package token
