// Package vector is the test vectors of the protocol: their format, and what
// runs them against this implementation. The files are in spec/vectors,
// whose README describes the format for those who build another one; package
// generate writes them.
//
//	set, err := vector.Load(os.DirFS("spec/vectors"))
//	report, err := set.Check()
//
// A vector is one input, what it is to be read as, and the one outcome: that it
// is valid, or the name of the error that refuses it (refusals.md). A
// scenario is a member restored from a journal, what happens to it, and
// what it has to do.
package vector
