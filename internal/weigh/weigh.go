// Package weigh counts what a value keeps in memory.
package weigh

import (
	"reflect"
	"strings"
)

// Weight is what something keeps in memory, counted without its help: the entries of
// all maps and lists that can be reached from it, and the bytes of all strings and
// byte strings. A leak shows here, wherever it is.
type Weight struct {
	Entries, Bytes int
	Parts          map[string]int // entries by the path of fields; nil if it was not asked for
}

// scales walk through a value.
type scales struct {
	Weight
	seen map[seenAt]bool
}

type seenAt struct {
	at uintptr
	of reflect.Type
}

// Of weighs what a pointer leads to, which must not change meanwhile.
func Of(pointer any) Weight {
	s := &scales{Weight: Weight{Parts: make(map[string]int)}, seen: make(map[seenAt]bool)}
	s.walk("", reflect.ValueOf(pointer))
	return s.Weight
}

// Total is Of without the parts, whose paths it need not make.
func Total(pointer any) Weight {
	s := &scales{seen: make(map[seenAt]bool)}
	s.walk("", reflect.ValueOf(pointer))
	return s.Weight
}

// shared reports whether values of a type belong to the whole program: what is
// precomputed for keys, the group's configuration.
func shared(t reflect.Type) bool {
	path := t.PkgPath()
	return strings.HasSuffix(path, "crypto/signature") || strings.HasSuffix(path, "protocol/group") ||
		strings.HasPrefix(path, "filippo.io") || strings.HasPrefix(path, "crypto/")
}

func (s *scales) walk(path string, v reflect.Value) {
	if shared(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && s.first(v) {
			s.walk(path, v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			s.walk(path, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			s.walk(s.below(path, v.Type(), i), v.Field(i))
		}
	case reflect.String:
		s.Bytes += v.Len()
	case reflect.Map:
		s.walkMap(path, v)
	case reflect.Slice, reflect.Array:
		s.walkList(path, v)
	}
}

// below is the path of a field of a struct, if paths are wanted.
func (s *scales) below(path string, of reflect.Type, field int) string {
	if s.Parts == nil {
		return ""
	}
	return path + "." + of.Field(field).Name
}

func (s *scales) first(v reflect.Value) bool {
	k := seenAt{v.Pointer(), v.Type()}
	if s.seen[k] {
		return false
	}
	s.seen[k] = true
	return true
}

func (s *scales) walkMap(path string, v reflect.Value) {
	if v.IsNil() || !s.first(v) {
		return
	}
	s.count(path, v.Len())
	for each := v.MapRange(); each.Next(); {
		s.walk(path, each.Value())
	}
}

func (s *scales) walkList(path string, v reflect.Value) {
	switch v.Type().Elem().Kind() {
	case reflect.Uint8:
		s.Bytes += v.Len()
		return
	case reflect.Uint64, reflect.Int64, reflect.Int, reflect.Uint32, reflect.Bool, reflect.Float64:
		if v.Kind() == reflect.Slice {
			s.count(path, v.Len())
		}
		return
	}
	if v.Kind() == reflect.Slice {
		if v.IsNil() {
			return
		}
		s.count(path, v.Len())
	}
	for i := range v.Len() {
		s.walk(path, v.Index(i))
	}
}

func (s *scales) count(path string, entries int) {
	s.Entries += entries
	if entries > 0 && s.Parts != nil {
		s.Parts[path] += entries
	}
}
