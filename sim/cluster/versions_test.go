package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/ring"
)

// versionTimes are the settings of groups whose configuration changes all the time.
var versionTimes = busyTimes{
	name: "versions", operation: 300 * time.Millisecond, hold: 300 * time.Millisecond, interval: 50 * time.Millisecond,
	skip: 100 * time.Millisecond, gossip: time.Second, shortest: 100 * time.Millisecond, longest: 300 * time.Millisecond,
}

// TestVersions_ChangedDuringRequests_NobodyForgotten: members of different configuration
// versions drop each other's POLICY messages. With a new version every three seconds
// requests get lost that way. They come again: nobody waits for longer than a lost
// message delays it, nobody makes a second token, and no two programs run at once.
func TestVersions_ChangedDuringRequests_NobodyForgotten(t *testing.T) {
	skipUnderRaceDetector(t)
	const members, changes = 5, 30
	round := members * (versionTimes.operation + versionTimes.skip)
	dropped := uint64(0)
	for _, p := range []busyPolicy{
		fairTurns, lightTurns, ringTurns, {catalog.Ring, ring.D.String()}, {catalog.Ring, ring.Q.String()}, {catalog.Ring, ring.S.String()},
	} {
		limit := 3 * round // one to know that the message is lost, one until the turn, one for a token that is passed meanwhile
		if p == lightTurns {
			limit = 6 * round // it draws at random: 4 rounds without a change
		}
		for _, pause := range []time.Duration{0, 3 * time.Second} {
			t.Run(fmt.Sprintf("%s %s/%v", p.policy, p.preset, pause), func(t *testing.T) {
				b := newBusy(t, 1, members, p, versionTimes)
				b.net.delay = 50 * time.Millisecond
				b.runFor(10 * time.Second)
				b.want(b.nodes, pause)
				longest := time.Duration(0)
				for range changes {
					newVersion(t, b)
					for range 30 {
						b.runFor(100 * time.Millisecond)
						for _, at := range b.since {
							longest = max(longest, b.now-at)
						}
					}
				}
				assert.LessOrEqual(t, longest, limit)
				assert.Equal(t, 1, b.made, "tokens made")
				assert.Zero(t, b.walk.together, "operations that began while another one ran")
				assert.Empty(t, b.violations)
				for _, n := range b.nodes {
					dropped += n.member.Status().Rejected["policy mismatch"]
				}
			})
		}
	}
	assert.Greater(t, dropped, uint64(100), "messages between versions")
}

// newVersion gives one member the configuration with another version, and whatever of it
// was changed.
func newVersion(t *testing.T, b *busy) {
	t.Helper()
	config, err := b.ca.configure(b.resources, b.constants)
	require.NoError(t, err)
	b.nodes[b.rng.IntN(len(b.nodes))].put(member.Learn{Configuration: config.Raw()})
}

// TestVersions_LongProgram_OneToken: the same while a program runs for longer than the
// others would wait for a lost token, also where the new version has other parameters, so
// that each member's policy begins anew.
func TestVersions_LongProgram_OneToken(t *testing.T) {
	skipUnderRaceDetector(t)
	for _, alg := range []ring.Algorithm{ring.E, ring.D, ring.Q, ring.S} {
		for _, parameters := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/%v", alg, parameters), func(t *testing.T) {
				b := newBusy(t, 1, 5, busyPolicy{catalog.Ring, alg.String()}, longTimes)
				b.runFor(10 * time.Second)
				b.want(b.nodes, 0)
				for range 30 {
					if b.runFor(20 * time.Second); parameters {
						b.runFor(time.Minute) // or all would begin to wait anew each time
						b.resources[0].SkipDelay += time.Millisecond
					}
					newVersion(t, b)
				}
				assert.Equal(t, 1, b.made, "tokens made")
				assert.Zero(t, b.walk.together, "operations that began while another one ran")
				assert.Empty(t, b.violations)
				assert.GreaterOrEqual(t, len(b.turns), 2)
			})
		}
	}
}
