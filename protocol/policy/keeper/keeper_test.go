package keeper

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/policy"
)

// TestKeeper_RestingHolderDies_SoonReplaced: whoever dies with a token that it had
// promised to rest, and whoever waits.
func TestKeeper_RestingHolderDies_SoonReplaced(t *testing.T) {
	for holder := range 4 {
		for waits := range 4 {
			if holder == waits {
				continue
			}
			n := newNetwork(4, uint64(holder*4+waits))
			n.want(holder)
			n.run(20 * time.Second)
			require.Len(t, n.sites[holder].holds, 1, "it rests where it was used last")
			n.die(holder)
			n.stall = 0
			n.want(waits)
			n.run(20 * time.Second)
			assert.Equal(t, 1, n.made)
			assert.LessOrEqual(t, n.stall, 2*n.detect+time.Second/2, "holder %d, waiting %d", holder, waits)
			assert.Zero(t, n.overlap)
		}
	}
}

// TestKeeper_HolderDiesAfterItsProgram_ReplacedInASecond: where the machine of a holder
// answers for its dead process, the next operation begins within a second, whoever waits,
// however long ago the program ended, and whether or not others wanted to run before.
func TestKeeper_HolderDiesAfterItsProgram_ReplacedInASecond(t *testing.T) {
	const refused = 500 * time.Millisecond // until a watch tells
	for i, rested := range []time.Duration{50 * time.Millisecond, 300 * time.Millisecond, 20 * time.Second, 300 * time.Millisecond, 2100 * time.Millisecond, 3700 * time.Millisecond} {
		wanted := 0
		if i >= 3 {
			wanted = 5
		}
		for holder := range 5 {
			for waits := range 5 {
				if holder == waits {
					continue
				}
				n := newNetwork(5, uint64(holder*5+waits))
				n.detect, n.length, n.stays = refused, time.Second, true
				n.want(holder)
				n.run(20 * time.Second)
				for i := range wanted {
					n.want(i)
					n.run(300 * time.Millisecond)
				}
				n.run(time.Duration(wanted) * n.length)
				n.want(holder)
				x := n.sites[holder]
				for !slices.ContainsFunc(n.programs, func(p program) bool { return p.site == x }) {
					n.run(time.Millisecond)
				}
				ran := x.holds[0]
				n.run(n.length + rested)
				if wanted > 0 && (len(x.holds) == 0 || x.holds[0].Hop != ran.Hop || x.keeper.holder.held[0].state != resting) {
					continue // it goes on, as others have waited
				}
				require.Len(t, x.holds, 1)
				n.die(holder)
				n.stall = 0
				n.want(waits)
				n.run(20 * time.Second)
				assert.Equal(t, 1, n.made)
				assert.LessOrEqual(t, n.stall, time.Second, "rested %v, holder %d, waiting %d", rested, holder, waits)
				assert.Zero(t, n.overlap)
			}
		}
	}
}

// TestKeeper_NothingFails_NoTokenMade: however busy a group is, with messages lost, and where
// all members have to share too few processors.
func TestKeeper_NothingFails_NoTokenMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNetwork(rapid.IntRange(1, 7).Draw(t, "members"), rapid.Uint64().Draw(t, "seed"))
		n.log = t.Logf
		n.loss = rapid.SampledFrom([]float64{0, 0.01, 0.02}).Draw(t, "loss")
		for range rapid.IntRange(1, 30).Draw(t, "demands") {
			n.want(rapid.IntRange(0, len(n.sites)-1).Draw(t, "who"))
			if frozen := rapid.IntRange(-20, 20).Draw(t, "seconds frozen"); frozen > 0 {
				n.run(time.Duration(rapid.IntRange(0, 2_000).Draw(t, "before")) * time.Millisecond)
				n.freeze(time.Duration(frozen) * time.Second)
				n.run(time.Second) // 32 s without one are more than is borne
			}
			n.run(time.Duration(rapid.IntRange(0, 10_000).Draw(t, "pause")) * time.Millisecond)
		}
		n.run(time.Minute)
		require.Zero(t, n.made)
		require.Zero(t, n.overlap)
		require.False(t, n.waiting())
	})
}

// apart is at least between a death or a return and the next one: what is on its way is
// there by then.
const apart = 150 * time.Millisecond

