package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/ident"
)

// heldVariable lists the resources that a command runs under, its own last, each
// as RESOURCE=GRANT, separated by commas. The grant's id keeps two groups, two
// members and two runs apart.
const heldVariable = "WANDER_HELD"

// gateFenceVariable is the number of the session at the resource's gate, where it has one.
const gateFenceVariable = "WANDER_GATE_FENCE"

// The variables of when the next turn is expected. They are not set while the member cannot tell.
const (
	returnVariable    = "WANDER_RETURN_S"
	returnP95Variable = "WANDER_RETURN_P95_S"
)

// secondsText is a number of seconds as a script reads it.
func secondsText(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }

// heldList is the value of heldVariable.
type heldList struct {
	text   string
	grants []ident.Grant
}

// readHeld reads what this process runs under itself.
func readHeld(getenv func(string) string) (heldList, error) {
	h := heldList{text: getenv(heldVariable)}
	var err error
	if h.grants, err = api.ParseHeld(h.text); err != nil {
		return h, heldError(err)
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

// childEnviron is the environment of a command that runs under a grant of the daemon at a
// socket: this process's own, what the grant says, and the socket.
func childEnviron(g api.Grant, held heldList, socket string) []string {
	if path, err := filepath.Abs(socket); err == nil {
		socket = path // the command may go elsewhere
	}
	list := append(os.Environ(),
		"WANDER_RESOURCE="+g.Resource,
		"WANDER_MEMBER="+g.Member.String(),
		"WANDER_TOKEN="+g.Token.String(),
		"WANDER_HOP="+strconv.FormatUint(g.Hop, 10),
		"WANDER_FENCE="+strconv.FormatUint(g.Fence, 10),
		"WANDER_DEADLINE="+g.Deadline.UTC().Format(time.RFC3339Nano),
		heldVariable+"="+held.with(g),
		socketVariable+"="+socket,
	)
	if g.GateFence > 0 {
		list = append(list, gateFenceVariable+"="+strconv.FormatUint(g.GateFence, 10))
	}
	if g.ReturnS != nil && g.ReturnP95S != nil {
		list = append(list, returnVariable+"="+secondsText(*g.ReturnS), returnP95Variable+"="+secondsText(*g.ReturnP95S))
	}
	return list
}
