package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/sim/cluster"
)

// TestStories_Steps_OfTheModel: a replay that never sees a token declined or
// a floor raised shows nothing about them.
func TestStories_Steps_OfTheModel(t *testing.T) {
	missing := map[string]bool{
		"sender START": true, "sender GRANT": true, "sender END": true, "sender OFFER": true, "sender RELEASE": true,
		"sender RETRANSMIT": true, "sender RECEIPT": true, "sender VOID": true, "sender GIVEUP": true, "sender DROP": true,
		"sender FSYNC": true, "receiver OFFER": true, "receiver TAKE": true, "receiver DECLINE": true,
		"receiver DUPLICATE": true, "receiver STALE": true, "receiver FLOOR": true, "receiver FORGET": true,
		"memory CRASH_": true, "memory POWER": true,
	}
	const first, tries = 9, 30 // few seeds see a token declined
	for seed := uint64(first); seed < first+tries && len(missing) > 0; seed++ {
		for _, s := range watch(cluster.Setting{Seed: seed, Mix: mixOf(seed)}) {
			for _, l := range s.lines {
				delete(missing, l.machine+" "+l.event)
			}
		}
	}
	assert.Empty(t, missing)
}

// TestModel_Traces_Judged: it takes what honest members did, and refuses what they
// do with a bug in their driver.
func TestModel_Traces_Judged(t *testing.T) {
	for _, tool := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the model is checked with %s, which is not here", tool)
		}
	}
	missing := map[string]cluster.Setting{
		"sendfirst":       {Mix: cluster.Durable, Bug: cluster.SendFirst},
		"losesync":        {Mix: cluster.Durable, Bug: cluster.LoseSync},
		"forgetheld":      {Mix: cluster.Durable, Bug: cluster.ForgetHeld},
		"forgetsent":      {Mix: cluster.Durable, Bug: cluster.ForgetSent},
		"sameincarnation": {Mix: cluster.Volatile, Bug: cluster.SameIncarnation},
	}
	// One seed in three shows that an incarnation is used again, nearly all the others.
	const first, tries = 18, 30
	for seed := uint64(first); seed < first+tries && len(missing) > 0; seed++ {
		traces := map[string][]*story{"honest": watch(cluster.Setting{Seed: seed, Mix: mixOf(seed)})}
		for name, o := range missing {
			o.Seed, o.Unguarded = seed, true
			traces[name] = watch(o)
		}
		for name := range refused(t, traces) {
			require.NotEqual(t, "honest", name, "seed %d", seed)
			delete(missing, name)
		}
	}
	assert.Empty(t, missing, "nothing of these was refused")
}

// refused replays traces, and returns the names under which some were refused.
func refused(t *testing.T, traces map[string][]*story) map[string]bool {
	dir, names := t.TempDir(), make(map[string]bool)
	args := []string{"--replay"}
	for name, stories := range traces {
		for i, s := range stories {
			file := filepath.Join(dir, fmt.Sprintf("%s-%d.ndjson", name, i))
			require.NoError(t, write(file, s))
			args = append(args, file)
		}
	}
	out, err := exec.Command("../check.sh", args...).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if rest, found := strings.CutPrefix(line, "REFUSED  "+dir+"/"); found {
			name, _, _ := strings.Cut(rest, "-")
			names[name] = true
		}
	}
	require.Equal(t, err != nil, len(names) > 0, "%s", out)
	return names
}
