package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/window"
	"github.com/wandertoken/wander/sim/plan"
)

// openTimes are the windows of a simulated resource, by the clock of a member: two of four minutes.
var openTimes = []struct{ from, to time.Duration }{{2 * time.Minute, 6 * time.Minute}, {10 * time.Minute, 14 * time.Minute}}

// windows are the same as the configuration has them.
func windows() (list window.Windows) {
	for _, o := range openTimes {
		list = append(list, window.Window{
			Days: 1 << ((int(epoch.Weekday()) + 6) % 7), Begin: int(o.from / time.Minute), End: int(o.to / time.Minute), Name: "UTC",
		})
	}
	return list
}

// TestWindows_Gate_NobodyInOutside: the same before a gate, whose clock is right. No session begins outside the windows by that clock, whatever the clocks of members say, and
// a member whose clock is ahead does not knock with each token that comes.
func TestWindows_Gate_NobodyInOutside(t *testing.T) {
	skipUnderRaceDetector(t)
	for i, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
		if whole.Spares(i, 3) {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			s := busySetting(uint64(7+i), 6, p, briskTimes)
			s.resources[0].Windows = windows()
			gated(&s.resources[0])
			g := makeBadOf(t, s, 6, briskTimes, nil, 0, 2*time.Minute, -time.Minute)
			g.start()
			g.want(g.nodes, 0)
			g.runFor(15 * time.Minute)
			h, ran := g.gates[0], make(map[*node]int)
			for _, turn := range g.turns {
				ran[g.find(turn.member)]++
			}
			for _, at := range h.opens {
				in := func(from, to time.Duration) bool { return from <= at && at < to }
				assert.True(t, in(openTimes[0].from, openTimes[0].to) || in(openTimes[1].from, openTimes[1].to), "a session at %v", at)
			}
			for _, n := range g.nodes {
				assert.GreaterOrEqual(t, ran[n], 2, "%s", n.name)
			}
			// Twice two members are ahead for two minutes. Each knocks once a minute in each of these, and once as a window closes.
			assert.Positive(t, h.refused)
			assert.LessOrEqual(t, h.refused, 2*2*4)
			judge := judges{g.cluster}
			for _, n := range g.nodes {
				judge.complaints(n)
			}
			assert.Zero(t, g.accused)
			assert.Empty(t, g.violations)
			t.Logf("%d turns, %d refused, %d tokens made", len(g.turns), h.refused, g.made)
		})
	}
}

// TestWindows_OpenAndClose_NobodyStruck: P-91 to P-93. All members of a group want turns all the time, so that all want the token at
// once when a window opens, and none when it closes. No program runs outside the window by its member's clock, all have turns, and no
// honest member strikes or accuses another one: neither with clocks that differ, nor beside one that keeps tokens.
func TestWindows_OpenAndClose_NobodyStruck(t *testing.T) {
	skipUnderRaceDetector(t)
	large := whole.Part(16, 100)
	for j, test := range []struct {
		name    string
		members int
		kinds   []string
		skews   []time.Duration
	}{
		{"large", large, nil, []time.Duration{0, 2 * time.Second, -2 * time.Second}},
		{"large-hoarder", large, []string{"hoarder"}, []time.Duration{0, time.Second}},
		{"minutes-apart", 6, nil, []time.Duration{0, 2 * time.Minute, -time.Minute}},
		{"one-after-the-other", 6, []string{"hoarder"}, []time.Duration{0, 0, 5 * time.Minute}},
	} {
		for i, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
			if whole.Spares(i+j, 3) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%v", test.name, p), func(t *testing.T) {
				t.Parallel()
				s := busySetting(uint64(7+i), test.members, p, briskTimes)
				s.resources[0].Windows = windows()
				g := makeBadOf(t, s, test.members, briskTimes, test.kinds, test.skews...)
				g.start()
				g.want(g.nodes, 0)
				g.runFor(15 * time.Minute)
				ran := make(map[*node]int)
				for _, turn := range g.turns {
					n := g.find(turn.member)
					clock := turn.at + n.skew
					in := func(from, to time.Duration) bool { return from <= clock && clock+briskTimes.operation <= to }
					assert.True(t, !n.isHonest() || in(openTimes[0].from, openTimes[0].to) || in(openTimes[1].from, openTimes[1].to), "a turn at %v of its clock", clock)
					ran[n]++
				}
				for _, n := range g.nodes {
					if n.isHonest() {
						assert.GreaterOrEqual(t, ran[n], 2, "%s", n.name)
					}
				}
				judge := judges{g.cluster}
				for _, n := range g.nodes {
					judge.complaints(n)
				}
				assert.Zero(t, g.accused)
				assert.Empty(t, g.violations)
				t.Logf("%d turns, %d tokens made", len(g.turns), g.made)
			})
		}
	}
}

