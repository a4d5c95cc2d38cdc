package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/multitoken"
)

var splitTurns = busyPolicy{catalog.Multitoken, multitoken.Split}

// lossTimes are the settings of a group that loses a token: programs may take much
// longer than a member's silence.
var lossTimes = busyTimes{
	name: "loss", operation: 2 * time.Second, hold: 12 * time.Second, interval: 500 * time.Millisecond,
	skip: 100 * time.Millisecond, gossip: 5 * time.Second, shortest: 200 * time.Millisecond, longest: 201 * time.Millisecond,
}

// holder is who has the slot's token.
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

func TestLoss(t *testing.T) {
	for _, p := range []busyPolicy{fairTurns, lightTurns, ringTurns, splitTurns} {
		for _, way := range []string{"rest-killed", "rest-cut", "busy-killed", "keeper-rest-killed", "all-busy-killed"} {
			t.Run(fmt.Sprintf("%v/%s", p, way), func(t *testing.T) {
				var longest time.Duration
				for seed := range uint64(5) {
					took := lossRun(t, p, way, seed)
					longest = max(longest, took)
					t.Log(seed, took)
				}
				t.Logf("%v", longest)
			})
		}
	}
}

func lossRun(t *testing.T, p busyPolicy, way string, seed uint64) time.Duration {
	b := newBusy(t, seed, 6, p, lossTimes)
	b.runFor(30 * time.Second)
	x := b.nodes[1+seed%5]
	if way == "busy-killed" || way == "all-busy-killed" {
		b.want(b.nodes, 0)
	} else {
		b.ask(x)
	}
	b.runFor(20 * time.Second)
	if way == "busy-killed" || way == "all-busy-killed" {
	}
	for i := 0; b.holderNow() == nil && i < 1000; i++ {
		b.runFor(5 * time.Millisecond)
	}
	x = b.holderNow()
	require.NotNil(t, x)
	y := b.nodes[0]
	if y == x {
		y = b.nodes[1]
	}
	made := b.made
	switch way {
	case "rest-killed", "busy-killed", "all-busy-killed", "keeper-rest-killed":
		b.crash(x)
	case "rest-cut":
		b.separate([]*node{x}, silence)
		b.forgo(x)
	}
	died := b.now
	b.turns = nil
	if way == "busy-killed" {
		for _, n := range b.nodes {
			if n != y {
				b.forgo(n)
			}
		}
	}
	b.ask(y)
	for b.now < died+time.Minute && len(b.turns) == 0 {
		b.runFor(50 * time.Millisecond)
	}
	assert.NotEmpty(t, b.turns, "seed %d holder %s asker %s made %d", seed, x.name, y.name, b.made-made)
	took := b.now - died
	b.runFor(30 * time.Second)
	if p != splitTurns {
		assert.LessOrEqual(t, b.made-made, 1, "seed %d", seed)
	}
	return took
}
