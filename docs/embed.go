// Package docs has the pages that programs show.
package docs

import (
	_ "embed" // for Troubleshooting
	"strings"
)

// Troubleshooting is the page about each cause for which nothing runs.
//
//go:embed troubleshooting.md
var Troubleshooting string

// Sections are the sections of a page in Markdown, by their headings of the second level.
func Sections(page string) map[string]string {
	list := make(map[string]string)
	for _, part := range strings.Split(page, "\n## ")[1:] {
		part, _, _ = strings.Cut(part, "\n# ")
		heading, body, _ := strings.Cut(part, "\n")
		list[heading] = strings.TrimSpace(body)
	}
	return list
}
