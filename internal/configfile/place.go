package configfile

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// entry is a value or the head of a table, where it is in the text.
type entry struct {
	path []any         // names of keys, and numbers in lists
	kind unstable.Kind // of the value; Table or ArrayTable
	at   int           // offset of the value, of a table that of its name
	key  int           // offset of the name, of an element that of its list's
	data string        // a value as it is written, text without its quotes
}

// At is the error about a value that was read and then found wrong. The path
// is made of the names of keys and, in lists, numbers from 0. Where the file
// has nothing there, the place is that of the table that should have it.
func At(file string, text []byte, problem string, path ...any) *Error {
	e := &Error{File: file, Problem: problem}
	all := entries(text)
	for ; len(path) > 0; path = path[:len(path)-1] {
		for _, found := range all {
			if slices.Equal(found.path, path) {
				e.Line, e.Column = position(text, found.at)
				return e
			}
		}
	}
	return e
}

// Names are the names of the keys that are set in the table at the path.
func Names(text []byte, path ...any) (names []string) {
	for _, found := range entries(text) {
		last := len(found.path) - 1
		if !slices.Equal(found.path[:last], path) {
			continue
		}
		if name, ok := found.path[last].(string); ok {
			names = append(names, name)
		}
	}
	return names
}

func position(text []byte, offset int) (line, column int) {
	before := text[:offset]
	return 1 + bytes.Count(before, []byte{'\n'}), offset - bytes.LastIndexByte(before, '\n')
}

// reader walks through a text.
type reader struct {
	text   []byte
	parser unstable.Parser
	tables map[string]int // how often there was [[name]]
	found  []entry
}

// entries are all values and tables, up to the first fault of syntax.
func entries(text []byte) []entry {
	r := reader{text: text, tables: map[string]int{}}
	r.parser.Reset(text)
	var table []any
	for r.parser.NextExpression() {
		e := r.parser.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = r.table(e)
		case unstable.KeyValue:
			r.keyValue(table, e)
		}
	}
	return r.found
}

// table is the path that a head of a table begins.
func (r *reader) table(e *unstable.Node) []any {
	var path []any
	at := 0
	for key := e.Key(); key.Next(); {
		if at == 0 {
			at = int(key.Node().Raw.Offset)
		}
		path = append(path, string(key.Node().Data))
		name := fmt.Sprintf("%q", path)
		if e.Kind == unstable.ArrayTable && key.IsLast() {
			r.tables[name]++
		}
		if n := r.tables[name]; n > 0 {
			path = append(path, n-1)
		}
	}
	r.found = append(r.found, entry{path: path, kind: e.Kind, at: at, key: at})
	return path
}

func (r *reader) keyValue(table []any, e *unstable.Node) {
	path := append([]any(nil), table...)
	end, begin := 0, -1
	for key := e.Key(); key.Next(); {
		if begin < 0 {
			begin = int(key.Node().Raw.Offset)
		}
		path = append(path, string(key.Node().Data))
		end = int(key.Node().Raw.Offset + key.Node().Raw.Length)
	}
	end += bytes.IndexByte(r.text[end:], '=') + 1
	end += len(r.text[end:]) - len(bytes.TrimLeft(r.text[end:], " \t"))
	r.value(path, e.Value(), end, begin)
}

// value notes a value and what is in it. Lists and tables do not know where
// they begin.
func (r *reader) value(path []any, v *unstable.Node, at, key int) {
	if v.Raw.Length > 0 && v.Kind != unstable.Array && v.Kind != unstable.InlineTable {
		at = int(v.Raw.Offset)
	}
	r.found = append(r.found, entry{path: path, kind: v.Kind, at: at, key: key, data: string(v.Data)})
	switch v.Kind {
	case unstable.Array:
		children := v.Children()
		for i := 0; children.Next(); i++ {
			r.value(append(path[:len(path):len(path)], i), children.Node(), at, key)
		}
	case unstable.InlineTable:
		for children := v.Children(); children.Next(); {
			r.keyValue(path, children.Node())
		}
	}
}
