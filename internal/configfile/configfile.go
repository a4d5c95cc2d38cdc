package configfile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// ErrFile says that a file is not what it should be; the message names file,
// line and column.
var ErrFile = errors.New("configuration file")

// MaxSize bounds a configuration file, in bytes: people write them.
const MaxSize = 1 << 20

// Error is one fault in a file. It matches ErrFile.
type Error struct {
	File         string
	Line, Column int // from 1; 0 when not known
	Problem      string
	Hint         string // may be empty
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Problem)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem)
}

// Unwrap makes errors.Is find ErrFile.
func (e *Error) Unwrap() error { return ErrFile }

// Decode reads text, which came from the named file, into v. A key that is absent from the
// text keeps its value. v is a pointer to a struct, whose fields have their keys in tags,
// or has a method Places, which returns a pointer to each value by its key. An element of
// a list begins as its method SetDefaults, if it has one, leaves it.
func Decode(file string, text []byte, v any) error {
	if len(text) > MaxSize {
		return &Error{File: file, Problem: fmt.Sprintf("%d bytes, at most %d", len(text), MaxSize)}
	}
	for _, e := range entries(text) {
		fault, at := Error{File: file}, e.at
		if to, known := e.place(reflect.ValueOf(v)); !known {
			fault.Problem, fault.Hint, at = fmt.Sprintf("unknown key %q", e.name()), near(e.name(), Keys(v)), e.key
		} else if wrong := e.put(to); wrong != "" {
			fault.Problem = e.name() + wrong
		} else {
			continue
		}
		fault.Line, fault.Column = position(text, at)
		return &fault
	}
	// No single value shows faults of syntax, and keys that are there twice.
	err := toml.Unmarshal(text, new(map[string]any))
	var bad *toml.DecodeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &bad):
		line, column := bad.Position()
		return &Error{File: file, Line: line, Column: column, Problem: strings.TrimPrefix(bad.Error(), "toml: "), Hint: quoted(text, line)}
	}
	return &Error{File: file, Problem: err.Error()}
}

// quoted is a hint at the quotes that the value of a line lacks: the fault of syntax in the line is most often that, and does not say so.
func quoted(text []byte, line int) string {
	lines := strings.Split(string(text), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	key, value, ok := strings.Cut(lines[line-1], "=")
	value, _, _ = strings.Cut(value, "#")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !ok || value == "" || strings.ContainsAny(key+value, "\"'{}") {
		return ""
	}
	if toml.Unmarshal([]byte("value = "+value), new(map[string]any)) == nil { // the fault is another one
		return ""
	}
	return fmt.Sprintf("write text in quotes: %s = %q", key, value)
}

// near is a hint at the known key, or table with keys, that is nearest.
func near(key string, known []string) string {
	for _, k := range known {
		if i := strings.LastIndexByte(k, '.'); i > 0 {
			known = append(known, k[:i])
		}
	}
	if n := Nearest(key, known); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}

// Keys lists the dotted keys of v, as Decode has it.
func Keys(v any) []string {
	keys := collect(reflect.ValueOf(v), "")
	slices.Sort(keys)
	return keys
}

func collect(v reflect.Value, prefix string) (keys []string) {
	v = settled(v)
	if isList(v.Type()) {
		v = settled(reflect.New(v.Type().Elem()))
	}
	if !isTable(v.Type()) {
		return []string{strings.TrimSuffix(prefix, ".")}
	}
	for name, place := range places(v) {
		keys = append(keys, collect(place, prefix+name+".")...)
	}
	return keys
}
