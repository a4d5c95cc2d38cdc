package cluster

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
)

var fenceLosses = flag.Int("cluster.fences", 0, "how many tokens of each group get lost in TestFence (default a few)")

// holderEnds are what happens to a holder of the token: members leave the group's sight
// with it, and come back with what they had or without.
var holderEnds = []struct {
	name string
	end  func(*busy, *node)
}{
	{"down", func(b *busy, n *node) { b.lose(n, 40*time.Second) }},
	{"power", func(b *busy, n *node) { n.durable = false; b.lose(n, 15*time.Second) }},
	{"asleep", func(b *busy, n *node) { b.suspend(n, 40*time.Second) }},
}

// fenceClocks are by how much clocks are fast, in turn. None is slow: who enrols has a
// certificate that is not valid yet by a slow clock.
var fenceClocks = []struct {
	name  string
	skews []time.Duration
}{
	{"right", []time.Duration{0}},
	{"fast founder", []time.Duration{2 * wrongBy, 0, 0}},
	{"beyond the allowance", []time.Duration{0, clockAllowance + wrongBy, 0}},
	{"any", []time.Duration{wrongBy, 2 * wrongBy, 0, time.Minute}},
}

// TestFence_HolderLost_NextNotLockedOut: a resource that keeps the greatest fence admits
// who has the token that replaces a lost one, whatever the clocks of the members show.
// The long form is
//
//	go test ./sim/cluster -run TestFence -cluster.fences 100 -v -timeout 10h
func TestFence_HolderLost_NextNotLockedOut(t *testing.T) {
	skipUnderRaceDetector(t)
	t.Parallel()
	sizes := []int{2, 3, 5, 8, 20}
	if *fenceLosses == 0 {
		sizes = sizes[:whole.Part(3, 5)]
	}
	for h, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
		for i, members := range sizes {
			for j, clocks := range fenceClocks {
				for k, way := range holderEnds {
					if *fenceLosses == 0 && (h+i+j+k)%whole.Part(6, 3) != 0 {
						continue
					}
					if members == 2 && slices.Max(clocks.skews) > clockAllowance {
						continue // a clock so wrong takes no token from its maker, and there is nobody else
					}
					t.Run(fmt.Sprintf("%v/%d/%s/%s", p, members, clocks.name, way.name), func(t *testing.T) {
						b := newBusyClocks(t, uint64(members*10+j), members, p, turnsTimes, clocks.skews...)
						loseHolders(t, b, max(2, *fenceLosses), way.end)
					})
				}
			}
		}
	}
}

// loseHolders ends one holder after the other.
func loseHolders(t *testing.T, b *busy, losses int, end func(*busy, *node)) {
	b.want(b.nodes, 0)
	b.runFor(10 * time.Second)
	for range losses {
		n := b.runs()
		require.NotNil(t, n, "nobody runs")
		end(b, n)
		b.runFor(70 * time.Second)
		b.tidy()
	}
	t.Logf("%v; refused: %d late, %d rightful, %d of them locked out", b, b.fences.refusedLate, b.fences.refusedRightful, b.fences.lockedOut)
	assert.Greater(t, b.made, 1, "tokens made")
	assert.Zero(t, b.fences.lockedOut)
	assert.Zero(t, b.fences.refusedRightful)
	assert.Empty(t, b.violations)
}

// runs is a member whose program runs, or runs next.
func (b *busy) runs() *node {
	for until := b.now + 2*time.Minute; b.now < until; b.runFor(100 * time.Millisecond) {
		for _, p := range b.running {
			return p.node
		}
	}
	return nil
}

// lose takes a machine's power, and gives it back after a while.
func (b *busy) lose(n *node, back time.Duration) {
	pause, asks := b.again[n]
	b.forgo(n)
	n.discard(true)
	n.end(silent)
	b.killPrograms(n)
	n.boot()
	b.after(back, func() {
		n.start(false)
		n.meetSomebody()
		if asks {
			b.again[n] = pause
			b.ask(n)
		}
	})
}

// TestFence_Cut_OneHalfRefused: while a group is cut in halves that both reach the
// resource, the guard admits the half with the later token and refuses the other one.
// After the cut it refuses nobody.
func TestFence_Cut_OneHalfRefused(t *testing.T) {
	skipUnderRaceDetector(t)
	t.Parallel()
	for i, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
		if whole.Spares(i+1, 3) {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			b := newBusy(t, uint64(60+i), 6, p, turnsTimes)
			b.want(b.nodes, 0)
			b.runFor(10 * time.Second)
			x := b.separate(b.nodes[:3], silence)
			b.runFor(2 * time.Minute)
			t.Logf("cut: %v; refused: %d late, %d rightful", b, b.fences.refusedLate, b.fences.refusedRightful)
			assert.Greater(t, b.made, 1, "tokens made in place of the one beyond the cut")
			assert.Positive(t, b.fences.refusedLate)
			assert.Zero(t, b.fences.refusedRightful)

			b.heal(x)
			b.runFor(time.Minute)
			refused := b.fences.refusedLate
			b.runFor(time.Minute)
			assert.Equal(t, refused, b.fences.refusedLate, "after the cut")
			assert.Zero(t, b.fences.refusedRightful)
			assert.Empty(t, b.violations)
		})
	}
}
