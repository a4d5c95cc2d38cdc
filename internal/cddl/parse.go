package cddl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Schema is a set of rules.
type Schema struct {
	rules   map[string]*rule
	names   []string // in the order of the text
	matched map[string]bool
}

// rule is one named type.
type rule struct {
	name      string
	parameter string // of a generic rule, or empty
	tokens    []string
	body      node
}

// node is a part of a type.
type node interface {
	// match reports why an item is not of the type. env is what the parameter
	// of the generic rule stands for in which the node stands.
	match(s *Schema, item Item, env *binding) error
}

// binding is what a generic rule was given.
type binding struct {
	parameter string
	argument  node
	env       *binding // of the argument
}

// The kinds of node.
type (
	choice  []node
	literal struct{ item Item }
	span    struct{ low, high uint64 }
	named   struct {
		name     string
		argument node // of a generic rule, or nil
	}
	tagged struct {
		number  uint64
		content node
	}
	list    struct{ entries []entry }
	dict    struct{ entries []entry }
	group   struct{ dict } // matched as the map that has these entries
	control struct {
		base     node
		operator string
		argument node
	}
)

// entry is an element of an array or a map.
type entry struct {
	low, high int  // how often it comes; high < 0: no limit
	key       node // nil: none
	value     node
}

// Parse reads rules.
func Parse(text string) (*Schema, error) {
	list, err := tokens(text)
	if err != nil {
		return nil, err
	}
	s := &Schema{rules: make(map[string]*rule), matched: make(map[string]bool)}
	p := &parser{tokens: list}
	for !p.done() {
		r, err := p.rule()
		if err != nil {
			return nil, err
		}
		if s.rules[r.name] != nil {
			return nil, fmt.Errorf("%w: rule %s twice", ErrSyntax, r.name)
		}
		s.rules[r.name] = r
		s.names = append(s.names, r.name)
	}
	return s, nil
}

// Names are the rules in the order of the text.
func (s *Schema) Names() []string { return slices.Clone(s.names) }

// Tokens are the tokens of a rule, its name included; nil when there is none.
func (s *Schema) Tokens(name string) []string {
	if r := s.rules[name]; r != nil {
		return slices.Clone(r.tokens)
	}
	return nil
}

// Unmatched are the rules that no Check has met, by itself or within another.
func (s *Schema) Unmatched() []string {
	var list []string
	for _, name := range s.names {
		if !s.matched[name] {
			list = append(list, name)
		}
	}
	return list
}

// parser goes through the tokens of a text. What goes wrong is kept in err, and
// every further token is then empty.
type parser struct {
	tokens []string
	at     int
	err    error
}

func (p *parser) done() bool { return p.at >= len(p.tokens) }

// peek is the token n places ahead, or empty.
func (p *parser) peek(n int) string {
	if p.err != nil || p.at+n >= len(p.tokens) {
		return ""
	}
	return p.tokens[p.at+n]
}

func (p *parser) next() string {
	t := p.peek(0)
	p.at++
	return t
}

// take takes a token if it is the next.
func (p *parser) take(t string) bool {
	if p.peek(0) != t {
		return false
	}
	p.at++
	return true
}

func (p *parser) want(t string) {
	if got := p.next(); got != t {
		p.fail("%q where %q is expected", got, t)
	}
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: %s", ErrSyntax, fmt.Sprintf(format, args...))
	}
}

func (p *parser) rule() (*rule, error) {
	start := p.at
	r := &rule{name: p.next()}
	if !isName(r.name) {
		p.fail("%q where a rule is expected", r.name)
	}
	if p.take("<") {
		r.parameter = p.next()
		p.want(">")
	}
	p.want("=")
	r.body = p.choice()
	if p.err != nil {
		return nil, fmt.Errorf("rule %s: %w", r.name, p.err)
	}
	r.tokens = p.tokens[start:p.at]
	return r, nil
}

// choice reads a type: alternatives with / between.
func (p *parser) choice() node {
	c := choice{p.limited()}
	for p.take("/") {
		c = append(c, p.limited())
	}
	if len(c) == 1 {
		return c[0]
	}
	return c
}

