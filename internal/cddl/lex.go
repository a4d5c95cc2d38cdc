package cddl

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrSyntax says that a text is not CDDL, or not the part of it that this
// package knows.
var ErrSyntax = errors.New("CDDL not understood")

// token matches what may come next in a text; the first alternative is what is
// left out.
var token = regexp.MustCompile(`^(?:(\s+|;[^\n]*)|#6\.[0-9]+|\.\.|\.(?:size|cbor)\b|=>|-?[0-9]+|"[^"\\]*"|` +
	`[A-Za-z_](?:[-.]*[A-Za-z0-9_])*|[=/\[\]{}()<>,:*?+])`)

// tokens takes a text apart. Two texts with the same tokens say the same.
func tokens(text string) ([]string, error) {
	var list []string
	for rest := text; rest != ""; {
		m := token.FindStringSubmatch(rest)
		if m == nil {
			line := 1 + strings.Count(text[:len(text)-len(rest)], "\n")
			return nil, fmt.Errorf("%w: line %d: %.20q", ErrSyntax, line, rest)
		}
		if m[1] == "" {
			list = append(list, m[0])
		}
		rest = rest[len(m[0]):]
	}
	return list, nil
}

var name = regexp.MustCompile(`^[A-Za-z_](?:[-.]*[A-Za-z0-9_])*$`)

func isName(t string) bool { return name.MatchString(t) }
