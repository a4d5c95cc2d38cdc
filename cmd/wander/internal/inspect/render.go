package inspect

import (
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
)

// Fields are named values in the order in which they are in the object.
type Fields []Field

// Field is one named value: text, a number, a bool, Fields, a list of these, or
// an Object.
type Field struct {
	Name  string
	Value any
}

// Object is one thing that was recognised.
type Object struct {
	What     string
	Verified string // "yes", or why not
	Fields   Fields
}

// AppendText appends the object as people read it, in lines.
func (o Object) AppendText(to []byte) []byte { return o.appendText(to, "") }

func (o Object) appendText(to []byte, indent string) []byte {
	to = append(to, o.What...)
	switch o.Verified {
	case "":
	case verifiedYes:
		to = append(to, " (verified)"...)
	default:
		to = append(append(append(to, " (not verified: "...), o.Verified...), ')')
	}
	return o.Fields.appendText(append(to, '\n'), indent+"  ")
}

func (f Fields) appendText(to []byte, indent string) []byte {
	for _, field := range f {
		to = append(append(append(to, indent...), field.Name...), ": "...)
		to = appendTextValue(to, indent, field.Value)
	}
	return to
}

func appendTextValue(to []byte, indent string, value any) []byte {
	switch v := value.(type) {
	case Object:
		return v.appendText(to, indent)
	case Fields:
		return v.appendText(append(to, '\n'), indent+"  ")
	case []any:
		return appendTextList(to, indent, v)
	case string:
		to = append(to, printable(v)...)
	case uint64:
		to = strconv.AppendUint(to, v, 10)
	case nil:
		to = append(to, "none"...)
	default:
		to = fmt.Append(to, v)
	}
	return append(to, '\n')
}

// printable quotes text that would speak to a terminal, and none.
func printable(text string) string {
	if text == "" {
		return `""`
	}
	for _, r := range text {
		if !strconv.IsPrint(r) {
			return strconv.Quote(text)
		}
	}
	return text
}

func appendTextList(to []byte, indent string, list []any) []byte {
	if len(list) == 0 {
		return append(to, "none\n"...)
	}
	to = append(to, '\n')
	for _, v := range list {
		to = append(append(to, indent...), "  - "...)
		to = appendTextValue(to, indent+"  ", v)
	}
	return to
}

// AppendJSON appends the object as one JSON object, with its fields in their order.
func (o Object) AppendJSON(to []byte) []byte {
	to = appendJSONString(append(to, `{"what":`...), o.What)
	if o.Verified != "" {
		to = appendJSONString(append(to, `,"verified":`...), o.Verified)
	}
	return append(o.Fields.appendJSON(to, true), '}')
}

// appendJSON appends the fields without the braces; another member of the object may stand before them.
func (f Fields) appendJSON(to []byte, another bool) []byte {
	for _, field := range f {
		if another {
			to = append(to, ',')
		}
		another = true
		to = appendJSONValue(append(appendJSONString(to, field.Name), ':'), field.Value)
	}
	return to
}

func appendJSONValue(to []byte, value any) []byte {
	switch v := value.(type) {
	case Object:
		return v.AppendJSON(to)
	case Fields:
		return append(v.appendJSON(append(to, '{'), false), '}')
	case []any:
		to = append(to, '[')
		for i, one := range v {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendJSONValue(to, one)
		}
		return append(to, ']')
	case string:
		return appendJSONString(to, v)
	case uint64:
		return strconv.AppendUint(to, v, 10)
	}
	text, err := json.Marshal(value) // a number, a bool, or nothing: they cannot fail
	if err != nil {
		return appendJSONString(to, err.Error())
	}
	return append(to, text...)
}

// appendJSONString leaves all but plain text to the library.
func appendJSONString(to []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, err := json.Marshal(text)
			if err != nil {
				return append(to, `""`...) // no string makes it fail
			}
			return append(to, quoted...)
		}
	}
	return append(append(append(to, '"'), text...), '"')
}

// structure turns a Go value into Fields and lists. Byte strings that are
// signed objects are opened by open.
func structure(v reflect.Value, open func([]byte) (Object, bool)) any {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return x.UTC().Format(time.RFC3339)
	case time.Duration:
		return duration.Format(x)
	case policy.Params:
		return parameters(&x)
	case group.Gate:
		return gate(x)
	case []byte:
		if o, ok := open(x); ok {
			return o
		}
		return hex.EncodeToString(x)
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		if err != nil {
			return err.Error()
		}
		return string(text)
	case fmt.Stringer:
		return x.String()
	}
	return structureKind(v, open)
}

// parameters are those of a policy that are set, under the names that the
// group's file gives them.
func parameters(params *policy.Params) Fields {
	f := Fields{{"preset", params.Preset}}
	for _, p := range policy.Parameters {
		if p.Wire(params) != 0 {
			f = append(f, Field{p.Name, p.Value(params)})
		}
	}
	return f
}

// gate is the gate of a resource, under the names that the group's file gives its settings.
func gate(g group.Gate) any {
	if g.IsZero() {
		return nil
	}
	f := Fields{{"gate", g.Member.String()}, {"gate_address", g.Address}, {"gate_mode", g.Mode.String()}}
	for _, c := range group.GateConstants {
		f = append(f, Field{c.Name, c.Value(&g)})
	}
	return f
}

func structureKind(v reflect.Value, open func([]byte) (Object, bool)) any {
	switch v.Kind() {
	case reflect.Struct:
		shown := fieldsOf(v.Type())
		f := make(Fields, len(shown))
		for i, s := range shown {
			f[i] = Field{s.name, structure(v.Field(s.at), open)}
		}
		return f
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			b := make([]byte, v.Len())
			reflect.Copy(reflect.ValueOf(b), v)
			return hex.EncodeToString(b)
		}
		list := []any{}
		for i := range v.Len() {
			list = append(list, structure(v.Index(i), open))
		}
		return list
	}
	return v.Interface()
}

// shownField is a field of a struct that is shown.
type shownField struct {
	at   int
	name string
}

// shownFields has them for each type of struct: a journal has many objects of few types.
var shownFields sync.Map // reflect.Type to []shownField

func fieldsOf(t reflect.Type) []shownField {
	if found, ok := shownFields.Load(t); ok {
		return found.([]shownField)
	}
	fields := []shownField{}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && f.Name != "Extensions" {
			fields = append(fields, shownField{i, snake(f.Name)})
		}
	}
	shownFields.Store(t, fields)
	return fields
}

// snake turns GoName into go_name.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		upper := r >= 'A' && r <= 'Z'
		if upper && i > 0 {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}
