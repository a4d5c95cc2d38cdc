package shard_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/lab/shard"
)

// none is an environment without variables.
func none(string) string { return "" }

// Each run belongs to exactly one part, and no part has two more than another.
func TestPart_Runs_SharedOut(t *testing.T) {
	for of := 1; of <= 9; of++ {
		for runs := range 30 {
			count := make([]int, of)
			for r := range runs {
				for i := range of {
					if (shard.Part{Index: i + 1, Of: of}).Has(r) {
						count[i]++
					}
				}
			}
			sum := 0
			for _, n := range count {
				sum += n
				require.InDelta(t, float64(runs)/float64(of), n, 0.999)
			}
			require.Equal(t, runs, sum)
		}
	}
}

func TestParse_Tasks_Numbered(t *testing.T) {
	slurm := func(name string) string { return map[string]string{"SLURM_ARRAY_TASK_ID": "3"}[name] }
	kubernetes := func(name string) string { return map[string]string{"JOB_COMPLETION_INDEX": "3"}[name] }
	for _, c := range []struct {
		text   string
		getenv func(string) string
		want   shard.Part
	}{
		{"1/1", none, shard.Part{Index: 1, Of: 1}}, {"7/8", none, shard.Part{Index: 7, Of: 8}},
		{"task/8", slurm, shard.Part{Index: 3, Of: 8}}, {"task/8", kubernetes, shard.Part{Index: 4, Of: 8}},
	} {
		got, err := shard.Parse(c.text, c.getenv)
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
	for _, text := range []string{"", "/", "1", "1/", "/2", "0/2", "3/2", "-1/2", "x/2", "1/x", "1/0", "1/10001", "1/2/3", "1.5/2", "task/3x"} {
		_, err := shard.Parse(text, slurm)
		assert.ErrorIs(t, err, shard.ErrPart, text)
	}
	_, err := shard.Parse("task/2", none)
	assert.ErrorIs(t, err, shard.ErrTask)
	_, err = shard.Parse("task/2", func(name string) string { return map[string]string{"JOB_COMPLETION_INDEX": "x"}[name] })
	assert.ErrorIs(t, err, shard.ErrTask)
}

func job(args string) shard.Job {
	return shard.Job{Program: "p", Args: json.RawMessage(`"` + args + `"`)}
}

// write writes a part with a run of these seeds.
func write(t *testing.T, dir string, j shard.Job, index, of int, seeds ...uint64) string {
	t.Helper()
	var records []shard.Record
	for _, s := range seeds {
		records = append(records, shard.Record{Unit: "u", Seed: s, Value: []byte{byte(s)}, Took: time.Second})
	}
	name, err := shard.Write(dir, j, shard.Part{Index: index, Of: of}, records)
	require.NoError(t, err)
	return name
}

func TestRead_AllParts_AllRuns(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, job("a"), 2, 2, 2)
	write(t, dir, job("a"), 1, 2, 1, 3)
	set, err := shard.Read(dir)
	require.NoError(t, err)
	assert.Equal(t, job("a"), set.Job)
	assert.Equal(t, 3, set.Unused())
	for s := uint64(1); s <= 3; s++ {
		r, there := set.Take("u", s)
		require.True(t, there)
		assert.Equal(t, shard.Record{Unit: "u", Seed: s, Value: []byte{byte(s)}, Took: time.Second}, r)
	}
	_, there := set.Take("u", 4)
	assert.False(t, there)
	_, there = set.Take("v", 1)
	assert.False(t, there)
	assert.Zero(t, set.Unused())
}

func TestRead_Incomplete_Refused(t *testing.T) {
	dir := t.TempDir()
	_, err := shard.Read(dir)
	assert.ErrorIs(t, err, shard.ErrNone)
	_, err = shard.Read(filepath.Join(dir, "nowhere"))
	assert.ErrorIs(t, err, os.ErrNotExist)

	write(t, dir, job("a"), 2, 4, 2)
	_, err = shard.Read(dir)
	var missing *shard.MissingError
	require.True(t, errors.As(err, &missing))
	assert.ErrorIs(t, err, shard.ErrMissing)
	assert.Equal(t, []shard.Part{{Index: 1, Of: 4}, {Index: 3, Of: 4}, {Index: 4, Of: 4}}, missing.Parts)
	assert.EqualError(t, err, "shards 1, 3 to 4 of 4 are missing")

	write(t, dir, job("b"), 1, 4, 1)
	_, err = shard.Read(dir)
	assert.ErrorIs(t, err, shard.ErrOther)

	twice := t.TempDir()
	write(t, twice, job("a"), 1, 2, 1)
	write(t, twice, job("a"), 2, 2, 1)
	_, err = shard.Read(twice)
	assert.ErrorIs(t, err, shard.ErrDamaged)
}

// Wherever a copy was cut short, the file is refused, as is one under another's name.
func TestRead_CutShort_Refused(t *testing.T) {
	dir := t.TempDir()
	name := write(t, dir, job("a"), 1, 1, 1, 2)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	for size := range len(text) - 1 { // the last byte ends the line
		require.NoError(t, os.WriteFile(name, text[:size], 0o600))
		_, err := shard.Read(dir)
		require.ErrorIs(t, err, shard.ErrDamaged, size)
	}
	require.NoError(t, os.WriteFile(name, append(text, '\n'), 0o600))
	_, err = shard.Read(dir)
	assert.ErrorIs(t, err, shard.ErrDamaged, "more than it counts")
	require.NoError(t, os.WriteFile(name, text, 0o600))
	require.NoError(t, os.Rename(name, filepath.Join(dir, "shard-1-of-2.jsonl")))
	_, err = shard.Read(dir)
	assert.ErrorIs(t, err, shard.ErrDamaged)
}

func TestDone_OfThisJob_Known(t *testing.T) {
	dir := t.TempDir()
	part := shard.Part{Index: 1, Of: 2}
	done, err := shard.Done(dir, job("a"), part)
	require.NoError(t, err)
	assert.False(t, done)
	name := write(t, dir, job("a"), 1, 2)
	done, err = shard.Done(dir, job("a"), part)
	require.NoError(t, err)
	assert.True(t, done)
	_, err = shard.Done(dir, job("b"), part)
	assert.ErrorIs(t, err, shard.ErrOther)
	require.NoError(t, os.WriteFile(name, []byte("{"), 0o600))
	_, err = shard.Done(dir, job("a"), part)
	assert.ErrorIs(t, err, shard.ErrDamaged)
}

func TestProgram_Twice_Same(t *testing.T) {
	a, err := shard.Program()
	require.NoError(t, err)
	b, err := shard.Program()
	require.NoError(t, err)
	assert.Equal(t, a, b)
	assert.Len(t, a, 64)
}
