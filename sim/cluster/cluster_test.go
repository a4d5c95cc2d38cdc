package cluster

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/wire"
)

var (
	seedsFlag = flag.Uint64("cluster.seeds", 0, "how many seeds TestLong runs; 0: it is skipped")
	seedFlag  = flag.Int64("cluster.seed", -1, "the seed that TestSeed runs, with its whole trace; -1: it is skipped")
	firstFlag = flag.Uint64("cluster.first", 0, "the first seed that TestLong runs")
)

// shortSeeds is what every test run gets: a few seconds.
const shortSeeds = 24

func skipUnderRaceDetector(t *testing.T) {
	if raceDetector {
		t.Skip("there is nothing to race with, and it takes long")
	}
}

// mixOf spreads the seeds over the mixes; half of them are all durable.
func mixOf(seed uint64) Mix { return [...]Mix{Durable, Volatile, Durable, Mixed}[seed%4] }

// check fails for a run that broke a rule, with all that is needed to see why.
func check(t *testing.T, r *Result) {
	t.Helper()
	err := r.Err()
	if err == nil {
		return
	}
	var trace bytes.Buffer
	Run(r.Seed, Options{Mix: r.Mix, Trace: &trace})
	lines := strings.Split(strings.TrimSpace(trace.String()), "\n")
	const shown = 150
	t.Errorf("%v\n\nthe end of its trace:\n%s\n\nall of it: go test ./sim/cluster -run TestSeed -cluster.seed %d -v",
		err, strings.Join(lines[max(0, len(lines)-shown):], "\n"), r.Seed)
}

// TestShort runs some seeds, and sees to it that they reach what they are for:
// a test that never sees a message lost, or a token declined, shows nothing.
func TestShort(t *testing.T) {
	if raceDetector {
		check(t, Run(0, Options{Mix: Durable}))
		return
	}
	var s Summary
	sent, records := make(map[wire.Type]int), make(map[journal.Kind]int)
	for seed := range uint64(shortSeeds) {
		r := Run(seed, Options{Mix: mixOf(seed)})
		check(t, r)
		s.Add(r)
		for k, n := range r.Sent {
			sent[k] += n
		}
		for k, n := range r.Records {
			records[k] += n
		}
	}
	t.Logf("\n%s", &s)
	assert.Greater(t, s.Handoffs(), 100*shortSeeds)
	assert.Greater(t, s.Crashes(), 10*shortSeeds)
	for _, m := range []wire.Type{wire.TypeNeed, wire.TypeRefuse, wire.TypeVoid, wire.TypeUnknown, wire.TypeMembers} {
		assert.Positive(t, sent[m], m)
	}
	for _, k := range []journal.Kind{journal.KindReclaimed, journal.KindVoided, journal.KindDropped, journal.KindSettled, journal.KindFloor} {
		assert.Positive(t, records[k], k)
	}
}

// TestLong is the run that counts.
func TestLong(t *testing.T) {
	if *seedsFlag == 0 {
		t.Skip("asked for with -cluster.seeds")
	}
	var s Summary
	for seed := *firstFlag; seed < *firstFlag+*seedsFlag; seed++ {
		r := Run(seed, Options{Mix: mixOf(seed)})
		check(t, r)
		s.Add(r)
	}
	fmt.Println(&s)
}

// TestSeed runs one seed and shows everything.
func TestSeed(t *testing.T) {
	if *seedFlag < 0 {
		t.Skip("asked for with -cluster.seed")
	}
	seed := uint64(*seedFlag)
	r := Run(seed, Options{Mix: mixOf(seed), Trace: os.Stdout})
	require.NoError(t, r.Err())
}

