package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/whole"
)

// longProgramTimes are those of a group whose programs take nearly as long as they may: two of them in one custody are
// longer than a holder may keep a token.
var longProgramTimes = busyTimes{
	name: "long", operation: 20 * time.Second, hold: 20 * time.Second, interval: 500 * time.Millisecond,
	skip: 100 * time.Millisecond, gossip: 5 * time.Second, shortest: 19 * time.Second, longest: 19*time.Second + time.Millisecond,
}

// longestProgramTimes are those of one whose programs may take longer than five silences: so may two of them in one custody.
var longestProgramTimes = busyTimes{
	name: "longest", operation: 20 * time.Second, hold: time.Minute, interval: 500 * time.Millisecond,
	skip: 100 * time.Millisecond, gossip: 5 * time.Second, shortest: 20 * time.Second, longest: time.Minute - time.Second,
}

// longProgramKinds are kinds beside which passes come back, or tokens are lost.
var longProgramKinds = []string{"ignorer", "refuser", "decliner", "hoarder", "dropper"}

// longPrograms are groups in which each program takes long.
type longPrograms struct {
	name  string
	times busyTimes
	kinds []string
	alone bool // only one honest member wants turns beside the bad one: when that one runs, the bad one alone waits
}

var longProgramGroups = []longPrograms{
	{"all", longProgramTimes, longProgramKinds, false},
	{"alone", longestProgramTimes, append(longProgramKinds[:3:3], "coy"), true},
}

// TestBad_LongPrograms_HonestBlameless: beside one bad member, no honest member strikes another one, where each
// program takes nearly max_hold, or is longer than five silences while the bad one alone waits. No token is made in place of one
// that a holder offers in vain. The long form has several groups of each:
//
//	go test ./sim/cluster -run TestBad_LongPrograms -cluster.bad -v
func TestBad_LongPrograms_HonestBlameless(t *testing.T) {
	skipUnderRaceDetector(t)
	sizes, seeds, span := []int{5}, []uint64{4}, 10*time.Minute
	if *badCosts {
		sizes, seeds, span = []int{3, 5}, []uint64{0, 1, 2, 3, 4}, time.Hour
	}
	for _, l := range longProgramGroups {
		for i, kind := range l.kinds {
			for j, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
				if whole.Spares(i+j, 3) && !*badCosts {
					continue
				}
				for _, members := range sizes {
					for _, seed := range seeds {
						t.Run(fmt.Sprintf("%s/%s/%v/%d/%d", l.name, kind, p, members, seed), func(t *testing.T) {
							t.Parallel()
							l.areBlameless(t, uint64(members)+100*seed, members, p, kind, span)
						})
					}
				}
			}
		}
	}
}

func (l longPrograms) areBlameless(t *testing.T, seed uint64, members int, p busyPolicy, kind string, span time.Duration) {
	t.Helper()
	g := &badMeasured{badGroup: newBad(t, seed, members, p, l.times, kind)}
	g.good = g.nodes[:members-1]
	g.runFor(badSettle)
	if l.alone {
		g.good = g.good[:1]
		g.busy.want(g.nodes[members-1:], 0)
		g.busy.want(g.good, 0)
	} else {
		g.busy.want(g.nodes, 0)
	}
	g.runFor(span)
	c := g.cost()
	t.Logf("%d programs, %v of overlap, nobody ran for %v, waits %v, %d tokens made; honest members against honest ones: %v", c.first+c.later, c.overlap, c.nobody, c.wait, g.made, g.against)
	if kind != "hoarder" && kind != "dropper" { // which lose tokens
		assert.Equal(t, 1, g.made)
	}
	assert.Zero(t, g.accused)
	assert.Empty(t, g.violations)
}
