package main

import (
	"fmt"
	"strings"

	"github.com/wandertoken/wander/internal/cddl"
	"github.com/wandertoken/wander/spec"
	"github.com/wandertoken/wander/spec/vector"
)

// enrolmentRules are the messages of enrolment.cddl, which travel in
// enrolment<…>: the rule travelling-x is that of x as it travels.
var enrolmentRules = []string{
	"enrol-request", "enrol-answer", "renew-answer", "sync-request", "sync-answer", "leave-request", "evidence-request", "refusal",
}

// schemas are the CDDL files by their names.
func schemas() map[string]*cddl.Schema {
	all := make(map[string]*cddl.Schema)
	for _, file := range []string{"wire.cddl", "journal.cddl", "enrolment.cddl"} {
		raw, err := spec.CDDL.ReadFile(file)
		if err != nil {
			panic(err) // it is compiled in
		}
		var b strings.Builder
		b.Write(raw)
		if file == "enrolment.cddl" {
			for _, name := range enrolmentRules {
				fmt.Fprintf(&b, "travelling-%s = enrolment<%s>\n", name, name)
			}
		}
		if all[file], err = cddl.Parse(b.String()); err != nil {
			panic(fmt.Sprintf("%s: %v", file, err)) // the tests of spec say so first
		}
	}
	return all
}

// matches reports whether an input has the shape of a vector's rule.
func matches(schemas map[string]*cddl.Schema, rule string, input []byte) bool {
	file, name := vector.RuleOf(rule)
	return schemas[file].Check(name, input) == nil
}
