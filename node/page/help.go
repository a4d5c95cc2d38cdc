package page

import "strings"

// sections are the sections of a page in Markdown, by their headings of the second level, each as its paragraphs.
func sections(text string) map[string][]string {
	list := make(map[string][]string)
	for _, part := range strings.Split(text, "\n## ")[1:] {
		part, _, _ = strings.Cut(part, "\n# ")
		heading, body, _ := strings.Cut(part, "\n")
		for paragraph := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
			list[heading] = append(list[heading], strings.Join(strings.Fields(paragraph), " "))
		}
	}
	return list
}
