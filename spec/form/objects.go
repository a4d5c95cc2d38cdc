package form

import (
	"strings"

	"github.com/wandertoken/wander/internal/cddl"
	"github.com/wandertoken/wander/spec"
)

// Object is something that nobody signs, and its form.
type Object struct {
	Name   string // such as "message hello"
	Number uint64 // among those of its kind
	Form   Form
}

// The words are what the CDDL does not say: which values are good, and how many of what may
// come often are drawn.
var (
	messageWords = map[string]string{
		"uint": "number", "bool": "bool", "tstr": "name 64",
		"object": "blob 1 64", "maybe-object": "blob 0 64", "configuration-part": "blob 1 1024",
		".hop": "range 1 65536", ".reason": "range 1 65536", ".topic": "range 1 4", ".before": "range 0 0", ".rest": "range 0 0",
		".versions": "array is 1 range 1 65536 end", ".from": "hex 00000000000000000000000000000000",
		"*entries": "0 4", "*parts": "0 1",
	}
	recordWords = map[string]string{
		"uint": "number", "bool": "bool", "tstr": "name 64", "bstr": "blob 0 64", ".hop": "range 1 65536", "*objects": "0 4",
	}
	updateNames = []string{"join", "leave", "failure", "revocation"}
)

// Messages are all messages, in the order of their types.
func Messages() []Object { return objects("wire.cddl", "message", messageWords) }

// Records are all records of a journal, in the order of their kinds.
func Records() []Object { return objects("journal.cddl", "record", recordWords) }

// Updates are all membership updates, in the order of their kinds.
func Updates() []Object {
	list := objects("wire.cddl", "update", messageWords)
	for i, name := range updateNames {
		list[i].Name += name
	}
	return list
}

func objects(file, rule string, words map[string]string) (list []Object) {
	text, err := spec.CDDL.ReadFile(file)
	if err != nil {
		panic(err) // it is compiled in
	}
	schema, err := cddl.Parse(string(text))
	if err != nil {
		panic(err) // the tests of spec say so first
	}
	for _, a := range schema.Alternatives(rule, words) {
		name := rule + " " + strings.TrimSuffix(a.Rule, "-message")
		list = append(list, Object{Name: name, Number: a.Number, Form: Form(a.Words)})
	}
	return list
}

// Sample draws an object.
func (o Object) Sample(s *Stream) []byte {
	item, err := o.Form.Draw(s, nil)
	if err != nil {
		panic(err) // no form above is wrong
	}
	return item.Append(nil)
}

// Seeded draws the object of a case.
func (o Object) Seeded(number uint32) []byte { return o.Sample(NewStream(o.Name, number)) }
