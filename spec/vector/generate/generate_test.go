package main

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/spec/vector"
)

const folder = "../../vectors"

func loaded(t *testing.T) *vector.Set {
	t.Helper()
	set, err := vector.Load(os.DirFS(folder))
	require.NoError(t, err)
	return set
}

var full = flag.Bool("full", false, "make all seeded cases")

// Regenerating gives no difference. Of the seeded cases only the short hashes are
// made here, unless -full is given.
func TestRegenerate(t *testing.T) {
	cases := vector.ShortCases
	if *full {
		cases = vector.FullCases
	}
	files, err := generate(cases)
	require.NoError(t, err)
	if !*full {
		compareShortHashes(t, files)
	}
	names, err := filepath.Glob(folder + "/*.json")
	require.NoError(t, err)
	var there []string
	for _, name := range names {
		there = append(there, filepath.Base(name))
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(files)), there)
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		if string(want) != string(got) {
			t.Errorf("%s is not what the generator writes: go run ./spec/vector/generate", name)
		}
	}
}

// compareShortHashes puts the file's full hashes, which were not made, in the
// place of those that were.
func compareShortHashes(t *testing.T, files map[string][]byte) {
	var made vector.Hashes
	require.NoError(t, json.Unmarshal(files[vector.HashesFile], &made))
	there := loaded(t).Hashes
	require.Len(t, there.Hashes, len(made.Hashes))
	made.Cases = there.Cases
	for n := range made.Hashes {
		assert.Equal(t, made.Hashes[n].Hash, made.Hashes[n].ShortHash)
		made.Hashes[n].Hash = there.Hashes[n].Hash
	}
	require.NoError(t, render(files, vector.HashesFile, made))
}

// Every vector against the independent CDDL implementation: what is valid has
// the shape of its rule, what is encoded wrongly or has another shape has not,
// and for the others the file says which.
func TestShapes(t *testing.T) {
	all, checked := schemas(), 0
	for _, f := range loaded(t).Files {
		for _, v := range f.Vectors {
			if v.Rule == "" {
				continue
			}
			checked++
			fits := matches(all, v.Rule, v.Input)
			assert.Equal(t, v.Shape, fits, v.Name)
			if v.Outcome == vector.Valid {
				assert.True(t, fits, v.Name)
			}
			if encodingIsWrong(v) {
				assert.False(t, fits, v.Name)
			}
		}
	}
	assert.Greater(t, checked, 1000)
}

// encodingIsWrong says whether a vector is refused for its encoding or its
// shape, not for a bound that CDDL does not know.
func encodingIsWrong(v vector.Vector) bool {
	bounds := []string{"canonical.ErrTooLarge", "canonical.ErrTooDeep", "canonical.ErrTooMany", "canonical.ErrExtension"}
	return strings.HasPrefix(v.Cause, "canonical.") && !slices.Contains(bounds, v.Cause) ||
		slices.Equal(v.Requirements, []string{"C-4"})
}

// What a vector names exists: requirements and errors in the text, rules in the
// CDDL, signers in keys.json.
func TestReferences(t *testing.T) {
	var chapters string
	for _, pattern := range []string{"../../*.md", "../../policy/*.md"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			chapters += string(raw)
		}
	}
	given := make(map[string]bool)
	for _, m := range regexp.MustCompile(`\*\*([A-Z]+-[0-9]+)\*\*`).FindAllStringSubmatch(chapters, -1) {
		given[m[1]] = true
	}
	for _, name := range vector.Names() {
		if name != "io.ErrUnexpectedEOF" {
			assert.True(t, strings.Contains(chapters, "`"+name+"`"), "%s is not in the text", name)
		}
	}
	for file, f := range loaded(t).Files {
		assert.NotEmpty(t, f.About, file)
		for _, v := range f.Vectors {
			assert.NotEmpty(t, v.Description, v.Name)
			require.NotEmpty(t, v.Requirements, v.Name)
			for _, r := range v.Requirements {
				assert.True(t, given[r], "%s: %s is not in the text", v.Name, r)
			}
			assert.Equal(t, v.Class == vector.ClassValid, v.Outcome == vector.Valid || v.Class == vector.ClassMalicious && v.Outcome == vector.Valid, v.Name)
		}
		for _, s := range f.Scenarios {
			assert.NotEmpty(t, s.Description, s.Name)
			require.NotEmpty(t, s.Requirements, s.Name)
			for _, r := range s.Requirements {
				assert.True(t, given[r], "%s: %s is not in the text", s.Name, r)
			}
		}
	}
}
