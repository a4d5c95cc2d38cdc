// Package vector is the test vectors of the protocol: their format, and what
// runs them against this implementation. The files are in spec/vectors,
// whose README describes the format for those who build another one; package
// generate writes them.
//
//	set, err := vector.Load(os.DirFS("spec/vectors"))
//	report, err := set.Check()
//	for _, f := range report.Failures {
//		fmt.Println(f.File, f.Name, f.Why)
//	}
//
// A vector is one input, what it is to be read as, and the one outcome: that it
// is valid, or the name of the error that refuses it (refusals.md). A
// scenario is a member restored from a journal, what happens to it, and
// what it has to do.
//
// # Who calls it
//
// `wander-lab conformance --vectors` runs the files, and so does the test of this package. Package generate fills
// the same types and writes them. The tests of spec and of fuzz load them: to find requirements without a vector,
// and as seeds.
//
// # The types
//
//	Set       a directory: Parties of keys.json, Files, Hashes and Index
//	File      one file: vectors, scenarios or both
//	Vector    an input, its Object and its Outcome; RuleOf finds its rule in the CDDL files
//	Signed    a signed object taken apart, for people and for other implementations
//	Scenario  a member with a journal, and Steps; a Step has the Effects that are expected
//	Hashes    Cases that are made from seeds, and hashes over many of them
//	Index     how many vectors and scenarios each file has, so that a missing one is noticed
//	Bytes     a byte string as the files have it: hexadecimal, with runs written short
//	Report    what came of a run; a Failure names the file, the vector and the reason
//	world     the keys and certificates of the parties, as the readers need them
//
// # The walk of one vector
//
//	Load               reads every JSON file of the folder, within maxFile and maxFiles
//	 ├ Vector.validate the object, the class and the outcome are known, and fit together
//	 └ Index.check     what the index lists is there, and nothing else
//	Set.Check          newWorld makes keys and certificates from the parties
//	 └ Vector.check    readers[Object] reads the input and returns nil or an error
//	    ├ outcome      finds the error's name, and the name of its cause
//	    └ compares     the outcome, the cause if there is one, and the hash of a signed object
//
// A scenario goes to Scenario.check instead. It builds a member from the journal. For each step it lets the time of
// the step pass, gives the member the event, and compares the effects.
//
// # Invariants
//
// A name is used once in a directory. The class is ClassValid if and only if the outcome is Valid. Each object
// has a reader, and each outcome an entry in names, or Load refuses the file. What a file can demand is
// bounded: its size, the steps of a scenario (maxSteps), the wait before one (maxAfter), and the timers that
// fire in that wait (maxTimers). An unusable file is an error of Load. A vector with another outcome is no error: it
// is a Failure in the report.
//
// # What belongs elsewhere
//
// This package encodes no vector and decides no outcome: both are for package generate, which has an encoder of
// its own. It does not compare inputs with the CDDL: the tests do, with internal/cddl. A new kind of object is an
// entry of readers; a new error is an entry of names.
//
// A Set is not locked. Nothing changes it after Load, and each Check makes a world of its own.
package vector
