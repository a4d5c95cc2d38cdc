// Command run searches for crashers with every fuzz target of this module, as many at
// the same time as there are workers, and says what it did:
//
//	go run ./fuzz/run -time 60s                      each target for a minute
//	go run ./fuzz/run -execs 5000000 -out runs.jsonl each target until the file says so
//	go run ./fuzz/run -total runs.jsonl              the sums of all runs in the file
//	go run ./fuzz/run -list -targets wire            the targets that match, without a run
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
// A folder that ends in /... stands for all packages below it. A folder without a package is an error.
// A short search ignores the directives: building a binary for each group of targets would cost more
// than it saves (longExecutions, longTime).
//
// Unless package crypto/signature is one of them, the keys of the target remember verdicts
// on signatures (package memory).
//
// # The types
//
//	options    the flags; check refuses those that do not fit together
//	target     one fuzz function, and the folders of its directive
//	pack       one package of the module, as go list prints it
//	search     one call of the command: the queue of targets and what came of them
//	builder    builds test binaries, each once
//	execution  one run of a test binary for one target
//	record     what the run did: a line of the file of -out
//	profile    for -cover: which statements the inputs reach
//
// # The walk of one target
//
//	discover         lists the packages, parses their test files and finds the functions Fuzz…
//	search.next      takes the target from the head of the queue, with the time or the executions it gets
//	search.once      builder.binary, then execution.run in the folder of the package
//	follow           reads the output: figures go to the record
//	execution.judge  says in the record whether something was found
//	search.booked    appends the record to the file, prints it, and puts the target at the end of the queue
//
// With -execs a target gets at most portion executions in a turn, so a search that is stopped has been fair. A
// target with a failure gets no further turn. With -time each target has one turn.
//
// # What it relies on
//
// The last line of the file may be torn, when a search was killed: load reports it, and resume cuts it off before
// the next line is appended. A run of -execs without a single execution that was not stopped is an error
// (errIdle), since the search would not end. Inputs that were found interesting are in the folder of -cache.
//
// # Concurrency
//
// Each goroutine in turns runs one target at a time. search.mu guards the queue, the counts and the records. When
// there are at most half as many targets as workers of -parallel, each target gets several workers.
//
// # What belongs elsewhere
//
// The targets are in the packages that they test, their seeds in package fuzz/corpus. This command neither writes
// seeds nor decides what a target checks. A new flag is a field of options, with its rule in check; a new
// figure of a run is a field of record.
//
// Exit codes: 0 nothing found, 1 a crasher or a failure, 2 wrong usage.
package main
