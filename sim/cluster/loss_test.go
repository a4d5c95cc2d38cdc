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
	"github.com/wandertoken/wander/protocol/policy/multitoken"
)

var splitTurns = busyPolicy{catalog.Multitoken, multitoken.Split}

// lossTimes are the settings of a group that loses a token: programs may take much
// longer than a member's silence. A watch finds a member whose machine answers for it in
// lossTimes.notice at the latest.
var lossTimes = busyTimes{
	name: "loss", operation: 2 * time.Second, hold: 12 * time.Second, interval: 500 * time.Millisecond,
	skip: 100 * time.Millisecond, gossip: 5 * time.Second, shortest: 300 * time.Millisecond, longest: 301 * time.Millisecond,
	notice: 650 * time.Millisecond,
}

const (
	// alive is how soon another member runs where the lost holder's machine answers: most do
	// in less than a second.
	alive = 1250 * time.Millisecond
	// gone is the same where it does not.
	gone = silence + 3*time.Second/2
)

// lossWays are ways to lose a holder, and how soon another member runs.
var lossWays = []struct {
	name     string
	policies []busyPolicy
	onSilent policy.SilentHolder
	runs     time.Duration // how long the holder's program takes; it is lost a second after its begin. 0: it has ended
	rested   time.Duration // how long ago
	rolls    bool          // after each other member has been killed and started again
	cut      bool          // and not killed
	limit    time.Duration
}{
	{name: "rests", policies: allTurns, rested: 20 * time.Second, limit: alive},
	{name: "rests shortly", policies: allTurns, rested: 2 * time.Second, limit: alive},
	{name: "rests, others restarted", policies: allTurns, rested: 20 * time.Second, rolls: true, limit: alive},
	{name: "cut", policies: allTurns, rested: 20 * time.Second, cut: true, limit: gone},
	{name: "runs", policies: exclusiveTurns, runs: 6 * time.Second, limit: lossTimes.hold + silence},
	{name: "runs, replace", policies: exclusiveTurns, onSilent: policy.Replace, runs: 6 * time.Second, limit: alive},
	{name: "runs and is cut, replace", policies: exclusiveTurns, onSilent: policy.Replace, runs: 6 * time.Second, cut: true, limit: gone},
}

var (
	exclusiveTurns = []busyPolicy{fairTurns, lightTurns, ringTurns}
	allTurns       = append([]busyPolicy{splitTurns}, exclusiveTurns...)
)

// holderNow is who has the slot's token.
func (b *busy) holderNow() *node {
	for _, n := range b.nodes {
		if n.member == nil {
			continue
		}
		for _, r := range n.member.Status().Slots {
			if r.Held {
				return n
			}
		}
	}
	return nil
}

// TestLoss_Holder_ReplacedInTime: whoever holds a token and is lost, in whatever way, and
// whoever waits, another member runs as soon as docs/recovery.md says.
func TestLoss_Holder_ReplacedInTime(t *testing.T) {
	for i := range lossWays {
		way := &lossWays[i]
		for _, p := range way.policies {
			t.Run(fmt.Sprintf("%s/%v", way.name, p), func(t *testing.T) {
				for seed := range uint64(whole.Part(1, 6)) {
					times := lossTimes
					times.onSilent = way.onSilent
					b := newBusy(t, seed, 6, p, times)
					b.runFor(30 * time.Second)
					x := b.nodes[seed]
					if way.runs > 0 {
						b.lasts = func(*node) time.Duration { return way.runs }
					}
					b.turns = nil
					b.ask(x)
					for len(b.turns) == 0 {
						b.runFor(10 * time.Millisecond)
					}
					b.lasts = func(*node) time.Duration { return times.shortest }
					y := b.nodes[(seed+1)%6]
					if way.runs > 0 {
						b.runFor(time.Second / 2)
						b.ask(y)
						b.runFor(time.Second / 2)
					} else {
						b.runFor(times.shortest + way.rested)
						if way.rolls {
							b.roll()
						}
						for x = nil; x == nil; x = b.holderNow() {
							b.runFor(5 * time.Millisecond)
						}
					}
					if y == x {
						y = b.nodes[(seed+2)%6]
					}
					made, lost := b.made, b.now
					if way.cut {
						b.separate([]*node{x}, silence)
						b.forgo(x)
					} else {
						b.kill(x)
					}
					b.turns = nil
					b.ask(y)
					for b.now < lost+time.Minute && len(b.turns) == 0 {
						b.runFor(10 * time.Millisecond)
					}
					require.NotEmpty(t, b.turns, "seed %d: %s waits", seed, y.name)
					took := b.now - lost
					t.Logf("seed %d: %v", seed, took)
					assert.LessOrEqual(t, took, way.limit, "seed %d: %s is lost, %s waits", seed, x.name, y.name)
					if p != splitTurns {
						assert.LessOrEqual(t, b.made-made, 1, "seed %d", seed)
					}
				}
			})
		}
	}
}

