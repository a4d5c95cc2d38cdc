package configfile

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/wandertoken/wander/protocol/duration"
)

// lister is a table of a file whose keys are listed, instead of being those of a struct:
// Places returns a pointer to the place of each value, by its key.
type lister interface{ Places() map[string]any }

// defaulter is an element of a list that is not empty at first.
type defaulter interface{ SetDefaults() }

// Place returns a pointer to the place of a dotted key, which Keys lists, in v, as
// Decode has it.
func Place(v any, key string) any {
	var path []any
	for step := range strings.SplitSeq(key, ".") {
		path = append(path, step)
	}
	to, _ := entry{path: path}.place(reflect.ValueOf(v))
	return to.Addr().Interface()
}

// Set reads text into a place as Decode does, but without the quotes of a file; a list
// has commas. It is for flags and for the environment.
func Set(place any, text string) error {
	v := reflect.ValueOf(place).Elem()
	if list, ok := place.(*[]string); ok {
		*list = strings.Split(text, ",")
		for i := range *list {
			(*list)[i] = strings.TrimSpace((*list)[i])
		}
		return nil
	}
	return read(v, text)
}

// read reads one value from its text.
func read(v reflect.Value, text string) (err error) {
	switch p := v.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		return p.UnmarshalText([]byte(text))
	case *time.Duration:
		*p, err = duration.Parse(text)
		return err
	}
	digits := strings.ReplaceAll(text, "_", "")
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(text == "true")
		if text != "true" && text != "false" {
			err = strconv.ErrSyntax
		}
	case reflect.Float64:
		var x float64
		x, err = strconv.ParseFloat(digits, 64)
		v.SetFloat(x)
	case reflect.Int:
		var n int64
		n, err = strconv.ParseInt(digits, 0, v.Type().Bits())
		v.SetInt(n)
	}
	if err != nil {
		return fmt.Errorf("%q: %s", text, wanted[v.Kind()].words)
	}
	return nil
}

// wanted are the kinds of values that go into a place of a Go kind, and their words.
var wanted = map[reflect.Kind]struct {
	words string
	kinds []unstable.Kind
}{
	reflect.String:  {"must be text in quotes", []unstable.Kind{unstable.String}},
	reflect.Bool:    {"must be true or false", []unstable.Kind{unstable.Bool}},
	reflect.Float64: {"must be a number", []unstable.Kind{unstable.Float, unstable.Integer}},
	reflect.Int:     {"must be a whole number", []unstable.Kind{unstable.Integer}},
	reflect.Slice:   {"must be a list in brackets", []unstable.Kind{unstable.Array}},
}

// put puts the value into its place, and returns what is wrong with it, after the key's
// name; empty if nothing is.
func (e entry) put(v reflect.Value) string {
	table, list := isTable(v.Type()), isList(v.Type())
	switch {
	case table:
		return unless(e.kind == unstable.Table || e.kind == unstable.InlineTable, fmt.Sprintf(" must be a table: begin it with [%s]", e.name()))
	case list && e.kind != unstable.ArrayTable && e.kind != unstable.Table && e.kind != unstable.Array:
		return fmt.Sprintf(" must be tables: begin each with [[%s]]", e.name())
	case list && e.kind != unstable.Array:
		if n, numbered := e.path[len(e.path)-1].(int); numbered {
			element(v, n)
		}
		return ""
	}
	if w, plain := wanted[v.Kind()]; plain && !readsItself(v) {
		if !slices.Contains(w.kinds, e.kind) {
			return " " + w.words
		}
		if v.Kind() == reflect.Slice {
			v.SetLen(0) // its elements are values of their own
		} else if read(v, e.data) != nil {
			return " " + w.words
		}
		return ""
	}
	switch e.kind {
	case unstable.String, unstable.Integer, unstable.Float, unstable.Bool:
		if err := read(v, e.data); err != nil {
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

// place is where the entry goes in v, of an element of a list of tables the list; none for
// an unknown key. Pointers and lists on the way to it are made.
func (e entry) place(v reflect.Value) (reflect.Value, bool) {
	path := e.path
	if e.kind == unstable.ArrayTable {
		path = path[:len(path)-1]
	}
	v = settled(v)
	for _, step := range path {
		name, named := step.(string)
		switch {
		case !named && v.Kind() == reflect.Slice:
			v = element(v, step.(int))
			continue
		case !named: // [[name]] of what is no list: the fault is there
			continue
		case isList(v.Type()): // [name] is the last of the list
			v = element(v, max(0, v.Len()-1))
		}
		if !isTable(v.Type()) {
			return v, false
		}
		to, known := placeOf(v, name)
		if !known {
			return v, false
		}
		v = settled(to)
	}
	return v, true
}

// element is an element of a list that grows up to it.
func element(list reflect.Value, n int) reflect.Value {
	for list.Len() <= n {
		one := reflect.New(list.Type().Elem())
		if d, ok := one.Interface().(defaulter); ok {
			d.SetDefaults()
		}
		list.Set(reflect.Append(list, one.Elem()))
	}
	return settled(list.Index(n))
}

// settled follows pointers, and makes what they lead to.
func settled(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	return v
}

// readsItself reports whether v is read as read's first cases do.
func readsItself(v reflect.Value) bool {
	switch v.Addr().Interface().(type) {
	case encoding.TextUnmarshaler, *time.Duration:
		return true
	}
	return false
}

var (
	listers         = reflect.TypeFor[lister]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// isTable reports whether a value of type t is a table.
func isTable(t reflect.Type) bool {
	of := reflect.PointerTo(t)
	return of.Implements(listers) || t.Kind() == reflect.Struct && !of.Implements(textUnmarshaler)
}

// isList reports whether a value of type t is a list of tables.
func isList(t reflect.Type) bool { return t.Kind() == reflect.Slice && isTable(t.Elem()) }

// places are the places in a table, by their keys.
func places(v reflect.Value) map[string]reflect.Value {
	all := make(map[string]reflect.Value)
	if t, ok := v.Addr().Interface().(lister); ok {
		for name, place := range t.Places() {
			all[name] = reflect.ValueOf(place).Elem()
		}
		return all
	}
	for i := range v.NumField() {
		if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("toml"), ","); name != "" {
			all[name] = v.Field(i)
		}
	}
	return all
}

// placeOf is the place of a key, in whatever case it is written.
func placeOf(v reflect.Value, key string) (reflect.Value, bool) {
	all := places(v)
	if place, ok := all[key]; ok {
		return place, true
	}
	for name, place := range all {
		if strings.EqualFold(name, key) {
			return place, true
		}
	}
	return reflect.Value{}, false
}
