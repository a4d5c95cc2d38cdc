// Package configfile reads TOML strictly: an unknown key is an error that
// names its line and the known key that is nearest, and a bad value one that
// names its line, its key and what is wanted there.
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

// Decode reads text, which came from the named file, into v, a pointer to a
// struct. What is absent from the text keeps its value.
func Decode(file string, text []byte, v any) error {
	if len(text) > MaxSize {
		return &Error{File: file, Problem: fmt.Sprintf("%d bytes, at most %d", len(text), MaxSize)}
	}
	err := toml.NewDecoder(strings.NewReader(string(text))).DisallowUnknownFields().Decode(v)
	var unknown *toml.StrictMissingError
	var bad *toml.DecodeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unknown):
		return unknownKey(file, unknown.Errors[0], v)
	}
	if fault := badValue(file, text, v); fault != nil {
		return fault
	}
	if errors.As(err, &bad) {
		line, column := bad.Position()
		return &Error{File: file, Line: line, Column: column, Problem: strings.TrimPrefix(bad.Error(), "toml: ")}
	}
	return &Error{File: file, Problem: err.Error()}
}

func unknownKey(file string, e toml.DecodeError, v any) error {
	line, column := e.Position()
	key := strings.Join(e.Key(), ".")
	out := &Error{File: file, Line: line, Column: column, Problem: fmt.Sprintf("unknown key %q", key)}
	known := Keys(v)
	for _, k := range known { // and the tables that they are in
		if i := strings.LastIndexByte(k, '.'); i > 0 {
			known = append(known, k[:i])
		}
	}
	if near := Nearest(key, known); near != "" {
		out.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return out
}

// Keys lists the dotted keys that v, a pointer to a struct, has room for.
func Keys(v any) []string {
	var keys []string
	collect(reflect.TypeOf(v), "", &keys)
	slices.Sort(keys)
	return keys
}

func collect(t reflect.Type, prefix string, keys *[]string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(textUnmarshaler) {
		*keys = append(*keys, strings.TrimSuffix(prefix, "."))
		return
	}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("toml"), ","); name != "" && name != "-" {
			collect(t.Field(i).Type, prefix+name+".", keys)
		}
	}
}

var textUnmarshaler = reflect.TypeFor[interface{ UnmarshalText([]byte) error }]()
