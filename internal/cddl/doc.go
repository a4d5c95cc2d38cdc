// Package cddl checks encoded objects against the CDDL (RFC 8610) of spec/. It
// is a second implementation, for tests only: it shares no code with the
// decoders that it judges, so that text and code cannot be wrong together.
//
// It knows the part of CDDL that the files in spec/ use, and refuses the rest:
//
//	rules          name = type, name<parameter> = type
//	types          names, numbers, texts, choices (/), ranges (a..b), (type),
//	               arrays [...], maps {...}, tags #6.n(type)
//	groups         (key => type, ...): entries of a map, checked as a map of their own
//	controls       .size of byte strings and texts, .cbor
//	entries        key: type, key => type, type
//	occurrence     ?, *, +, n*m
//	standard names any uint int bstr tstr bool true false null
//
// Objects must be in deterministic encoding, as everywhere in the project:
// Decode accepts no other, nor tags but those that a rule asks for, nor
// floating point.
package cddl
