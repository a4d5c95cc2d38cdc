package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/groupfile"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/spec/conformance"
)

// slowChecks wait for the member's own timeouts, or for its policy: under the default
// settings for a minute and more. The test of quiet-connection has what they need.
var slowChecks = []string{
	"late-preamble", "quiet-connection", "transfer-lapsed",
	"own-offer", "own-offer-need", "other-incarnation", "retransmission", "reconnected", "unknown", "void",
}

// A node in a group that sets nothing but its resource passes.
func TestPeerConformance_DefaultSettings_Passes(t *testing.T) {
	t.Parallel() // not beside the tests that cannot: some interrupt all commands of the process
	b := newPeerBench(t, groupfile.Resource{Resource: group.Resource{
		Name: "test", Params: policy.Params{OperationTime: 2 * time.Second, MembersMax: 3},
	}.WithDefaults()}.Group())
	address, tester := b.running("subject"), b.issued("tester")
	var names []string
	for _, c := range conformance.Checks() {
		if !slices.Contains(slowChecks, c.Name) {
			names = append(names, c.Name)
		}
	}
	require.Greater(t, len(names), 60)
	out := b.must("conformance", "--peer", address, "--identity", tester,
		"--timeout", "1m", "--check", strings.Join(names, ","), "--output", "json")
	var r peerReport
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Zero(t, r.Failed)
	skipped := 3 // an expired and a revoked member, and a configuration that only the CA signs
	for _, c := range r.Checks {
		if strings.Contains(c.Detail, "P-69") { // a member takes one token of a tester that makes many
			skipped++
		}
	}
	assert.Equal(t, len(names)-skipped, r.Passed)
	assert.LessOrEqual(t, skipped, 13)
}
