// Package configfile reads TOML strictly: an unknown key is an error that
// names its line and the known key that is nearest, and a bad value one that
// names its line, its key and what is wanted there.
//
//	var settings struct {
//		StateDir string        `toml:"state_dir"`
//		Wait     time.Duration `toml:"wait"`
//	}
//	err := configfile.Decode("member.toml", text, &settings)
//
//	member.toml:3:1: unknown key "wiat"      with the hint: did you mean "wait"?
//	member.toml:4:8: wait: "1" is not a duration: write for example "4s", "100ms" or "90d"
//
// # Who calls it
//
// cmd/wander reads a member's settings and the group configuration with it, and cmd/wander-lab its scenarios. It
// knows none of their keys: they are in the types that callers give to Decode.
//
// # The functions, and the type
//
//	Decode   reads a text into a struct, or into a value with a method Places
//	Error    one fault: file, line, column, problem and hint; it matches ErrFile
//	Keys     the dotted keys of a value, for documentation and hints
//	Place    a pointer to the place of one key, and
//	Set      reads text into it: for flags and the environment
//	At       the Error about a value that was read and that the caller then found wrong
//	Names    the keys that a text sets in one table
//	Nearest  the known word that is fewest edits away
//
// # The walk of one file
//
//	Decode           refuses more than MaxSize bytes
//	 ├ entries       all values and heads of tables with their offsets, up to the first fault of syntax
//	 ├ entry.place   finds where the entry goes; an unknown key ends the walk, with Nearest in the hint
//	 ├ entry.put     checks the kind of the value and reads it; a bad value ends the walk
//	 └ toml.Unmarshal  reads the whole text once more for the faults that no single value shows:
//	                 syntax, and keys that are there twice
//
// A value's own UnmarshalText comes first; a time.Duration is read by protocol/duration; then texts, booleans,
// whole numbers, other numbers and lists are read by their Go kind. An element of a list begins as its
// SetDefaults leaves it.
//
// # Invariants
//
// Decode returns one fault, the first of the file, and a syntax fault only when the entries before it are good. A key
// that the text lacks keeps its value. After an error, what was read before the fault is in the value already: the
// caller discards it.
//
// # What it does not do
//
// It opens no file and has no defaults of its own. Whether values fit together is for the caller, who reports a
// fault with At, so that it has a place as well. A new kind of value is an entry of wanted and a case of read; a
// type with a syntax of its own needs only UnmarshalText.
//
// The functions share no state, so they may be called concurrently for different values.
package configfile
