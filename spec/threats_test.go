package spec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestThreatModel: whatever threat-model.md refers to is there.
func TestThreatModel(t *testing.T) {
	named := 0
	for _, line := range references(t, "threat-model.md") {
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
	}
	assert.Greater(t, named, 20)
}
