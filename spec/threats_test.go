package spec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestThreatModel: whatever threat-model.md refers to is there.
func TestThreatModel(t *testing.T) {
	raw, err := os.ReadFile("threat-model.md")
	require.NoError(t, err)
	given := givenIdentifiers(t)
	named := 0
	for line := range strings.Lines(string(raw)) {
		for _, id := range identifier.FindAllString(line, -1) {
			assert.True(t, given[id], "no requirement %s: %s", id, line)
		}
		folder := ""
		for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ;,()|", r) }) {
			if m := inTicks.FindStringSubmatch(word); m != nil {
				folder = m[1]
				continue
			}
			if aTest.MatchString(word) {
				named++
				assert.True(t, testsOf(t, folder)[aTest.FindString(word)], "no %s in %s", word, folder)
			}
		}
		for _, m := range inTicks.FindAllStringSubmatch(line, -1) {
			if top, _, ok := strings.Cut(m[1], "/"); ok && top != "wander" {
				_, err := os.Stat(filepath.Join("..", m[1]))
				assert.NoError(t, err, line)
			}
		}
	}
	assert.Greater(t, named, 20)
}