// TestKeeper_MembersDieAndReturn_OneProgramAndNoStall: members die and come back, with
// their memory or without, at any time.
func TestKeeper_MembersDieAndReturn_OneProgramAndNoStall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNetwork(rapid.IntRange(2, 6).Draw(t, "members"), rapid.Uint64().Draw(t, "seed"))
		n.log = t.Logf
		n.detect = rapid.SampledFrom([]time.Duration{100 * time.Millisecond, time.Second, time.Minute}).Draw(t, "detection")
		for _, s := range n.sites {
			s.durable = rapid.Bool().Draw(t, "durable")
		}
		back := longAgo // when a member came back with a token
		for range rapid.IntRange(1, 40).Draw(t, "happenings") {
			i := rapid.IntRange(0, len(n.sites)-1).Draw(t, "who")
			s := n.sites[i]
			switch up := n.ups(); {
			case rapid.IntRange(0, 3).Draw(t, "what") > 0:
				n.want(i)
			case s.up && up > 1:
				n.die(i)
				n.run(apart)
			case !s.up && (len(s.holds) > 0 && s.durable || n.inDoubt(s)) && n.now < back.Add(longestHold+2*DefaultSilence):
				// Two that come back with tokens at about the same time may both go on.
			case !s.up:
				if len(s.holds) > 0 && s.durable || n.inDoubt(s) {
					back = n.now
				}
				n.log("%v: member %d returns", n.now.Sub(0), i)
				s.start()
				n.run(apart)
			}
			n.run(time.Duration(rapid.IntRange(0, 8_000).Draw(t, "pause")) * time.Millisecond)
		}
		for n.run(2 * time.Minute); n.waiting() && n.barred() > 0; n.run(n.barred() + time.Minute) {
			// A member that loses several tokens in its crashes gets none for a while.
		}
		if n.waiting() {
			for i, s := range n.sites {
				n.log("%d up %v holds %d demand %v waiter %+v search %+v held %+v inner %v %v", i, s.up, len(s.holds), s.demand, s.keeper.waiter, s.keeper.search, s.keeper.holder.held, s.inner.have, s.inner.running)
			}
		}
		require.False(t, n.waiting(), "all who live are served")
		require.Zero(t, n.overlap)
	})
}

// TestKeeper_BusyMembersDie_NoStall: members that always want to run die, one after the
// other or two at once, also while they wait for their turns to say so. A program of who
// died may run for longestHold, and each death costs two silences at most: as the keeper, and
// as the one to whom the token went.
func TestKeeper_BusyMembersDie_NoStall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNetwork(rapid.IntRange(3, 12).Draw(t, "members"), rapid.Uint64().Draw(t, "seed"))
		n.log = t.Logf
		n.detect = rapid.SampledFrom([]time.Duration{100 * time.Millisecond, time.Second, time.Minute}).Draw(t, "detection")
		n.longest = rapid.SampledFrom([]time.Duration{150 * time.Millisecond, longestHold}).Draw(t, "longest")
		for i, s := range n.sites {
			s.greedy, s.durable = true, rapid.Bool().Draw(t, "durable")
			n.want(i)
		}
		n.run(20 * time.Second)
		require.Less(t, n.stall, time.Second, "nothing has failed")
		for range rapid.IntRange(1, len(n.sites)-1).Draw(t, "deaths") {
			n.stall = 0
			bound := longestHold + DefaultSilence
			for range rapid.IntRange(1, 2).Draw(t, "together") {
				if i := rapid.IntRange(0, len(n.sites)-1).Draw(t, "who"); n.sites[i].up && n.ups() > 1 {
					n.die(i)
					bound += 2 * DefaultSilence
				}
			}
			n.run(time.Duration(rapid.IntRange(30_000, 40_000).Draw(t, "pause")) * time.Millisecond)
			require.LessOrEqual(t, n.stall, bound)
		}
		require.Zero(t, n.overlap)
	})
}

