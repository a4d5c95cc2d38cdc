package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// heldVariable lists the resources that a command runs under, its own last, each
// as RESOURCE=GRANT, separated by commas. The grant's id keeps two groups, two
// members and two runs apart.
const heldVariable = "WANDER_HELD"

// gateFenceVariable is the number of the session at the resource's gate, where it has one.
const gateFenceVariable = "WANDER_GATE_FENCE"

// heldList is the value of heldVariable.
type heldList struct {
	text   string
	grants []ident.Grant
}

// readHeld reads what this process runs under itself.
func readHeld(getenv func(string) string) (heldList, error) {
	h := heldList{text: getenv(heldVariable)}
	if h.text == "" {
		return h, nil
	}
	for entry := range strings.SplitSeq(h.text, ",") {
		resource, id, _ := strings.Cut(entry, "=")
		var g ident.Grant
		if group.CheckName(resource) != nil || g.UnmarshalText([]byte(id)) != nil {
			return h, heldError(fmt.Errorf("%q: must be RESOURCE=GRANT", cli.OneLine(entry)))
		}
		h.grants = append(h.grants, g)
	}
	if len(h.grants) > api.MaxHeld {
		return h, heldError(fmt.Errorf("%d nested runs, must be at most %d", len(h.grants), api.MaxHeld))
	}
	return h, nil
}

func heldError(err error) error {
	return cli.ConfigError(fmt.Errorf("%s: %w", heldVariable, err), "unset it: wander sets it only for the commands that it runs")
}

// with is the list for a command under another grant.
func (h heldList) with(g api.Grant) string {
	entry := g.Resource + "=" + g.ID.String()
	if h.text == "" {
		return entry
	}
	return h.text + "," + entry
}

// childEnviron is the environment of a command that runs under a grant: this
// process's own, and what the grant says.
func childEnviron(g api.Grant, held heldList) []string {
	list := append(os.Environ(),
		"WANDER_RESOURCE="+g.Resource,
		"WANDER_MEMBER="+g.Member.String(),
		"WANDER_TOKEN="+g.Token.String(),
		"WANDER_HOP="+strconv.FormatUint(g.Hop, 10),
		"WANDER_FENCE="+strconv.FormatUint(g.Fence, 10),
		"WANDER_DEADLINE="+g.Deadline.UTC().Format(time.RFC3339Nano),
		heldVariable+"="+held.with(g),
	)
	if g.GateFence > 0 {
		list = append(list, gateFenceVariable+"="+strconv.FormatUint(g.GateFence, 10))
	}
	return list
}