// limited reads a type with a control or as a range.
func (p *parser) limited() node {
	base := p.simple()
	switch p.peek(0) {
	case "..":
		p.next()
		low, isLow := base.(literal)
		high, isHigh := p.simple().(literal)
		if !isLow || !isHigh || low.item.Major != Uint || high.item.Major != Uint {
			p.fail("a range that is not of two numbers")
			return base
		}
		return span{low.item.Arg, high.item.Arg}
	case ".size", ".cbor":
		return control{base: base, operator: p.next(), argument: p.simple()}
	}
	return base
}

// simple reads a type without anything behind it.
func (p *parser) simple() node {
	t := p.next()
	switch {
	case t == "(":
		return p.parenthesis()
	case t == "[":
		return list{p.entries("]")}
	case t == "{":
		return p.dict()
	case strings.HasPrefix(t, "#6."):
		n, err := strconv.ParseUint(t[len("#6."):], 10, 64)
		if err != nil {
			p.fail("tag %q", t)
		}
		p.want("(")
		content := p.choice()
		p.want(")")
		return tagged{n, content}
	case isName(t):
		return p.reference(t)
	}
	return p.value(t)
}

// parenthesis reads a type in parentheses, or the entries of a group.
func (p *parser) parenthesis() node {
	entries := p.entries(")")
	if len(entries) == 1 && entries[0].key == nil {
		return entries[0].value
	}
	for _, e := range entries {
		if e.key == nil {
			p.fail("a group entry without a key")
		}
	}
	return group{dict{entries}}
}

// dict reads the entries of a map, every one of which has a key.
func (p *parser) dict() node {
	d := dict{p.entries("}")}
	for _, e := range d.entries {
		if e.key == nil {
			p.fail("a map entry without a key")
		}
	}
	return d
}

// reference reads what may follow the name of a rule.
func (p *parser) reference(t string) node {
	n := named{name: t}
	if p.take("<") {
		n.argument = p.choice()
		p.want(">")
	}
	return n
}

// value reads a number or a text.
func (p *parser) value(t string) node {
	if text, ok := strings.CutPrefix(t, `"`); ok {
		return literal{Item{Major: Text, Data: []byte(strings.TrimSuffix(text, `"`))}}
	}
	n, err := strconv.ParseInt(t, 10, 64)
	switch {
	case err != nil:
		p.fail("%q where a type is expected", t)
		return literal{}
	case n < 0:
		return literal{Item{Major: Negative, Arg: uint64(-1 - n)}}
	}
	return literal{Item{Major: Uint, Arg: uint64(n)}}
}

// entries reads the elements of an array or map up to its end.
func (p *parser) entries(end string) []entry {
	var list []entry
	for !p.take(end) {
		if p.done() || p.err != nil {
			p.fail("no %q", end)
			return nil
		}
		list = append(list, p.entry())
		p.take(",")
	}
	return list
}

func (p *parser) entry() entry {
	e := entry{low: 1, high: 1}
	p.occurrence(&e)
	if p.peek(1) == ":" {
		key := p.next()
		p.next()
		e.key = literal{Item{Major: Text, Data: []byte(key)}}
		if !isName(key) {
			e.key = p.value(key)
		}
		e.value = p.choice()
		return e
	}
	e.value = p.choice()
	if p.take("=>") {
		e.key, e.value = e.value, p.choice()
	}
	return e
}

// occurrence reads how often an element comes.
func (p *parser) occurrence(e *entry) {
	switch {
	case p.take("?"):
		e.low = 0
	case p.take("+"):
		e.high = -1
	case p.peek(0) == "*" || p.peek(1) == "*":
		e.low = 0
		if p.peek(0) != "*" {
			e.low = p.count()
		}
		p.want("*")
		e.high = -1
		if isCount(p.peek(0)) && p.peek(1) != ":" {
			e.high = p.count()
		}
	}
}

func isCount(t string) bool {
	_, err := strconv.ParseUint(t, 10, 31)
	return err == nil
}

func (p *parser) count() int {
	t := p.next()
	n, err := strconv.ParseUint(t, 10, 31)
	if err != nil {
		p.fail("%q where a number is expected", t)
	}
	return int(n)
}
