package main

import (
	"os"
	"strconv"
	"time"

	"github.com/wandertoken/wander/node/api"
)

// childEnviron is the environment of a command that runs under a grant: this
// process's own, and what the grant says.
func childEnviron(g api.Grant) []string {
	return append(os.Environ(),
		"WANDER_RESOURCE="+g.Resource,
		"WANDER_MEMBER="+g.Member.String(),
		"WANDER_TOKEN="+g.Token.String(),
		"WANDER_HOP="+strconv.FormatUint(g.Hop, 10),
		"WANDER_FENCE="+strconv.FormatUint(g.Fence, 10),
		"WANDER_DEADLINE="+g.Deadline.UTC().Format(time.RFC3339Nano),
	)
}
