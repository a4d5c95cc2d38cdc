// Command generate writes the test vectors of the protocol. They are a
// function of nothing: the keys are fixed, there is no clock and no randomness.
//
//	go run ./spec/vector/generate          writes spec/vectors
//	go run ./spec/vector/generate -o DIR   writes another folder
//
// It writes every file anew and removes JSON files that it does not make. A second call changes nothing.
//
// # Why it has an encoder of its own
//
// The vectors are built from items of internal/cddl, which shares no code with the decoders of the project. So an
// encoder of the project that is wrong does not make wrong vectors.
//
// # The types
//
//	suite     collects the vectors by file, and refuses a name that is there already
//	fault     one way in which an input can be wrong, or right (ok): its name, its requirement, its outcome
//	object    a kind of signed object: one good payload, from which its wrong ones are derived
//	edit      one change of the payload that gives it another meaning
//	unsigned  an object that nobody signs, from which wrong encodings and shapes are derived
//	spelling  one wrong encoding of a whole item
//	reshaped  an item that is well encoded and has not the shape of its rule
//	message   one kind of message, and record one kind of record, with its fields
//	signing   all that goes into a signature; envelope is the signed object that it makes
//	party     somebody who signs: the private key is 32 equal bytes
//	script    a scenario in the making
//
// # The walk of one vector
//
//	generate        goes through the objects, messages, records and scenarios
//	 ├ a fault      says what is wrong, which requirement that breaks, and which error follows
//	 ├ item         the good input, with the one change
//	 ├ signing      for signed objects: the signature over the changed payload
//	 ├ suite.vector puts these together, and asks the CDDL whether the input has the shape of its rule
//	 └ suite.add    takes it in
//	write           the files, with the index and the hashes over vector.FullCases cases
//
// # Invariants
//
// Most inputs are wrong in one place, so that its outcome is the only possible one. The name of a vector is its object and
// its fault. The outcome is written down here from the specification, and never computed by the decoder
// that is to be tested.
//
// # What it does not do
//
// It runs no vector: that is for package vector, whose types it fills. A new kind of signed object is an entry of
// objects; a new way to be wrong is a fault where its object is built.
//
// All of it runs in one goroutine.
package main
