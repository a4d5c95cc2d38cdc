package cluster

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/node/forecast"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// nextGroup is a group whose members ask again after a pause.
type nextGroup struct {
	policy  busyPolicy
	members int
	pause   time.Duration
}

// nextGroups are a busy and a half idle group of each preset, those of the short form first.
func nextGroups() (groups []nextGroup) {
	const size = 60
	for _, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
		groups = append(groups, nextGroup{p, 8, 0})
	}
	for _, name := range catalog.Names() {
		for _, p := range catalog.Presets(name) {
			for _, pause := range []time.Duration{0, size * 500 * time.Millisecond} {
				groups = append(groups, nextGroup{busyPolicy{name, p.Name}, size, pause})
			}
		}
	}
	return groups
}

// maxTurnError is how far off a prediction may be in half of all cases under a policy that serves who has waited longest, in a group in
// which nobody pauses.
const maxTurnError = 0.05

// TestForecast_NextTurn_AsPredicted asks a member at the beginning of each turn for the next one, and compares with when that came.
// docs/programs.md publishes the errors:
//
//	WANDER_TESTS=whole go test ./sim/cluster -run TestForecast_NextTurn -v
func TestForecast_NextTurn_AsPredicted(t *testing.T) {
	groups := nextGroups()
	for _, g := range groups[:whole.Part(3, len(groups))] {
		t.Run(fmt.Sprintf("%s %s of %d, pause %v", g.policy.policy, g.policy.preset, g.members, g.pause), func(t *testing.T) {
			times := busyTimes{
				operation: 350 * time.Millisecond, hold: 5 * time.Second, interval: 50 * time.Millisecond, skip: 100 * time.Millisecond, gossip: time.Second,
				shortest: 250 * time.Millisecond, longest: 350 * time.Millisecond,
			}
			if g.policy.preset == wandering.Paper || g.policy.preset == "report" {
				times.interval = times.longest * time.Duration(g.members) / 2 // as the paper's formula
			}
			b := newBusy(t, 7, g.members, g.policy, times)
			b.want(b.nodes, g.pause)
			round := time.Duration(g.members)*(times.longest+times.skip) + g.pause
			if g.policy.policy == catalog.Multitoken {
				round = 4*times.operation + g.pause // its target_interval
			}
			b.runFor(6 * round)
			told, turns, off, within50, within95 := b.compareNext(8 * round)
			require.Greater(t, turns, 50)
			if told == 0 {
				t.Skipf("none told in %d turns", turns)
			}
			p50, p90 := off[len(off)/2], off[len(off)*9/10]
			t.Logf("%d of %d turns predicted: off by %.1f %% in half of them, by %.0f %% in nine tenths; %.0f %% came within p50, %.0f %% within p95",
				told, turns, 100*p50, 100*p90, 100*float64(within50)/float64(told), 100*float64(within95)/float64(told))
			if g.pause > 0 {
				return // few turns were seen before, and they vary as the pauses do
			}
			assert.Greater(t, float64(within95)/float64(told), leastWithin95)
			if g.policy == fairTurns || g.policy == ringTurns {
				assert.Less(t, p50, maxTurnError)
			}
		})
	}
}

// compareNext lets the group work, and compares what was predicted at the beginning of each turn with the next turn of that
// member. The errors are relative to the time that it took, and sorted.
func (b *busy) compareNext(span time.Duration) (told, turns int, off []float64, within50, within95 int) {
	open := make(map[*node]predicted)
	saw := b.watch
	b.watch = func(m Moment) {
		saw(m)
		if m.Deed != Granted {
			return
		}
		n := b.find(m.Member)
		turns++
		if p, was := open[n]; was {
			took := b.now - p.at
			off = append(off, math.Abs((took-p.P50).Seconds()/took.Seconds()))
			if took <= p.P50 {
				within50++
			}
			if took <= p.P95 {
				within95++
			}
		}
		delete(open, n)
		if p, ok := forecast.Next(member.Turns(n.member, "r")); ok {
			open[n] = predicted{p, b.now}
		}
	}
	b.runFor(span)
	b.watch = saw
	slices.Sort(off)
	return len(off), turns, off, within50, within95
}
