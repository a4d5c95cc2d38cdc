package node

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/hooks"
	"github.com/wandertoken/wander/node/metrics"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
)

// What a member writes down of broken rules is an event.
func TestHooks_RecordOfEvidence_Told(t *testing.T) {
	seen := make(chan hooks.Event, 2)
	run := func(_ context.Context, e hooks.Event) hooks.Outcome {
		seen <- e
		return hooks.OK
	}
	now := func() time.Time { return time.Unix(7, 0) }
	n := &teller{hooks: hooks.New(map[hooks.Kind]hooks.Run{hooks.Evidence: run, hooks.Duplicate: run}, now, (*metrics.Metrics)(nil))}
	defer n.hooks.Close(0)
	n.recorded(&journal.Dropped{Token: ident.Token{3}, Hop: 4, Reason: uint64(policy.Overflow)}) // as the policy wants it
	n.recorded(&journal.Evidence{What: "void and receipt", Accused: ident.Member{5}})
	assert.Equal(t, hooks.Event{Kind: hooks.Evidence, At: now(), Reason: "void and receipt", About: ident.Member{5}}, await.Next(t, "the event", seen))
	assert.Empty(t, seen)
}
