// Package fuzz has the fuzz targets of everything that reads bytes from outside,
// and of the state machines under sequences of events.
//
// A target checks a property, not only that nothing panics: what a decoder
// accepts is the one encoding of what it returned; a token is at one member at
// most. Decoders of signed objects are given payloads that are well signed, so
// that the payload decides.
//
// Every target has seeds under testdata/fuzz, replayed by go test, and many are
// seeded from the test vectors too. The seeds are made, always the same, by
//
//	go test ./fuzz -run TestSeeds -update
//
// and a crasher that is found stays there beside them. To search for one:
//
//	go run ./fuzz/run -time 1m -targets FuzzMessage
//
// Targets that need what a package does not export are in that package. The
// README tells all of it.
package fuzz
