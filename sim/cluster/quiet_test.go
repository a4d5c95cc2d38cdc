package cluster

import (
	"cmp"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/whole"
)

var quietFor = flag.Duration("cluster.quiet", 0, "virtual time of each group in which nothing fails (default a few minutes)")

// quietTimes are the settings of the groups in which nothing fails.
var quietTimes = []busyTimes{
	{
		name: "README", operation: 2 * time.Second, hold: 20 * time.Second, interval: 500 * time.Millisecond,
		skip: 100 * time.Millisecond, gossip: 5 * time.Second,
		shortest: 100 * time.Millisecond, longest: 3 * time.Second, short: 4 * time.Minute,
	},
	{
		name: "tight", operation: 300 * time.Millisecond, hold: 300 * time.Millisecond, interval: 50 * time.Millisecond,
		skip: 100 * time.Millisecond, gossip: time.Second, shortest: 10 * time.Millisecond, longest: 300 * time.Millisecond,
		short: 20 * time.Second,
	},
	{
		name: "wide", operation: time.Minute, hold: 10 * time.Minute, interval: 5 * time.Minute,
		skip: 30 * time.Second, gossip: time.Minute, shortest: time.Second, longest: 10 * time.Minute, short: time.Hour,
	},
}

// quietDemands are who asks in a group in which nothing fails.
var quietDemands = []struct {
	name  string
	begin func(*busy)
}{
	{"nobody", func(*busy) {}},
	{"one", func(b *busy) { b.want(b.nodes[:1], 0) }},
	{"some", func(b *busy) { b.want(b.nodes, time.Duration(len(b.nodes))*20*b.times.operation) }},
	{"all", func(b *busy) { b.want(b.nodes, 0) }},
}

// quietSizes are the groups of the long form. Other forms have less in place of the
// largest: cheap to set up.
var quietSizes = []int{2, 3, 5, 8, 20, 300}

// TestQuiet_NothingFails_OneToken: while nothing fails, nobody makes a second token, and
// no two programs run at once, whoever wants the resource: nobody, one member, some now
// and then, or all. The long form is, for a virtual day each:
//
//	go test ./sim/cluster -run TestQuiet -cluster.quiet 24h -timeout 24h
func TestQuiet_NothingFails_OneToken(t *testing.T) {
	skipUnderRaceDetector(t)
	t.Parallel()
	sizes, parts := quietSizes, whole.Part(5, 3)
	if *quietFor == 0 {
		sizes = []int{2, 3, 5, 8, 20, 40}[:whole.Part(5, 6)]
	}
	for h, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
		for i, times := range quietTimes {
			for j, members := range sizes {
				for k, demand := range quietDemands {
					if *quietFor == 0 && (h+i+j+k)%parts != 0 {
						continue // a part, in which each meets each
					}
					t.Run(fmt.Sprintf("%v/%s/%d/%s", p, times.name, members, demand.name), func(t *testing.T) {
						b := newBusy(t, uint64(members), members, p, times)
						b.runFor(time.Second)
						demand.begin(b)
						quiet(t, b, cmp.Or(*quietFor, times.short))
						if demand.name != "some" { // who need not have asked, or been found, so soon
							assert.Equal(t, demand.name == "nobody", len(b.turns) == 0)
						}
					})
				}
			}
		}
	}
}

// quiet lets a group work while nothing fails.
func quiet(t *testing.T, b *busy, d time.Duration) {
	t.Helper()
	for b.now < d && b.made == 1 {
		b.runFor(min(10*time.Minute, d-b.now))
		b.tidy()
	}
	assert.Equal(t, 1, b.made, "tokens made")
	assert.Zero(t, b.walk.together, "operations that began while another one ran")
	assert.Empty(t, b.violations)
}
