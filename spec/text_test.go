package spec_test

import (
	"go/ast"
	"go/parser"
	"go/token"
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

// paragraphs are the parts of a text between empty lines.
func paragraphs(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return strings.Split(string(text), "\n\n")
}

var (
	requirement = regexp.MustCompile(`^\*\*([A-Z]-[1-9][0-9]*)\*\* `)
	reference   = regexp.MustCompile(`\*\*([A-Z]-[0-9]+)\*\*`)
	normative   = regexp.MustCompile(`\b(MUST|SHOULD|MAY)\b`)
	// foreign are words of RFC 2119 that these texts do without, and those that a
	// reader could take for what only capitals mean here.
	foreign = regexp.MustCompile(`\b(SHALL|REQUIRED|RECOMMENDED|OPTIONAL|[Mm]ust|[Ss]hall|[Ss]hould|[Mm]ay not|MAY NOT|[Rr]ecommended)\b`)
)

// requirements are all that have an identifier.
func requirements(t *testing.T) map[string]bool {
	given := make(map[string]bool)
	for _, file := range texts {
		for _, p := range paragraphs(t, file) {
			if m := requirement.FindStringSubmatch(p); m != nil {
				given[m[1]] = true
			}
		}
	}
	require.Greater(t, len(given), 200)
	return given
}

func split(t *testing.T, id string) (family string, number int) {
	family, digits, _ := strings.Cut(id, "-")
	number, err := strconv.Atoi(digits)
	require.NoError(t, err)
	return family, number
}

// next is the number behind the last one of a family, in which a new requirement gets it.
func next(t *testing.T, id string) string {
	family, last := split(t, id)
	for other := range requirements(t) {
		if f, n := split(t, other); f == family {
			last = max(last, n)
		}
	}
	return join(family, last+1)
}

func join(family string, number int) string { return family + "-" + strconv.Itoa(number) }

// Whoever says MUST, SHOULD or MAY has an identifier, no identifier is given twice,
// and every one that is referred to is given. Nothing else says what is to be done.
func TestRequirements(t *testing.T) {
	given, seen := requirements(t), make(map[string]bool)
	for _, file := range texts {
		for _, p := range paragraphs(t, file) {
			if strings.HasPrefix(p, "MUST, MUST NOT, SHOULD") { // which says what they mean
				continue
			}
			assert.NotRegexp(t, foreign, p, "%s: MUST, SHOULD and MAY, in capitals and with an identifier, or another word", file)
			if m := requirement.FindStringSubmatch(p); m != nil {
				assert.False(t, seen[m[1]], "%s is given twice; %s is free", m[1], next(t, m[1]))
				seen[m[1]] = true
			} else {
				assert.NotRegexp(t, normative, p, "%s: a requirement without an identifier", file)
			}
			for _, m := range reference.FindAllStringSubmatch(p, -1) {
				assert.True(t, given[m[1]], "%s is referred to and not given", m[1])
			}
		}
	}
}

// sentence is where one ends, but for the points of numbers and names.
var sentence = regexp.MustCompile(`[.:;]\s`)

// A sentence of a requirement has one condition: MUST, SHOULD or MAY once.
func TestRequirements_EachSentence_OneCondition(t *testing.T) {
	for _, file := range texts {
		for _, p := range paragraphs(t, file) {
			m := requirement.FindStringSubmatch(p)
			if m == nil {
				continue
			}
			for _, s := range sentence.Split(p, -1) {
				assert.LessOrEqual(t, len(normative.FindAllString(s, -1)), 1, "%s: two conditions in one sentence: %s", m[1], s)
			}
		}
	}
}

// packages are the folders of all packages of the project by their names.
func packages(t *testing.T) map[string][]string {
	found := make(map[string][]string)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			name := filepath.Base(filepath.Dir(path))
			found[name] = append(found[name], path)
		}
		return nil
	})
	require.NoError(t, err)
	return found
}

// errorsOf are the exported errors that a package declares.
func errorsOf(t *testing.T, files []string) map[string]bool {
	found := make(map[string]bool)
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				for _, n := range s.(*ast.ValueSpec).Names {
					if strings.HasPrefix(n.Name, "Err") {
						found[n.Name] = true
					}
				}
			}
		}
	}
	return found
}

