package cddl

import (
	"errors"
	"fmt"
)

// Errors of Check.
var (
	// ErrMismatch says that an item is not of the type that the rule asks for.
	ErrMismatch = errors.New("does not match")
	// ErrNoRule says that a name is neither a rule nor a standard name.
	ErrNoRule = errors.New("no such rule")
)

// Check reports whether data is one item of the named rule, in deterministic
// encoding. The error matches ErrEncoding, ErrMismatch or ErrNoRule.
func (s *Schema) Check(name string, data []byte) error {
	item, err := Decode(data)
	if err != nil {
		return err
	}
	if s.rules[name] == nil {
		return fmt.Errorf("%w: %s", ErrNoRule, name)
	}
	return named{name: name}.match(s, item, nil)
}

func mismatch(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMismatch, fmt.Sprintf(format, args...))
}

// standard are the names that every schema knows (RFC 8610 appendix D).
var standard = map[string]func(Item) bool{
	"any":   func(Item) bool { return true },
	"uint":  func(i Item) bool { return i.Major == Uint },
	"int":   func(i Item) bool { return i.Major == Uint || i.Major == Negative },
	"bstr":  func(i Item) bool { return i.Major == Bytes },
	"tstr":  func(i Item) bool { return i.Major == Text },
	"bool":  func(i Item) bool { return i.Major == Simple && i.Arg != simpleNull },
	"true":  func(i Item) bool { return i.Major == Simple && i.Arg == simpleTrue },
	"false": func(i Item) bool { return i.Major == Simple && i.Arg == simpleFalse },
	"null":  func(i Item) bool { return i.Major == Simple && i.Arg == simpleNull },
}

func (n named) match(s *Schema, item Item, env *binding) error {
	if env != nil && n.name == env.parameter {
		return env.argument.match(s, item, env.env)
	}
	if r := s.rules[n.name]; r != nil {
		var inner *binding
		if r.parameter != "" {
			inner = &binding{parameter: r.parameter, argument: n.argument, env: env}
		}
		if (r.parameter != "") != (n.argument != nil) {
			return fmt.Errorf("%w: %s with another number of parameters", ErrNoRule, n.name)
		}
		if err := r.body.match(s, item, inner); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
		s.matched[n.name] = true
		return nil
	}
	is, known := standard[n.name]
	switch {
	case !known:
		return fmt.Errorf("%w: %s", ErrNoRule, n.name)
	case !is(item):
		return mismatch("%v is no %s", item, n.name)
	}
	return nil
}

func (c choice) match(s *Schema, item Item, env *binding) error {
	var errs []error
	for _, alternative := range c {
		err := alternative.match(s, item, env)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (l literal) match(_ *Schema, item Item, _ *binding) error {
	if l.item.Major != item.Major || l.item.Arg != item.Arg || string(l.item.Data) != string(item.Data) {
		return mismatch("%v is not %v", item, l.item)
	}
	return nil
}

func (r span) match(_ *Schema, item Item, _ *binding) error {
	if item.Major != Uint || item.Arg < r.low || item.Arg > r.high {
		return mismatch("%v is not in %d..%d", item, r.low, r.high)
	}
	return nil
}

func (t tagged) match(s *Schema, item Item, env *binding) error {
	if item.Major != Tag || item.Arg != t.number {
		return mismatch("%v has not tag %d", item, t.number)
	}
	return t.content.match(s, item.Items[0], env)
}

func (c control) match(s *Schema, item Item, env *binding) error {
	if err := c.base.match(s, item, env); err != nil {
		return err
	}
	if c.operator == ".size" {
		size := Item{Major: Uint, Arg: uint64(len(item.Data))}
		if err := c.argument.match(s, size, env); err != nil {
			return fmt.Errorf("size: %w", err)
		}
		return nil
	}
	inner, err := Decode(item.Data)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	return c.argument.match(s, inner, env)
}

func (l list) match(s *Schema, item Item, env *binding) error {
	if item.Major != Array {
		return mismatch("%v is no array", item)
	}
	return sequence(s, l.entries, item.Items, env)
}

// sequence matches elements in order, each entry as often as it can and then,
// if the rest does not fit, less often.
func sequence(s *Schema, entries []entry, items []Item, env *binding) error {
	if len(entries) == 0 {
		if len(items) > 0 {
			return mismatch("%d elements too many, the first is %v", len(items), items[0])
		}
		return nil
	}
	e := entries[0]
	var err error
	most := 0
	for most < len(items) && (e.high < 0 || most < e.high) {
		if err = e.value.match(s, items[most], env); err != nil {
			break
		}
		most++
	}
	if most < e.low {
		if err == nil {
			err = mismatch("%d elements too few", e.low-most)
		}
		return err
	}
	for n := most; n >= e.low; n-- {
		rest := sequence(s, entries[1:], items[n:], env)
		if rest == nil {
			return nil
		}
		if err == nil {
			err = rest
		}
	}
	return err
}

func (d dict) match(s *Schema, item Item, env *binding) error {
	if item.Major != Map {
		return mismatch("%v is no map", item)
	}
	taken := make([]bool, len(item.Items)/2)
	for _, e := range d.entries {
		n := 0
		for i := range taken {
			if taken[i] || e.key.match(s, item.Items[2*i], env) != nil {
				continue
			}
			if err := e.value.match(s, item.Items[2*i+1], env); err != nil {
				return fmt.Errorf("key %v: %w", item.Items[2*i], err)
			}
			taken[i] = true
			n++
		}
		if n < e.low || e.high >= 0 && n > e.high {
			return mismatch("an entry of the map comes %d times", n)
		}
	}
	for i := range taken {
		if !taken[i] {
			return mismatch("unknown key %v", item.Items[2*i])
		}
	}
	return nil
}