// TestOneSeedIsOneRun: byte for byte, and also when nobody looks.
func TestOneSeedIsOneRun(t *testing.T) {
	skipUnderRaceDetector(t)
	for seed := range uint64(3) {
		var first, second bytes.Buffer
		a := Run(seed, Options{Mix: mixOf(seed), Trace: &first})
		b := Run(seed, Options{Mix: mixOf(seed), Trace: &second})
		require.Equal(t, first.String(), second.String(), "seed %d", seed)
		require.Equal(t, a, b)
		require.Equal(t, a, Run(seed, Options{Mix: mixOf(seed)}))
	}
}

// TestObserversFindPlantedBugs: each must be found by the audit alone, from the
// journals, or when it can do no harm that shows there, by the guard.
func TestObserversFindPlantedBugs(t *testing.T) {
	skipUnderRaceDetector(t)
	const tries = 60
	for name, p := range map[string]struct {
		bug   Bug
		mix   Mix
		finds []audit.Kind // each of them in some run; none: the guard must see it
		first uint64       // seed: one in eight shows the last of these bugs' harm
	}{
		"messages leave before the sync":    {SendFirst, Durable, []audit.Kind{audit.Overlap, audit.Unsent}, 0},
		"a sync does nothing":               {LoseSync, Durable, []audit.Kind{audit.Overlap, audit.Unsent, audit.Unheld, audit.Vanished}, 0},
		"taken custody is not written":      {ForgetHeld, Durable, []audit.Kind{audit.Unheld, audit.Vanished}, 0},
		"custody given away is not written": {ForgetSent, Durable, []audit.Kind{audit.Overlap, audit.Unsent}, 0},
		"an incarnation is used again":      {SameIncarnation, Volatile, []audit.Kind{audit.Revived, audit.Twice}, 17},
		"a checkpoint forgets floors":       {ForgetFloors, Durable, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			guarded, missing := len(p.finds) > 0, make(map[audit.Kind]bool)
			for _, k := range p.finds {
				missing[k] = true
			}
			for seed := p.first; seed < p.first+tries && (!guarded || len(missing) > 0); seed++ {
				if !guarded {
					guarded = len(Run(seed, Options{Mix: p.mix, Bug: p.bug}).Problems) > 0
				}
				if len(missing) == 0 {
					continue
				}
				for _, f := range Run(seed, Options{Mix: p.mix, Bug: p.bug, Unguarded: true}).Findings {
					delete(missing, f.Kind)
				}
			}
			assert.True(t, guarded, "the guard has not seen it")
			assert.Empty(t, missing, "the audit has not found it")
		})
	}
}

// TestGuardSeesWhatLeavesTooEarly: every early message, at once.
func TestGuardSeesWhatLeavesTooEarly(t *testing.T) {
	for _, bug := range []Bug{SendFirst, ForgetSent, ForgetHeld} {
		r := Run(1, Options{Mix: Durable, Bug: bug, Trace: io.Discard})
		require.Error(t, r.Err())
		assert.NotEmpty(t, r.Problems)
		assert.ErrorIs(t, r.Err(), ErrBroken)
	}
}

// wanderingSeed is a seed whose tokens all walk: under other policies a token
// may rest for long.
func wanderingSeed() uint64 {
	for seed := uint64(8); ; seed++ {
		s, _ := draw(seed, Durable)
		if !slices.ContainsFunc(s.resources, func(r group.Resource) bool { return r.Policy != catalog.Wandering }) {
			return seed
		}
	}
}

// TestWhatDoesNotComeToRestIsSeen: without receipts no transfer is ever
// answered, without offers no token moves.
func TestWhatDoesNotComeToRestIsSeen(t *testing.T) {
	for bug, want := range map[Bug]string{NoReceipts: "is not answered", NoOffers: "has not moved"} {
		r := Run(wanderingSeed(), Options{Mix: Durable, Bug: bug})
		require.ErrorIs(t, r.Err(), ErrBroken)
		assert.Empty(t, r.Problems)
		assert.Empty(t, r.Findings)
		assert.Contains(t, strings.Join(r.Stuck, "\n"), want)
	}
}