var sentinel = regexp.MustCompile("`([a-z]+)\\.(Err[A-Za-z0-9]+)`")

// The texts that name errors.
var naming = slices.Concat(texts, []string{"../docs/guarantees.md", "../docs/configuration.md", "../docs/journal.md"})

// toName are the packages all of whose errors are in the table of refusals.
var toName = append([]string{
	"canonical", "signature", "envelope", "keyfile", "certificate", "group", "token", "wire", "journal",
	"handoff", "directory", "policy", "catalog", "member", "transport",
	"update", "api", "enrolment", "invite", "ident", "gate",
}, catalog.Names()...)

// ofTools are errors of these packages that the protocol refuses nothing by.
var ofTools = map[string]bool{"ring.ErrAlgorithm": true}

// Every error that a text names exists, and every one by which the protocol
// refuses something is named.
func TestErrors_Each_Named(t *testing.T) {
	files := packages(t)
	declared := make(map[string]map[string]bool)
	named := make(map[string]bool)
	for _, text := range naming {
		raw, err := os.ReadFile(text)
		require.NoError(t, err)
		for _, m := range sentinel.FindAllStringSubmatch(string(raw), -1) {
			if declared[m[1]] == nil {
				declared[m[1]] = errorsOf(t, files[m[1]])
			}
			assert.True(t, declared[m[1]][m[2]], "%s names %s.%s, which does not exist", text, m[1], m[2])
			if slices.Contains(texts, text) {
				named[m[1]+"."+m[2]] = true
			}
		}
	}
	for _, name := range toName {
		require.NotEmpty(t, files[name], name)
		for e := range errorsOf(t, files[name]) {
			assert.True(t, named[name+"."+e] || ofTools[name+"."+e], "no text names %s.%s", name, e)
		}
	}
}

// What the code cites as a section of the handoff rules exists.
func TestCitedSections(t *testing.T) {
	text := specification(t)
	cited := regexp.MustCompile(`handoff rules §([0-9]+)`)
	section := regexp.MustCompile(`(?m)^###? §([0-9]+) `)
	given := make(map[string]bool)
	for _, m := range section.FindAllStringSubmatch(text, -1) {
		given[m[1]] = true
	}
	for _, files := range packages(t) {
		for _, path := range files {
			source, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, m := range cited.FindAllStringSubmatch(string(source), -1) {
				assert.True(t, given[m[1]], "%s cites §%s", path, m[1])
			}
		}
	}
}

// Every link within the texts leads somewhere.
func TestLinks_EachPage_LeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]*)#?([^)\s]*)\)`)
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	for _, file := range pages(t) {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(raw), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target := filepath.Join(filepath.Dir(file), m[1])
			if m[1] == "" {
				target = file
			}
			_, err := os.Stat(target)
			if !assert.NoError(t, err, "%s links to %s", file, m[1]) || m[2] == "" {
				continue
			}
			text, err := os.ReadFile(target)
			require.NoError(t, err)
			anchors := make(map[string]bool)
			for _, h := range heading.FindAllStringSubmatch(string(text), -1) {
				anchors[anchor(h[1])] = true
			}
			assert.True(t, anchors[m[2]], "%s links to %s#%s", file, m[1], m[2])
		}
	}
}

// pages are all the project's pages.
func pages(t *testing.T) (list []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			list = append(list, path)
		}
		return nil
	}))
	require.Greater(t, len(list), 20)
	return list
}

// anchor is what a heading is linked by.
func anchor(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		}
	}
	return b.String()
}

// maxWalkWords bounds what policy/wandering.md says of the presets light and fair: whoever
// implements them has to keep it in mind.
const maxWalkWords = 2600

func TestText_LightAndFair_Bounded(t *testing.T) {
	_, text, found := strings.Cut(page(t, "policy/wandering.md"), "\n## `light` and `fair`\n")
	require.True(t, found)
	text, _, _ = strings.Cut(text, "\n## ") // the next chapter is about the weights of fair
	assert.LessOrEqual(t, len(strings.Fields(text)), maxWalkWords)
}
