package page

import (
	"strings"

	"github.com/wandertoken/wander/docs"
)

// sections are the sections of a page in Markdown, by their headings of the second level, each as its paragraphs.
func sections(text string) map[string][]string {
	list := make(map[string][]string)
	for heading, body := range docs.Sections(text) {
		for paragraph := range strings.SplitSeq(body, "\n\n") {
			list[heading] = append(list[heading], strings.Join(strings.Fields(paragraph), " "))
		}
	}
	return list
}
