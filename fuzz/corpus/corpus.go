// Package corpus keeps the seed corpora of fuzz targets: it writes them in the
// format of go test, and finds out when they are stale or missing.
package corpus

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Target is one fuzz target, which takes one slice of bytes.
type Target struct {
	// Check tests the property and reports whether the decoder accepted the
	// bytes.
	Check func(t require.TestingT, data []byte) (accepted bool)
	// Seeds makes the seeds, always the same. Those whose names begin with
	// "good" have to be accepted, all others refused.
	Seeds func() map[string][]byte
	// More, if it is not nil, gives further seeds that stand elsewhere in the
	// repository and are not written again: test vectors. There has to be one.
	More func() [][]byte
}

// Fuzz is the body of a target's fuzz function.
func (target Target) Fuzz(f *testing.F) {
	if target.More != nil {
		for _, data := range target.More() {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { target.Check(t, data) })
}

// Test checks that every fuzz function in the current directory has a Target,
// that each has good and bad seeds which its decoder takes for what they are,
// and that exactly these stand under testdata/fuzz, beside crashers. With
// update it writes them there first.
func Test(t *testing.T, targets map[string]Target, update bool) {
	for _, name := range functions(t) {
		require.Contains(t, targets, name, "a fuzz function without a target")
	}
	require.Len(t, functions(t), len(targets), "a target without a fuzz function")
	for name, target := range targets {
		t.Run(name, func(t *testing.T) {
			seeds := target.Seeds()
			count := map[bool]int{}
			for seed, data := range seeds {
				good := strings.HasPrefix(seed, "good")
				count[good]++
				assert.Equal(t, good, target.Check(t, data), seed)
			}
			require.Positive(t, count[true], "no good seed")
			require.Positive(t, count[false], "no bad seed")
			if target.More != nil {
				require.NotEmpty(t, target.More(), "no seed from elsewhere")
			}
			dir := filepath.Join("testdata", "fuzz", name)
			if update {
				write(t, dir, seeds)
			}
			compare(t, dir, seeds)
		})
	}
}

// functions is the names of the fuzz functions in the current directory.
func functions(t *testing.T) (names []string) {
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

// encode is the form of a corpus file.
func encode(data []byte) string { return fmt.Sprintf("go test fuzz v1\n[]byte(%q)\n", data) }

func write(t *testing.T, dir string, seeds map[string][]byte) {
	require.NoError(t, os.MkdirAll(dir, 0o777))
	for _, name := range stale(t, dir, seeds) {
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
	}
	for name, data := range seeds {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(encode(data)), 0o666))
	}
}

func compare(t *testing.T, dir string, seeds map[string][]byte) {
	const hint = "write the seeds anew with go test -run TestSeeds -update in this package, and look at the difference"
	assert.Empty(t, stale(t, dir, seeds), hint)
	for name, data := range seeds {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err, hint)
		assert.True(t, string(text) == encode(data), "%s: %s", name, hint)
	}
}

// crasher is the name that go test gives to what it finds.
var crasher = regexp.MustCompile(`^[0-9a-f]{16}$`)

// stale is the files in dir that are neither seeds nor crashers.
func stale(t *testing.T, dir string, seeds map[string][]byte) (names []string) {
	entries, err := os.ReadDir(dir)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	for _, e := range entries {
		if _, ok := seeds[e.Name()]; !ok && !crasher.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// Spoil adds to seeds what is made from the good one of that name by cutting
// it and by adding a byte, for decoders that refuse both.
func Spoil(seeds map[string][]byte, name string) {
	good := seeds[name]
	kind := strings.TrimPrefix(name, "good-")
	seeds["bad-"+kind+"-cut"] = good[:len(good)-1]
	seeds["bad-"+kind+"-with-more"] = append(append([]byte{}, good...), 0)
	seeds["bad-"+kind+"-first-half"] = good[:len(good)/2]
}
