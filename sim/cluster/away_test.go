package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/ring"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// restartTimes are those of a group whose programs are restarts of their machines.
var restartTimes = busyTimes{
	name: "restarts", operation: 2 * time.Second, hold: 5 * time.Minute, skip: 100 * time.Millisecond, gossip: 5 * time.Second,
	interval: 100 * time.Millisecond, shortest: 2 * time.Minute, longest: 3 * time.Minute,
}

// TestAway_HolderReboots_NobodyElseRuns: the machine of a holder loses power under its grant, for longer than others wait for a
// silent holder, and comes back; or it never does. All others want the resource. No other program begins before the grant's end, also where the group
// replaces the token of a silent holder, and where the keeper that it told first dies meanwhile. What runs is judged by the simulator, and
// afterwards by the audit of all journals.
func TestAway_HolderReboots_NobodyElseRuns(t *testing.T) {
	skipUnderRaceDetector(t)
	presets := []busyPolicy{{catalog.Wandering, wandering.Fair}, {catalog.Wandering, wandering.Light}, {catalog.Ring, ring.E.String()}}
	for i, p := range presets {
		for j, set := range []policy.SilentHolder{policy.Replace, policy.WaitForProgram} {
			for k, fault := range []string{"reboot", "reboot, and a keeper dies", "two reboots", "never back"} {
				if whole.Spares(i+j+k, 4) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v/%s", p.preset, set, fault), func(t *testing.T) {
					times := restartTimes
					times.onSilent = set
					setting := busySetting(uint64(1+i), 5, p, times)
					setting.lean = false // an audit wants what members know of the group
					b := newBusyOf(t, setting, 5, times, 0)
					for _, n := range b.nodes {
						n.across = true
					}
					b.runFor(10 * time.Second)
					b.want(b.nodes, 0)
					rebootHolder(t, b, fault)
					b.runFor(20 * time.Minute)
					assert.Zero(t, b.walk.together, "programs that began while another one ran")
					judge := judges{b.cluster}
					judge.journals(judge.examine())
					judge.account()
					assert.Empty(t, b.violations)
					assert.GreaterOrEqual(t, len(b.turns), 4, "others have their turns")
					if fault != "never back" {
						assert.Equal(t, 1, b.made, "tokens made")
					}
				})
			}
		}
	}
}

// TestAway_Gate_NobodyElseRuns: the same before a gate. The session of the holder ends with its connection, which it may lose before its machine goes down. No session opens before
// the close of the last one, and nobody else has one before the grant's end.
func TestAway_Gate_NobodyElseRuns(t *testing.T) {
	skipUnderRaceDetector(t)
	for i, p := range []busyPolicy{{catalog.Wandering, wandering.Fair}, {catalog.Wandering, wandering.Light}, {catalog.Ring, ring.E.String()}} {
		for j, fault := range []string{"reboot", "gate", "two reboots"} {
			if whole.Spares(i+j, 3) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", p.preset, fault), func(t *testing.T) {
				times := restartTimes
				times.onSilent = policy.Replace
				set := busySetting(uint64(1+i), 5, p, times)
				gated(&set.resources[0])
				b := newBusyGroup(t, set, times)
				for i := range 5 {
					b.add(b.ca.enrol(b.now), memberSetting{durable: true, found: i == 0, driving: grouped})
				}
				b.start()
				for _, n := range b.nodes {
					n.across = true
				}
				b.runFor(10 * time.Second)
				b.want(b.nodes, 0)
				if fault == "gate" {
					for until := b.now + time.Minute; b.holder() == nil && b.now < until; {
						b.runFor(100 * time.Millisecond)
					}
					n := b.holder()
					require.NotNil(t, n)
					b.gates[0].breaks(n)
					b.runFor(10 * time.Second)
					require.True(t, n == b.holder(), "it holds yet")
				}
				rebootHolder(t, b, fault)
				b.runFor(20 * time.Minute)
				assert.Zero(t, b.walk.together, "programs that began while another one ran")
				assert.Empty(t, b.violations)
				assert.GreaterOrEqual(t, len(b.turns), 4, "others have their turns")
				assert.Equal(t, 1, b.made, "tokens made")
				t.Log(b.gates[0])
			})
		}
	}
}

// rebootHolder restarts the machine of the first holder while its program runs.
func rebootHolder(t *testing.T, b *busy, fault string) {
	t.Helper()
	for until := b.now + time.Minute; b.holder() == nil && b.now < until; {
		b.runFor(100 * time.Millisecond)
	}
	n := b.holder()
	require.NotNil(t, n)
	b.runFor(time.Second)
	n.losesPower()
	b.runFor(15 * time.Second)
	if fault == "reboot, and a keeper dies" {
		for _, m := range b.nodes {
			if m != n && m.member != nil {
				m.losesPower()
				break
			}
		}
	}
	b.runFor(45 * time.Second)
	if fault == "never back" {
		return
	}
	n.start(false)
	n.meetSomebody()
	if fault == "two reboots" {
		b.runFor(5 * time.Second)
		n.losesPower()
		b.runFor(20 * time.Second)
		n.start(false)
		n.meetSomebody()
	}
	require.True(t, n == b.holder(), "it holds yet")
}

// losesPower stops a machine. Its clock begins anew with its next start.
func (n *node) losesPower() {
	n.discard(true)
	n.end(silent)
	n.c.killPrograms(n)
	n.boot()
}
