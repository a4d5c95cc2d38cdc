package spec_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	inTicks    = regexp.MustCompile("`([^`]+)`")
	identifier = regexp.MustCompile(`\b[A-Z]{1,2}-[0-9]+\b`)
	aTest      = regexp.MustCompile(`\bTest[A-Za-z0-9_]+\b`)
	aDeparture = regexp.MustCompile(`^([0-9]+)\. \*\*`)
)

// references sees that the requirements and files that a page refers to are there,
// and returns its lines.
func references(t *testing.T, page string) []string {
	t.Helper()
	raw, err := os.ReadFile(page)
	require.NoError(t, err)
	given := requirements(t)
	lines := strings.Split(string(raw), "\n")
	for _, line := range lines {
		for _, id := range identifier.FindAllString(line, -1) {
			assert.True(t, given[id], "no requirement %s: %s", id, line)
		}
		for _, m := range inTicks.FindAllStringSubmatch(line, -1) {
			if top, _, ok := strings.Cut(m[1], "/"); ok && top != "wander" { // which names the ALPN
				_, err := os.Stat(filepath.Join("..", m[1]))
				assert.NoError(t, err, line)
			}
		}
	}
	return lines
}

// TestPapers: whatever papers.md refers to is there.
func TestPapers(t *testing.T) {
	experiments := experimentsOf(t)
	rows := 0
	lines := references(t, "papers.md")
	departures := departuresOf(t, lines)
	for _, line := range lines {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) == 5 && !strings.HasPrefix(strings.TrimSpace(cells[0]), "---") && strings.TrimSpace(cells[0]) != "where" {
			rows++
			checkHeldBy(t, cells[4], experiments, departures)
		}
	}
	assert.Greater(t, rows, 50)
}

// departuresOf are the numbers of the departures, which ascend from 1.
func departuresOf(t *testing.T, lines []string) map[string]bool {
	t.Helper()
	numbers := make(map[string]bool)
	for _, line := range lines {
		if m := aDeparture.FindStringSubmatch(line); m != nil {
			numbers[m[1]] = true
			assert.Equal(t, strconv.Itoa(len(numbers)), m[1], line)
		}
	}
	return numbers
}

// checkHeldBy looks for the things that the last column of a row names: tests of
// folders, experiments, a page, a departure.
func checkHeldBy(t *testing.T, cell string, experiments, departures map[string]bool) {
	t.Helper()
	for place := range strings.SplitSeq(cell, "; ") {
		name := inTicks.FindStringSubmatch(place)
		tests := aTest.FindAllString(place, -1)
		number, isDeparture := strings.CutPrefix(strings.TrimSpace(place), "departure ")
		switch {
		case isDeparture:
			assert.True(t, departures[number], "no %s", place)
		case name == nil:
			_, err := os.Stat(filepath.Join("..", strings.TrimSpace(place)))
			assert.NoError(t, err, cell)
		case len(tests) == 0:
			assert.True(t, experiments[name[1]], "no experiment %s", name[1])
		}
		for _, test := range tests {
			assert.True(t, testsOf(t, name[1])[test], "no %s in %s", test, name[1])
		}
	}
}

// experimentsOf are the chapters of docs/reproduction.md that a run makes.
func experimentsOf(t *testing.T) map[string]bool {
	raw, err := os.ReadFile("../docs/reproduction.md")
	require.NoError(t, err)
	found := make(map[string]bool)
	for line := range strings.Lines(string(raw)) {
		if name, ok := strings.CutPrefix(line, "### "); ok {
			found[strings.TrimSpace(name)] = true
		}
	}
	return found
}
