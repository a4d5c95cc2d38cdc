package cluster

import (
	"fmt"
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// gated gives a resource a gate.
func gated(r *group.Resource) {
	r.Gate = group.Gate{Member: ident.Member{9}, Address: "gate.example.org:1", Settle: 20 * time.Millisecond, Keep: 500 * time.Millisecond}.WithDefaults()
}

// TestGated_Faults_OrderHolds: members crash, sleep and are cut off from each other and from the gate, which crashes, too. No program begins without a session,
// no session opens before the last one has closed, and no token leaves before its session has ended or the time for that has.
func TestGated_Faults_OrderHolds(t *testing.T) {
	skipUnderRaceDetector(t)
	var sum gatehouse
	for seed := range uint64(whole.Part(2, 60)) {
		s := Setting{Seed: seed, Mix: MixOf(seed), For: 5 * time.Minute}
		set, f := s.draw()
		f.every[faultReconfigure] = 0 // the gate goes by one configuration
		for i := range set.resources {
			if set.resources[i].Policy != catalog.Uncoordinated {
				gated(&set.resources[i])
			}
		}
		c, err := newCluster(set, nil)
		require.NoError(t, err)
		rng := dice{c.hazards.rng(faultCrash)}
		for _, h := range c.gates {
			var again func()
			again = func() {
				if !c.calm {
					h.crash(rng.exponential(3 * time.Second))
					c.after(rng.exponential(40*time.Second), again)
				}
			}
			c.after(rng.exponential(40*time.Second), again)
			var breaks func()
			breaks = func() {
				if !c.calm {
					h.breaks(c.nodes.one(rng.rng))
					c.after(rng.exponential(10*time.Second), breaks)
				}
			}
			c.after(rng.exponential(10*time.Second), breaks)
		}
		r := (&schedule{c, f}).run(s)
		assert.NoError(t, r.Err())
		for _, h := range c.gates {
			sum.sessions, sum.busy, sum.refused, sum.crashes = sum.sessions+h.sessions, sum.busy+h.busy, sum.refused+h.refused, sum.crashes+h.crashes
			sum.broken += h.broken
			sum.longest = max(sum.longest, h.longest)
		}
	}
	t.Log(&sum)
	assert.NotZero(t, sum.sessions*sum.busy*sum.crashes*sum.broken)
}

// TestGated_TwoTokens_OneProgram: a group that is cut in two has two tokens. Without a gate two programs run at once; with one they take turns,
// and the resource is as busy as with one token.
func TestGated_TwoTokens_OneProgram(t *testing.T) {
	skipUnderRaceDetector(t)
	minutes := time.Duration(whole.Part(3, 10)) * time.Minute
	for _, p := range []busyPolicy{fairTurns, lightTurns}[:whole.Part(1, 2)] {
		t.Run(p.String(), func(t *testing.T) {
			for _, withGate := range []bool{false, true} {
				times := busyTimes{
					operation: 500 * time.Millisecond, hold: 4 * time.Second, interval: 50 * time.Millisecond, skip: 20 * time.Millisecond,
					gossip: 5 * time.Second, shortest: 400 * time.Millisecond, longest: 600 * time.Millisecond,
				}
				set := busySetting(7, 10, p, times)
				if withGate {
					gated(&set.resources[0])
				}
				b := newBusyGroup(t, set, times)
				for i := range 10 {
					b.add(b.ca.enrol(b.now), memberSetting{durable: true, found: i == 0, driving: grouped})
				}
				b.start()
				b.want(b.nodes, 10*time.Millisecond)
				b.runFor(2 * time.Minute)
				alone := 1 / b.pace().Seconds()
				b.separate(b.nodes[:5], silence)
				b.runFor(5 * time.Minute) // the half without the token makes one
				before, made := len(b.turns), b.made
				together := b.walk.together
				b.runFor(minutes)
				turns, overlaps := len(b.turns)-before, b.walk.together-together
				cut := float64(turns) / minutes.Seconds()
				t.Logf("gate %v: %.2f turns a second with one token, %.2f with two (%d made), of which %d began beside another one", withGate, alone, cut, made, overlaps)
				assert.Empty(t, b.violations)
				if !withGate {
					assert.Greater(t, overlaps, turns/10, "there are two tokens")
					continue
				}
				t.Log(b.gates[0])
				assert.Zero(t, overlaps, fmt.Sprint("of ", turns))
				assert.Greater(t, cut, 0.97*alone)
				assert.Less(t, b.gates[0].longest, 2*(times.hold+20*time.Millisecond+500*time.Millisecond))
			}
		})
	}
}

// within is the greatest number of moments in any span of time.
func within(list []time.Duration, span time.Duration) (most int) {
	first := 0
	for i, at := range list {
		for list[first] <= at-span {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// TestGated_GateAway_FewProbesAndSoonBack: a gate is away for ten minutes while everybody wants the resource. Together the members dial it less than
// ten times a second, from the beginning. When it is back a session begins within seconds.
func TestGated_GateAway_FewProbesAndSoonBack(t *testing.T) {
	skipUnderRaceDetector(t)
	const away = 10 * time.Minute
	times := busyTimes{
		operation: 500 * time.Millisecond, hold: 4 * time.Second, interval: 50 * time.Millisecond, skip: 20 * time.Millisecond,
		gossip: 5 * time.Second, shortest: 400 * time.Millisecond, longest: 600 * time.Millisecond,
	}
	for seed := range uint64(whole.Part(1, 5)) {
		for _, members := range []int{10, 100, 300}[:whole.Part(1, 3)] {
			t.Run(fmt.Sprintf("%d members, seed %d", members, seed), func(t *testing.T) {
				set := busySetting(seed, members, fairTurns, times)
				set.constants.MembersMax = members
				gated(&set.resources[0])
				b := newBusyGroup(t, set, times)
				for i := range members {
					b.add(b.ca.enrol(b.now), memberSetting{durable: true, found: i == 0, driving: grouped})
				}
				b.start()
				b.want(b.nodes, time.Second)
				b.runFor(time.Minute)
				h := b.gates[0]
				h.crash(away)
				gone := b.now
				h.knocks, h.opens = nil, nil
				b.runFor(away)
				returned := b.now
				assert.Empty(t, h.opens)
				b.runFor(time.Minute)
				require.NotEmpty(t, h.opens)
				first := h.opens[0] - returned
				up := 0
				for _, l := range h.links {
					if l.up {
						up++
					}
				}
				t.Logf("%d dials, %.2f a second, at most %d in ten seconds and %d in one, %d in the first; first session %v after the return, %d in a minute, %d members connected then; %d tokens made",
					len(h.knocks), float64(len(h.knocks))/away.Seconds(), within(h.knocks, 10*time.Second), within(h.knocks, time.Second),
					within(h.knocks[:sort.Search(len(h.knocks), func(i int) bool { return h.knocks[i] > gone+10*time.Second })], 10*time.Second),
					first, len(h.opens), up, b.made)
				assert.LessOrEqual(t, within(h.knocks, 10*time.Second), 100, "ten a second")
				assert.Less(t, first, 5*time.Second)
				assert.Empty(t, b.violations)
				assert.Equal(t, 1, b.made, "tokens")
			})
		}
	}
}
