package cddl

import (
	"fmt"
	"strings"
)

// Alternative is one of the arrays that a rule may be.
type Alternative struct {
	Number uint64 // its first element
	Rule   string // of its last element, where that has no key
	Words  string // the whole in the words of a form (package spec/form)
}

// Alternatives are the arrays that a rule chooses from by their first element. words say
// of a rule, a standard name or, behind a dot, of a field what stands for it instead of its
// shape, and behind a star how many elements of a field there are: what the shape does not
// say.
func (s *Schema) Alternatives(name string, words map[string]string) (all []Alternative) {
	w := writer{s, words}
	for _, n := range s.rules[name].body.(choice) {
		entries := n.(list).entries
		a := Alternative{Number: entries[0].value.(literal).item.Arg, Words: w.node(n)}
		if last := entries[len(entries)-1]; last.key == nil {
			a.Rule = last.value.(named).name
		}
		all = append(all, a)
	}
	return all
}

// writer writes types as words.
type writer struct {
	s     *Schema
	words map[string]string
}

func (w writer) node(n node) string {
	switch n := n.(type) {
	case named:
		if word := w.words[n.name]; word != "" {
			return word
		}
		return w.node(w.s.rules[n.name].body)
	case literal:
		return fmt.Sprintf("is %d", n.item.Arg)
	case span:
		return fmt.Sprintf("range %d %d", n.low, n.high)
	case choice: // of something and null
		return "maybe " + w.node(n[0])
	case control:
		if size, is := n.argument.(literal); is {
			return fmt.Sprintf("bytes %d", size.item.Arg)
		}
		size := n.argument.(span)
		if n.base.(named).name == "tstr" {
			return fmt.Sprintf("name %d", size.high)
		}
		return fmt.Sprintf("blob %d %d", size.low, size.high)
	case list:
		parts := []string{"array"}
		for _, e := range n.entries {
			parts = append(parts, w.entry(e))
		}
		return strings.Join(append(parts, "end"), " ")
	}
	panic(fmt.Sprintf("no words for %T", n))
}

func (w writer) entry(e entry) string {
	var key string
	if e.key != nil {
		key = string(e.key.(literal).item.Data)
	}
	if word := w.words["."+key]; word != "" {
		return word
	}
	many, is := e.value.(list)
	if !is || len(many.entries) != 1 {
		return w.node(e.value)
	}
	of := many.entries[0]
	count := fmt.Sprintf("%d %d", of.low, of.high)
	if word := w.words["*"+key]; word != "" {
		count = word
	}
	return "list " + count + " " + w.node(of.value)
}
