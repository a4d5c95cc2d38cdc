package experiment_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/lab/experiment"
)

// TestAgainst_SavedSamples_ComparedBySeed: a sample that an earlier run saved under the same seed is what the run gives now, or it is
// named. Seeds that it did not have are left out, and what other seeds give together.
func TestAgainst_SavedSamples_ComparedBySeed(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "data", "some-claims.csv")
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	result := func(first uint64, ids string, samples ...float64) []experiment.Result {
		r := experiment.Result{Experiment: experiment.Experiment{Name: "some"}, First: first, Seeds: len(samples)}
		for id := range strings.FieldsSeq(ids) {
			r.Rows = append(r.Rows, experiment.Row{Claim: experiment.Claim{ID: id}, Samples: samples})
		}
		return []experiment.Result{r}
	}
	_, _, err := experiment.Against(dir, result(1, "a", 1))
	require.ErrorIs(t, err, experiment.ErrNothingSaved)
	require.NoError(t, os.WriteFile(name, []byte("id,median,seed 1,seed 2,seed two\na,1.5,1,2,9\nb,1.5,1,2,9\nall,7,7,,\n"), 0o600))
	both := result(1, "a b", 1, 2)
	both[0].Rows = append(both[0].Rows, experiment.Row{Claim: experiment.Claim{ID: "all"}, Samples: []float64{8}})
	for _, c := range []struct {
		now      []experiment.Result
		compared int
		stale    []string
	}{
		{both, 5, []string{"all, seed 1: saved 7, now 8"}},
		{result(1, "a b all", 1), 2, nil},
		{result(2, "a b all", 2), 2, nil},
		{result(2, "a b all", 1.0000000001), 2, []string{"a, seed 2: saved 2, now 1", "b, seed 2: saved 2, now 1"}},
		{result(1, "a b c all", 1), 3, []string{"c, seed 1: saved no row, now 1"}},
		{result(1, "a all", 1), 1, []string{"b, seed 1: saved a row, now no row"}},
	} {
		compared, stale, err := experiment.Against(dir, c.now)
		require.NoError(t, err)
		assert.Equal(t, c.compared, compared)
		var texts []string
		for _, s := range stale {
			texts = append(texts, s.String())
		}
		assert.Equal(t, c.stale, texts)
	}
	require.NoError(t, os.WriteFile(name, []byte("id\n\"a"), 0o600))
	_, _, err = experiment.Against(dir, result(1, "a", 1))
	assert.ErrorIs(t, err, experiment.ErrSaved)
}
