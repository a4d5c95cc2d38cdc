package spec

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/cddl"
)

// quoted is a rule as a comment in the code quotes it.
type quoted struct {
	where string
	text  string
}

// sources are the folders whose comments may quote CDDL.
var sources = []string{"../crypto", "../protocol", "../node"}

// ruleStart is how a block of a comment begins that is a rule: a name, perhaps
// a parameter, and the beginning of an array, a map, a group or a tag.
var ruleStart = regexp.MustCompile(`^[a-z][a-z0-9-]*(<[a-z]+>)? = (\[|\{|\(|#6)`)

// quotes finds the rules that are in comments.
func quotes(t *testing.T) []quoted {
	var list []quoted
	for _, dir := range sources {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			list = append(list, quotesIn(t, path)...)
			return nil
		})
		require.NoError(t, err)
	}
	return list
}

func quotesIn(t *testing.T, path string) []quoted {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	require.NoError(t, err)
	var list []quoted
	for _, c := range file.Comments {
		for _, block := range blocks(c) {
			if ruleStart.MatchString(block) {
				list = append(list, quoted{where: files.Position(c.Pos()).String(), text: block})
			}
		}
	}
	return list
}

// blocks are the indented parts of a comment.
func blocks(c *ast.CommentGroup) []string {
	var list []string
	open := false
	for line := range strings.Lines(c.Text()) {
		text, indented := strings.CutPrefix(line, "\t")
		switch {
		case indented && open:
			list[len(list)-1] += text
		case indented:
			list = append(list, text)
		}
		open = indented
	}
	return list
}

// schemaFiles are the files with rules, by the folders whose comments quote
// them; all other folders quote wire.cddl.
var schemaFiles = map[string]string{
	"/protocol/journal/": "journal.cddl", "/protocol/invite/": "enrolment.cddl", "/node/enrolment/": "enrolment.cddl",
}

func schemaOf(where string) string {
	for folder, file := range schemaFiles {
		if strings.Contains(filepath.ToSlash(where), folder) {
			return file
		}
	}
	return "wire.cddl"
}

// What a comment in the code says of an object's shape is what the CDDL says.
func TestComments_Quotes_AsInTheCDDL(t *testing.T) {
	schemas, found := make(map[string]*cddl.Schema), make(map[string]map[string]bool)
	for _, file := range []string{"wire.cddl", "journal.cddl", "enrolment.cddl"} {
		schemas[file], found[file] = load(t, file), make(map[string]bool)
	}
	for _, q := range quotes(t) {
		tokens, err := cddl.Tokens(q.text)
		if !assert.NoError(t, err, q.where) {
			continue
		}
		file := schemaOf(q.where)
		rule := schemas[file].Tokens(tokens[0])
		if assert.NotNil(t, rule, "%s: there is no rule %s", q.where, tokens[0]) {
			assert.Equal(t, rule, tokens, q.where)
		}
		found[file][tokens[0]] = true
	}
	for file, schema := range schemas {
		for _, name := range schema.Names() {
			assert.True(t, found[file][name] || withoutType[name] || isSigned(name), "no comment quotes %s of %s", name, file)
		}
	}
}

// withoutType are the rules that describe nothing that is a type of its own in
// the code.
var withoutType = map[string]bool{
	"hash": true, "group": true, "member": true, "extensions": true, "kind": true, "sig-structure": true,
	"external-aad": true, "message": true, "private-key": true, "public-key": true, "record": true,
}

// isSigned reports whether a rule is that of an object with its envelope.
func isSigned(name string) bool { return strings.HasPrefix(name, "signed-") }