// openUntil is for how long the windows were open until a moment of the clock.
func openUntil(at time.Duration) (open time.Duration) {
	for _, o := range openTimes {
		open += max(0, min(at, o.to)-o.from)
	}
	return open
}

// TestWindows_SameGroup_AsPlanned: whole members run as many operations while a window is open, and wait for each other as long, as
// sim/plan predicts for the same group: if they want to run all the time, and if they do once in a while.
func TestWindows_SameGroup_AsPlanned(t *testing.T) {
	skipUnderRaceDetector(t)
	times := busyTimes{
		operation: 2 * time.Second, hold: 4 * time.Second, interval: 100 * time.Millisecond, skip: 100 * time.Millisecond,
		gossip: 5 * time.Second, shortest: 2 * time.Second, longest: 2*time.Second + 1, delay: time.Millisecond,
	}
	const members = 6
	runs := whole.Part(6, 16) // fewer than 200 turns are 15 % off by chance now and then
	for _, test := range []struct {
		pause             time.Duration
		operations, waits float64 // how far apart they may be, relatively
	}{
		{pause: 0, operations: 0.02, waits: 0.05},
		{pause: time.Minute, operations: 0.15, waits: 0.35}, // of 200 operations
	} {
		t.Run(test.pause.String(), func(t *testing.T) {
			var r group.Resource
			var latency, waited time.Duration
			turns := 0
			for seed := range uint64(runs) {
				s := busySetting(7+seed, members, fairTurns, times)
				s.resources[0].Windows = windows()
				r, latency = s.resources[0], s.net.delay+s.net.jitter
				b := newBusyGroup(t, s, times)
				for i := range members {
					b.add(b.ca.enrol(b.now), memberSetting{durable: true, found: i == 0, driving: grouped})
				}
				saw := b.watch
				b.watch = func(m Moment) {
					if m.Deed == Granted {
						waited += openUntil(b.now) - openUntil(b.since[m.Member])
					}
					saw(m)
				}
				b.start()
				b.want(b.nodes, test.pause)
				b.runFor(15 * time.Minute)
				assert.Empty(t, b.violations)
				turns += len(b.turns)
			}
			p, err := plan.Make(t.Context(), plan.Request{
				Policy: r.Policy, Params: r.PolicyParams(), Members: members, Windows: r.Windows, Begin: epoch, Every: test.pause, Latency: latency,
				First: 1, Seeds: 2, Events: uint64(whole.Part(15_000_000, 60_000_000)),
			}, func(float64) {})
			require.NoError(t, err)
			operations := float64(turns) / (float64(runs) * openUntil(time.Hour).Hours())
			wait := waited.Seconds() / float64(turns)
			t.Logf("%d turns: %.0f in each open hour, planned %.0f; %.2f s of waiting while open, planned %.2f s", turns, operations, p.Hours.Operations, wait, p.Hours.Wait.Mean)
			assert.InEpsilon(t, p.Hours.Operations, operations, test.operations)
			assert.InEpsilon(t, p.Hours.Wait.Mean, wait, test.waits)
		})
	}
}
