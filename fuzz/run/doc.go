// Command run searches for crashers with every fuzz target of this module, as many at
// the same time as there are workers, and says what it did:
//
//	go run ./fuzz/run -time 60s                      each target for a minute
//	go run ./fuzz/run -execs 5000000 -out runs.jsonl each target until the file says so
//	go run ./fuzz/run -total runs.jsonl              the sums of all runs in the file
//
// With -out every run appends a line of JSON, and -execs counts what is there
// already, so a search can be stopped at any time (Ctrl-C) and gone on with.
//
// After each execution the engine of package testing looks at every coverage counter
// that there is, and go test -fuzz makes some for all of the standard library. Here the
// test binaries have them for the packages that a directive at the target names:
//
//	//fuzz:of protocol/wire crypto/canonical
//
// Unless package crypto/signature is one of them, the keys of the target remember verdicts
// on signatures (package memory).
//
// Exit codes: 0 nothing found, 1 a crasher or a failure, 2 wrong usage.
package main
