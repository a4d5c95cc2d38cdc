package spec_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/spec/vector"
)

// coverage is what coverage.txt says: which tests hold the code to each
// requirement, by folder, and which numbers were never given.
type coverage struct {
	tests  map[string]map[string][]string
	unused map[string]bool
}

func readCoverage(t *testing.T) coverage {
	raw, err := os.ReadFile("coverage.txt")
	require.NoError(t, err)
	c := coverage{make(map[string]map[string][]string), make(map[string]bool)}
	for line := range strings.Lines(string(raw)) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case id == "" || id == "#":
		case id == "unused":
			for number := range strings.FieldsSeq(rest) {
				c.unused[number] = true
			}
		default:
			require.Nil(t, c.tests[id], "two lines of %s", id)
			c.tests[id] = make(map[string][]string)
			for place := range strings.SplitSeq(rest, ";") {
				names := strings.Fields(place)
				require.Greater(t, len(names), 1, "%s: a folder without tests", id)
				c.tests[id][names[0]] = append(c.tests[id][names[0]], names[1:]...)
			}
		}
	}
	return c
}

// testsOf are the tests in a folder, fuzz targets included; in the folder of the
// vectors they are the files.
func testsOf(t *testing.T, folder string) map[string]bool {
	found := make(map[string]bool)
	if strings.HasPrefix(folder, "spec/vectors") {
		files, err := filepath.Glob(filepath.Join("..", folder, "*"))
		require.NoError(t, err)
		for _, path := range files {
			found[filepath.Base(path)] = true
		}
		return found
	}
	files, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
	require.NoError(t, err)
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv == nil && (strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz")) {
				found[f.Name.Name] = true
			}
		}
	}
	return found
}

// Every requirement has a test or a vector, and every test that is named exists.
func TestRequirements_Each_Covered(t *testing.T) {
	c := readCoverage(t)
	given := requirements(t)
	for id := range given {
		assert.NotEmpty(t, c.tests[id], "%s has no test in spec/coverage.txt", id)
		assert.False(t, c.unused[id], "%s is given, and unused", id)
	}
	there := make(map[string]map[string]bool)
	for id, places := range c.tests {
		assert.True(t, given[id], "%s is not given", id)
		for folder, names := range places {
			if there[folder] == nil {
				there[folder] = testsOf(t, folder)
			}
			for _, name := range names {
				assert.True(t, there[folder][name], "%s: there is no %s in %s", id, name, folder)
			}
		}
	}
}

// Whoever looks for the vectors of a requirement finds their files here.
func TestVectors_Each_Named(t *testing.T) {
	const folder = "spec/vectors"
	set, err := vector.Load(os.DirFS("vectors"))
	require.NoError(t, err)
	c, named := readCoverage(t), make(map[string]map[string]bool)
	for file, f := range set.Files {
		for id := range requirementsOf(f) {
			if named[id] == nil {
				named[id] = make(map[string]bool)
			}
			named[id][file] = true
			assert.Contains(t, c.tests[id][folder], file, "%s is named by vectors", id)
		}
	}
	require.NotEmpty(t, named)
	for id, places := range c.tests {
		for _, file := range places[folder] {
			assert.True(t, named[id][file], "%s: no vector of %s names it", id, file)
		}
	}
}

// requirementsOf are those that the vectors and scenarios of a file name.
func requirementsOf(f *vector.File) map[string]bool {
	ids := make(map[string]bool)
	for _, v := range f.Vectors {
		for _, id := range v.Requirements {
			ids[id] = true
		}
	}
	for _, s := range f.Scenarios {
		for _, id := range s.Requirements {
			ids[id] = true
		}
	}
	return ids
}

// Numbers go on without gaps, but for those that coverage.txt names.
func TestRequirements_Numbers_NoneMissing(t *testing.T) {
	given, c := requirements(t), readCoverage(t)
	for id := range given {
		family, number := split(t, id)
		for n := 1; n < number; n++ {
			assert.True(t, given[join(family, n)] || c.unused[join(family, n)], "%s is missing", join(family, n))
		}
	}
}
