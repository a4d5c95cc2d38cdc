package main

import (
	"fmt"

	"github.com/wandertoken/wander/internal/cddl"
	"github.com/wandertoken/wander/spec/vector"
)

// suite collects the vectors.
type suite struct {
	files   map[string]*vector.File
	schemas map[string]*cddl.Schema // by the CDDL file
	seen    map[string]bool         // names
}

// fault is one way in which an input can be wrong, or right: a vector before it
// knows what it is an input of.
type fault struct {
	slug, about string
	req         string // the requirement that it breaks or keeps
	outcome     string
	cause       string
	class       string // ClassInvalid if empty
}

// ok is a fault that is none.
func ok(slug, about, req string) fault {
	return fault{slug: slug, about: about, req: req, outcome: vector.Valid, class: vector.ClassValid}
}

// malicious is a fault of somebody who means harm.
func (f fault) malicious() fault {
	f.class = vector.ClassMalicious
	return f
}

func newSuite() *suite {
	return &suite{files: make(map[string]*vector.File), schemas: schemas(), seen: make(map[string]bool)}
}

// open begins a file.
func (s *suite) open(file, about string) {
	if s.files[file] == nil {
		s.files[file] = &vector.File{V: vector.Version, About: about}
	}
}

// vector is a vector of an object; the caller adds what explains it.
func (s *suite) vector(object, rule string, f fault, input []byte) vector.Vector {
	class := f.class
	if class == "" {
		class = vector.ClassInvalid
	}
	v := vector.Vector{
		Name: object + "/" + f.slug, Description: f.about, Requirements: []string{f.req}, Class: class,
		Object: object, Rule: rule, Outcome: f.outcome, Cause: f.cause, Input: input,
	}
	if rule != "" {
		v.Shape = matches(s.schemas, rule, input)
	}
	return v
}

// add takes in a vector.
func (s *suite) add(file string, v vector.Vector) {
	if s.seen[v.Name] {
		panic(fmt.Sprintf("two vectors are called %s", v.Name))
	}
	s.seen[v.Name] = true
	s.files[file].Vectors = append(s.files[file].Vectors, v)
}
