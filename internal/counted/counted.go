// Package counted writes how many things there are, as people read it: "1 member",
// "2 members", "3 losses".
package counted

import (
	"fmt"
	"strings"
)

// Of is a number and its noun, which is given in the singular.
func Of[N ~int | ~int64 | ~uint32 | ~uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %s", n, plural(noun))
}

// plural is regular English.
func plural(noun string) string {
	for _, ending := range []string{"s", "sh", "ch", "x"} {
		if strings.HasSuffix(noun, ending) {
			return noun + "es"
		}
	}
	return noun + "s"
}
