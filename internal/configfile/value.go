package configfile

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// badValue is the first value that does not fit into v, a pointer to a struct:
// the TOML library tells of its types in words of Go, and not always where.
func badValue(file string, text []byte, v any) error {
	for _, e := range entries(text) {
		path := e.path
		if e.kind == unstable.ArrayTable {
			path = path[:len(path)-1] // not the table, but the list of them
		}
		t, ok := typeAt(reflect.TypeOf(v), path)
		if !ok {
			continue
		}
		if wrong := e.fits(t); wrong != "" {
			line, column := position(text, e.at)
			return &Error{File: file, Line: line, Column: column, Problem: e.name() + wrong}
		}
	}
	return nil
}

// name is the key with the tables around it, without the numbers in lists.
func (e entry) name() string {
	var names []string
	for _, step := range e.path {
		if name, ok := step.(string); ok {
			names = append(names, name)
		}
	}
	return strings.Join(names, ".")
}

// typeAt is the type at a path in t, not a pointer; none for an unknown key.
func typeAt(t reflect.Type, path []any) (reflect.Type, bool) {
	for _, step := range path {
		t = pointee(t)
		name, isName := step.(string)
		if isName && t.Kind() == reflect.Slice {
			t = pointee(t.Elem()) // [name] is the last of the list
		}
		switch {
		case !isName && t.Kind() == reflect.Slice:
			t = t.Elem()
		case isName && t.Kind() == reflect.Struct:
			field, ok := fieldOf(t, name)
			if !ok {
				return nil, false
			}
			t = field.Type
		case !isName: // [[name]] of what is no list: the fault is there
			continue
		default:
			return nil, false
		}
	}
	return pointee(t), true
}

func pointee(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("toml"), ","); tag != "" && strings.EqualFold(tag, name) {
			return t.Field(i), true
		}
	}
	return reflect.StructField{}, false
}

// fits is what is wrong with the value where a t is wanted, after the key's
// name; empty if nothing is.
func (e entry) fits(t reflect.Type) string {
	if u, ok := reflect.New(t).Interface().(encoding.TextUnmarshaler); ok {
		return e.fitsText(u)
	}
	switch t.Kind() {
	case reflect.String:
		return unless(e.kind == unstable.String, " must be text in quotes")
	case reflect.Bool:
		return unless(e.kind == unstable.Bool, " must be true or false")
	case reflect.Float32, reflect.Float64:
		return unless(e.kind == unstable.Float || e.kind == unstable.Integer, " must be a number")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		_, err := strconv.ParseInt(strings.ReplaceAll(e.data, "_", ""), 0, t.Bits())
		return unless(e.kind == unstable.Integer && err == nil, " must be a whole number")
	case reflect.Struct:
		return unless(e.kind == unstable.Table || e.kind == unstable.InlineTable, fmt.Sprintf(" must be a table: begin it with [%s]", e.name()))
	case reflect.Slice:
		if pointee(t.Elem()).Kind() == reflect.Struct {
			return unless(e.kind == unstable.ArrayTable || e.kind == unstable.Table || e.kind == unstable.Array, fmt.Sprintf(" must be tables: begin each with [[%s]]", e.name()))
		}
		return unless(e.kind == unstable.Array, " must be a list in brackets")
	}
	return ""
}

// fitsText asks the type itself.
func (e entry) fitsText(u encoding.TextUnmarshaler) string {
	err := u.UnmarshalText([]byte(e.data))
	switch e.kind {
	case unstable.String, unstable.Integer, unstable.Float, unstable.Bool:
		if err != nil {
			return ": " + err.Error()
		}
	}
	return unless(e.kind == unstable.String || e.kind == unstable.Integer || e.kind == unstable.Float, " must be a number or text in quotes")
}

func unless(good bool, problem string) string {
	if good {
		return ""
	}
	return problem
}
