package spec_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// core is what every implementation needs.
const core = "protocol.md"

// texts are the normative ones.
var texts = slices.Concat(
	[]string{core, "membership.md"}, ofPolicies(),
	[]string{"journal.md", "permit.md", "enrolment.md", "dial-back.md", "api.md", "gate.md", "gate-member.md", "refusals.md", "limits.md", "examples.md"},
)

// ofPolicies are the texts about policies.
func ofPolicies() []string {
	files, err := filepath.Glob("policy/*.md")
	if err != nil || len(files) < 2+len(catalog.Names()) {
		panic(fmt.Sprint("policy/NAME.md of each policy in the catalog, keeper.md and quorum.md: ", files, err))
	}
	for i := range files {
		files[i] = filepath.ToSlash(files[i])
	}
	return files
}

// page is the content of a text.
func page(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(raw)
}

// specification is all texts, one after the other.
func specification(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, file := range texts {
		b.WriteString(page(t, file))
		b.WriteString("\n")
	}
	return b.String()
}

// maxCoreWords is how long the core may be: an implementer reads it before anything works.
const maxCoreWords = 19000

func TestCore_Words_Bounded(t *testing.T) {
	over := len(strings.Fields(page(t, core))) - maxCoreWords
	assert.LessOrEqual(t, over, 0, "%d words too many, with those of its tables: shorten it, or say in another text what no member needs to pass a token", over)
}

var (
	// inBytes are bytes that the core shows, the middle of which may be left out.
	inBytes = regexp.MustCompile("`([0-9a-f]+)(?:…([0-9a-f]*))?`")
	hexLine = regexp.MustCompile(`(?m)^[0-9a-f]+\n`)
)

// The bytes by which the core shows one hop are those of the examples.
func TestOneHop_Bytes_ThoseOfTheExamples(t *testing.T) {
	_, hop, found := strings.Cut(page(t, core), "\n## One hop\n")
	require.True(t, found)
	hop, _, _ = strings.Cut(hop, "\n## ")
	examples := strings.ReplaceAll(strings.Join(hexLine.FindAllString(page(t, "examples.md"), -1), ""), "\n", "")
	shown := inBytes.FindAllStringSubmatch(hop, -1)
	assert.Greater(t, len(shown), 10)
	for _, m := range shown {
		assert.Regexp(t, m[1]+"[0-9a-f]*"+m[2], examples, "%s", m[0])
	}
}

// A requirement is in one of the texts and nowhere else, once, and coverage.txt has a line
// for it and for nothing else. So none gets lost when a text is written anew or divided.
func TestRequirements_AllPages_GivenOnceAndTraced(t *testing.T) {
	places := make(map[string][]string)
	require.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		for _, p := range paragraphs(t, path) {
			if m := requirement.FindStringSubmatch(p); m != nil {
				places[m[1]] = append(places[m[1]], filepath.ToSlash(path))
			}
		}
		return nil
	}))
	traced := readCoverage(t).tests
	for id, files := range places {
		assert.Len(t, files, 1, "%s is given in %v", id, files)
		assert.True(t, slices.Contains(texts, files[0]), "%s is given in %s, which is not normative", id, files[0])
		assert.Contains(t, traced, id, "spec/coverage.txt has no line of %s", id)
	}
	for id := range traced {
		assert.Contains(t, places, id, "%s is given nowhere", id)
	}
}

// requirementTable is which requirements each text gives.
func requirementTable(t *testing.T) *table {
	out := newTable("text", "requirements")
	for _, file := range texts {
		numbers := make(map[string][]int)
		for _, p := range paragraphs(t, file) {
			if m := requirement.FindStringSubmatch(p); m != nil {
				family, number := split(t, m[1])
				numbers[family] = append(numbers[family], number)
			}
		}
		if ranges := spansOf(numbers); ranges != "" {
			out.row("["+file+"]("+file+")", ranges)
		}
	}
	return out
}

// spansOf writes numbers by family, consecutive ones as a range.
func spansOf(numbers map[string][]int) string {
	var parts []string
	for _, family := range []string{"G", "C", "S", "E", "O", "F", "M", "H", "D", "P", "T", "J", "K", "N", "A", "V", "R", "W"} {
		list := slices.Sorted(slices.Values(numbers[family]))
		for i := 0; i < len(list); {
			last := i
			for last+1 < len(list) && list[last+1] == list[last]+1 {
				last++
			}
			part := join(family, list[i])
			if last > i {
				part += " to " + join(family, list[last])
			}
			parts, i = append(parts, part), last+1
		}
		delete(numbers, family)
	}
	if len(numbers) > 0 {
		return "a family without a place"
	}
	return strings.Join(parts, ", ")
}

// rangeOf is one requirement, or some that follow each other, in a table of levels.
var rangeOf = regexp.MustCompile(`\*\*([A-Z])-([0-9]+)\*\*(?: to \*\*[A-Z]-([0-9]+)\*\*)?`)

// levels are the requirements that a text's table of levels names, with what stands behind
// it up to the first heading or requirement; nil if the text has no such table.
func levels(t *testing.T, file string) map[string]bool {
	named := make(map[string]bool)
	inside := false
	for _, p := range paragraphs(t, file) {
		inside = inside || strings.HasPrefix(p, "| level |")
		if !inside {
			continue
		}
		if strings.HasPrefix(p, "#") || requirement.MatchString(p) {
			return named
		}
		for _, m := range rangeOf.FindAllStringSubmatch(p, -1) {
			first, err := strconv.Atoi(m[2])
			require.NoError(t, err)
			last := first
			if m[3] != "" {
				last, err = strconv.Atoi(m[3])
				require.NoError(t, err)
			}
			for n := first; n <= last; n++ {
				named[join(m[1], n)] = true
			}
		}
	}
	return nil
}

// A text that says in which levels it can be implemented leaves out none of its requirements.
func TestLevels_EachText_NameAllItsRequirements(t *testing.T) {
	found := 0
	for _, file := range texts {
		named := levels(t, file)
		if named == nil {
			continue
		}
		found++
		for _, p := range paragraphs(t, file) {
			if m := requirement.FindStringSubmatch(p); m != nil {
				assert.True(t, named[m[1]], "no level of %s has %s: add it to the table of levels", file, m[1])
			}
		}
	}
	assert.GreaterOrEqual(t, found, 8)
}
