package api

import (
	"fmt"
	"strings"

	"github.com/wandertoken/wander/protocol/ident"
)

// ParseHeld reads what a program runs under: a list of RESOURCE=GRANT with commas, as `wander run` gives it to its command
// (WANDER_HELD). The empty text is no grant. AcquireRequest.Held takes the result.
func ParseHeld(text string) (grants []ident.Grant, err error) {
	if text == "" {
		return nil, nil
	}
	for entry := range strings.SplitSeq(text, ",") {
		resource, id, _ := strings.Cut(entry, "=")
		var g ident.Grant
		if resource == "" || len(resource) > maxResource || g.UnmarshalText([]byte(id)) != nil {
			return nil, fmt.Errorf("%.80q: must be RESOURCE=GRANT", entry)
		}
		grants = append(grants, g)
	}
	if len(grants) > MaxHeld {
		return nil, fmt.Errorf("%d nested runs, must be at most %d", len(grants), MaxHeld)
	}
	return grants, nil
}
