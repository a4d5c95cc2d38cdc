// Package cddl checks encoded objects against the CDDL (RFC 8610) of spec/. It
// is a second implementation, for tests only: it shares no code with the
// decoders that it judges, so that text and code cannot be wrong together.
//
//	schema, err := cddl.Parse(text)          // of spec/wire.cddl, for example
//	err = schema.Check("preamble", encoded)  // ErrEncoding, ErrMismatch, ErrNoRule or nil
//	never := schema.Unmatched()              // rules that nothing has matched so far
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
//
// # Who calls it
//
// The tests of spec check the examples and the CDDL files themselves. The vector generator (spec/vector/generate)
// encodes with Item, and says of each input whether it matches its rule. spec/form draws objects from the shapes
// that the rules give them (Alternatives). No part of a member imports it.
//
// # The types
//
//	Schema       the rules of one text; Names lists them, Tokens shows one
//	Item         one decoded data item: its Major type, argument, content and Items
//	Alternative  one of the arrays that a rule chooses from, in words
//	rule, node   a named type, and a part of a type: choice, literal, span, named, tagged,
//	             list, dict, group and control
//	entry        an element of an array or a map, with how often it comes
//	binding      what the parameter of a generic rule stands for
//
// # The walk of one object
//
//	Check        Decode reads exactly one item, or returns ErrEncoding
//	named.match  gives the item to the rule's body; a rule that matched leaves Unmatched
//	node.match   each kind of node compares the item; choice tries its types
//	sequence     matches the elements of an array in order: each entry takes as many as
//	             it can and then, if the rest does not fit, fewer
//	ErrMismatch  says what was found and what the rule asks for
//
// # What it does not do
//
// It does not know what a value means: signatures, hashes, order between fields and limits that the CDDL does
// not state are for the decoders. The members' own decoder of CBOR is crypto/canonical. Decode follows
// at most maxDepth levels; a rule may make sequence try many lengths, so the package is not for input from a network.
//
// A new form of CDDL is a kind of node, with its case in the parser, its match, and its words in
// writer.node if Alternatives is to show it.
//
// # Concurrency
//
// Check notes in the Schema which rules have matched. So a Schema is for one goroutine at a time. Decode and
// the methods of Item share nothing.
package cddl
