package inspect

import (
	"bytes"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
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

// MarshalJSON writes the fields in their order.
func (f Fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, field := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(field.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(field.Value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// MarshalJSON writes the object as one JSON object.
func (o Object) MarshalJSON() ([]byte, error) { return o.flat().MarshalJSON() }

func (o Object) flat() Fields {
	head := Fields{{"what", o.What}}
	if o.Verified != "" {
		head = append(head, Field{"verified", o.Verified})
	}
	return append(head, o.Fields...)
}

// Text writes the object for people.
func (o Object) Text(w io.Writer) error { return o.text(w, "") }

func (o Object) text(w io.Writer, indent string) error {
	title := o.What
	switch o.Verified {
	case "":
	case verifiedYes:
		title += " (verified)"
	default:
		title += " (not verified: " + o.Verified + ")"
	}
	if _, err := fmt.Fprintf(w, "%s\n", title); err != nil {
		return err
	}
	return o.Fields.text(w, indent+"  ")
}

func (f Fields) text(w io.Writer, indent string) error {
	for _, field := range f {
		if _, err := fmt.Fprintf(w, "%s%s: ", indent, field.Name); err != nil {
			return err
		}
		if err := textValue(w, indent, field.Value); err != nil {
			return err
		}
	}
	return nil
}

func textValue(w io.Writer, indent string, value any) error {
	switch v := value.(type) {
	case Object:
		return v.text(w, indent)
	case Fields:
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		return v.text(w, indent+"  ")
	case []any:
		return textList(w, indent, v)
	case string:
		value = printable(v)
	}
	if value == nil {
		value = "none"
	}
	_, err := fmt.Fprintln(w, value)
	return err
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

func textList(w io.Writer, indent string, list []any) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "none")
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	for _, v := range list {
		if _, err := fmt.Fprintf(w, "%s  - ", indent); err != nil {
			return err
		}
		if err := textValue(w, indent+"  ", v); err != nil {
			return err
		}
	}
	return nil
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
		var f Fields
		for i := range v.NumField() {
			if t := v.Type().Field(i); t.IsExported() && t.Name != "Extensions" {
				f = append(f, Field{snake(t.Name), structure(v.Field(i), open)})
			}
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