// TestKeeper_SlowDials_AsksAllBeforeItMakes: a keeper that knows nothing asks all, one after
// the other, for longer than it waits for an answer. The one that has the token is asked at
// some time, and lives. If it died, too, all that live are asked before there is another one.
func TestKeeper_SlowDials_AsksAllBeforeItMakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNetwork(40, rapid.Uint64().Draw(t, "seed"))
		n.log = t.Logf
		n.detect, n.dial = time.Hour, 500*time.Millisecond
		holder := rapid.IntRange(2, 39).Draw(t, "holder")
		lost := rapid.Bool().Draw(t, "lost")
		n.want(holder)
		n.run(time.Minute) // it rests there, as it has promised the first keeper
		n.die(0)
		if lost {
			n.die(holder)
		}
		n.want(1)
		n.run(2 * time.Minute)
		require.Equal(t, lost, n.made == 1)
		require.LessOrEqual(t, n.made, 1)
		require.Zero(t, n.overlap)
		require.False(t, n.sites[1].demand, "it was served")
	})
}

func (n *network) ups() (count int) {
	for _, s := range n.sites {
		if s.up {
			count++
		}
	}
	return count
}

// TestKeeper_NobodyWants_HardlyAnythingSaid: a group that wants nothing watches nobody, and
// the keeper hears of the token each restAgain.
func TestKeeper_NobodyWants_HardlyAnythingSaid(t *testing.T) {
	for holder := range 4 {
		n := newNetwork(4, uint64(holder))
		n.want(holder)
		n.run(time.Minute)
		before := n.told
		for range 20 * int(restAgain/time.Second) {
			n.run(time.Second)
			for i, s := range n.sites {
				s.step(policy.Event{Kind: policy.Timer}) // policies have some of their own
				require.Empty(t, s.watched, "member %d", i)
			}
		}
		assert.LessOrEqual(t, n.told-before, 21)
	}
}

// TestKeeper_PromiseUnknown_PromisedAgain: the rest is lost, or who has heard it dies and
// has left the directories, or starts anew; later the holder dies.
func TestKeeper_PromiseUnknown_PromisedAgain(t *testing.T) {
	const holder, waits = 2, 3
	for name, happens := range map[string]func(*network){
		"rest lost": func(n *network) {
			n.loss = 1
			n.run(10 * time.Second)
			n.loss = 0
		},
		"keeper dies": func(n *network) { n.run(10 * time.Second); n.die(0); n.run(stateAfter) },
		"keeper starts anew": func(n *network) {
			n.run(10 * time.Second)
			n.die(0)
			n.run(time.Second)
			n.sites[0].start()
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNetwork(4, 1)
			n.want(holder)
			for n.run(10 * time.Millisecond); len(n.programs) == 0; n.run(10 * time.Millisecond) {
			}
			for ; len(n.programs) > 0; n.run(time.Millisecond) {
			}
			happens(n)
			n.run(restAgain)
			require.Len(t, n.sites[holder].holds, 1, "it rests where it was used last")
			n.die(holder)
			n.stall = 0
			n.want(waits)
			n.run(20 * time.Second)
			assert.Equal(t, 1, n.made)
			assert.LessOrEqual(t, n.stall, 2*n.detect+time.Second/2)
		})
	}
}

// TestKeeper_RunningHolderDies_ReplacedAsSet: the others wait for the end of a lost holder's
// program, or do not, as the resource's setting says. That costs overlap, and no more than
// what is left of the program.
func TestKeeper_RunningHolderDies_ReplacedAsSet(t *testing.T) {
	for holder := range 4 {
		for waits := range 4 {
			if holder == waits {
				continue
			}
			for _, set := range []policy.SilentHolder{policy.WaitForProgram, policy.Replace} {
				n := newNetworkAs(4, uint64(holder*4+waits), set)
				n.length = longestHold - time.Second/2
				n.want(holder)
				n.run(20 * time.Second)
				n.want(holder)
				n.run(time.Second)
				require.Len(t, n.programs, 1)
				ends := n.programs[0].ends
				n.want(waits)
				n.run(time.Second / 2)
				n.die(holder)
				died := n.now
				n.run(2*n.detect + DefaultSilence/retries + time.Second/2)
				if set == policy.Replace {
					assert.Equal(t, 1, n.made, "holder %d, waiting %d", holder, waits)
					assert.Positive(t, n.overlap)
				}
				n.run(longestHold + 2*time.Second)
				assert.Equal(t, 1, n.made)
				assert.False(t, n.waiting())
				assert.LessOrEqual(t, n.overlap, max(0, ends.Sub(died)))
				if set == policy.WaitForProgram {
					assert.Zero(t, n.overlap)
				}
			}
		}
	}
}
