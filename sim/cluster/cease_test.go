package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/whole"
)

// ceaseTimes are the settings of groups whose members cease to wait: H + 4 L is shorter than what members take to say one after the
// other that they wait. Programs are shorter than 2 L, in which a holder that is late is struck.
var ceaseTimes = busyTimes{
	operation: 500 * time.Millisecond, hold: 4 * time.Second, interval: 50 * time.Millisecond, skip: 20 * time.Millisecond,
	gossip: 5 * time.Second, shortest: 400 * time.Millisecond, longest: 600 * time.Millisecond,
}

// ceaseDemands are waits that end without a turn.
var ceaseDemands = []struct {
	name  string
	begin func(*busy)
}{
	{"all at once", (*busy).comesAndGoes},
	{"each after a second", func(b *busy) { b.waits = time.Second; b.want(b.nodes, time.Minute) }},
	{"each after the longest program", func(b *busy) { b.waits = b.times.hold; b.want(b.nodes, time.Minute) }},
	{"one, again and again", func(b *busy) { b.waits = 100 * time.Millisecond; b.want(b.nodes[1:2], 100*time.Millisecond) }},
}

// TestCease_WithoutATurn_NobodyIsStruck: members that wait cease to, all at once or each when its patience is over. Whoever has the token then
// keeps it, as nobody wants it. It is not struck for that, and nobody makes a second token.
func TestCease_WithoutATurn_NobodyIsStruck(t *testing.T) {
	skipUnderRaceDetector(t)
	t.Parallel()
	for _, members := range []int{3, whole.Part(40, 100)} {
		for i, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
			for j, demand := range ceaseDemands {
				if members > 3 && whole.Spares(i+j, len(ceaseDemands)) {
					continue
				}
				for seed := range uint64(whole.Part(1, 2)) {
					t.Run(fmt.Sprintf("%d/%v/%s/%d", members, p, demand.name, seed), func(t *testing.T) {
						b := newBusy(t, seed, members, p, ceaseTimes)
						b.runFor(time.Second)
						demand.begin(b)
						quiet(t, b, 5*time.Minute)
						assert.NotEmpty(t, b.turns)
					})
				}
			}
		}
	}
}

// comesAndGoes has all members ask all the time for a minute, and then nobody for four minutes, again and again.
func (b *busy) comesAndGoes() {
	b.want(b.nodes, 0)
	b.after(time.Minute, func() {
		b.ceases()
		b.after(4*time.Minute, b.comesAndGoes)
	})
}

// TestCease_OnlyABadOneWaits_NobodyIsStruck: all honest members cease to wait, and a bad one goes on to say that it waits, and takes no
// token. Whoever has the token then wants none itself. It is not struck, as it passes the token on to somebody in time.
func TestCease_OnlyABadOneWaits_NobodyIsStruck(t *testing.T) {
	skipUnderRaceDetector(t)
	times := ceaseTimes
	times.hold = 5 * time.Second // a holder may be struck before the longest rest is over
	for i, kind := range []string{"coy", "refuser", "ignorer", "decliner"} {
		for j, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
			if whole.Spares(i+j, 2) {
				continue
			}
			for seed := range uint64(whole.Part(1, 4)) {
				t.Run(fmt.Sprintf("%s/%v/%d", kind, p, seed), func(t *testing.T) {
					t.Parallel()
					const members = 5
					g := &badMeasured{badGroup: newBad(t, seed, members, p, times, kind)}
					g.good = g.nodes[:members-1]
					g.runFor(badSettle)
					for range 5 {
						g.busy.want(g.nodes, 0)
						g.runFor(30 * time.Second)
						g.busy.ceases()
						g.busy.want(g.nodes[members-1:], 0)
						g.runFor(5 * time.Minute)
					}
					assert.Zero(t, g.accused)
					assert.Empty(t, g.violations)
				})
			}
		}
	}
}