// TestLoss_WithinHandoffs_BoundHolds: a program has just ended, so that the token moves on or
// is about to, and one that nobody waits for dies: the last holder, the next one, or one of
// those after that. If the token was there, or on its way to or from there, the members cannot
// tell whether a program runs; if not, they go round it.
func TestLoss_WithinHandoffs_BoundHolds(t *testing.T) {
	const (
		members = 5
		moments = 40 // a millisecond apart: four of a handoff
	)
	times := lossTimes
	times.operation, times.hold, times.interval = time.Second, 8*time.Second, 100*time.Millisecond
	lost := times.hold + silence + time.Second
	kept := 2*times.notice + 200*time.Millisecond // two may notice it one after the other
	for _, p := range exclusiveTurns {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			made := 0
			for seed := range uint64(3 * moments) {
				if whole.Spares(int(seed), 2) {
					continue
				}
				b := newBusy(t, seed, members, p, times)
				b.runFor(10 * time.Second)
				b.turns = nil
				b.ask(b.nodes[seed%members])
				for len(b.turns) == 0 {
					b.runFor(time.Millisecond)
				}
				b.runFor(times.shortest + time.Duration(seed%moments)*time.Millisecond)
				before, at := b.made, b.now
				dead := b.nodes[(seed+[]uint64{0, 3, 4}[seed/moments])%members]
				b.kill(dead)
				b.turns = nil
				for i := uint64(1); i <= 2; i++ {
					b.ask(b.nodes[(seed+i)%members])
				}
				for b.now < at+time.Minute && len(b.turns) == 0 {
					b.runFor(10 * time.Millisecond)
				}
				limit := kept
				if b.made > before {
					limit = lost
					made++
				}
				assert.LessOrEqual(t, b.now-at, limit, "seed %d: %s is lost", seed, dead.name)
				assert.LessOrEqual(t, b.made-before, 1, "seed %d", seed)
			}
			t.Logf("%d of %d lost the token", made, 3*moments)
		})
	}
}

// roll kills each member but the one that holds the token, and starts it again at once.
func (b *busy) roll() {
	for _, n := range b.nodes {
		if n == b.holderNow() {
			continue
		}
		n.discard(true)
		n.end(silent)
		b.runFor(time.Second / 10)
		n.start(false)
		n.meetSomebody()
		b.runFor(2 * time.Second)
	}
	b.runFor(2 * time.Second)
}

// TestLoss_NothingFails_ServedSoon: whoever wants a token that rests gets it at once, also
// where it would walk at random.
func TestLoss_NothingFails_ServedSoon(t *testing.T) {
	for _, p := range exclusiveTurns {
		t.Run(p.String(), func(t *testing.T) {
			for seed := range uint64(6) {
				b := newBusy(t, seed, 6, p, lossTimes)
				b.runFor(30 * time.Second)
				for _, n := range b.nodes {
					b.turns = nil
					b.ask(n)
					b.runFor(time.Second)
					require.Len(t, b.turns, 1, "seed %d: %s waits", seed, n.name)
					b.runFor(20 * time.Second)
				}
				assert.Equal(t, 1, b.made, "seed %d", seed)
			}
		})
	}
}

// kill ends a member's process for good. Its program runs on.
func (b *busy) kill(n *node) {
	n.discard(true)
	n.end(silent)
	b.forgo(n)
}
