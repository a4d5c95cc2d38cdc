package main

import (
	"regexp"

	"github.com/wandertoken/wander/docs"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
)

// link is a link in Markdown. A terminal shows its text alone.
var link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// causeHelp is what the page says of a cause, as `wander status` names it.
func causeHelp(word string) (text string, known bool) {
	text, known = docs.Sections(docs.Troubleshooting)[word]
	if !known {
		return "", false
	}
	return word + "\n\n" + link.ReplaceAllString(text, "$1") + "\n\n(" + explain.Section(api.Cause(word)) + ")\n", true
}
