// Package fuzz has the fuzz targets of everything that reads bytes from
// outside: frames and messages, signed objects, files.
//
// A target checks a property, not only that nothing panics: what a decoder
// accepts is the one encoding of what it returned. Decoders of signed objects
// are given payloads that are well signed, so that the payload decides.
//
// Every target has seeds under testdata/fuzz, replayed by go test. They are
// made, always the same, by
//
//	go test ./fuzz -run TestSeeds -update
//
// and a crasher that is found stays there beside them. To search for one:
//
//	go test ./fuzz -run '^$' -fuzz '^FuzzMessage$' -fuzztime 1m
//
// What a TLS peer shows is fuzzed in node/transport, which does not export its
// parsers.
package fuzz
