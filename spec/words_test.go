package spec_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// replaced is a word that the project no longer has for a concept.
type replaced struct {
	use    string            // the word that stands for the concept now
	names  string            // names in Go that are gone, each of the whole module (lease) or of one package (handoff.World)
	phrase string            // an expression for what is gone from prose
	except map[string]string // where the old one may still be, a folder or a file, and why
}

// results are where the text of past runs is, which is rendered anew only with their samples.
var results = map[string]string{
	"lab/experiment":       "its text is rendered into the pages of results",
	"docs/reproduction.md": "rendered by lab/experiment",
	"docs/register.md":     "rendered by lab/experiment",
}

// replacedWords has a row for each concept that had two words. A word that also means
// something else is gone from the names of one package only, or as part of a phrase.
var replacedWords = []replaced{
	{use: "lateness", names: "member.doubt"},
	{use: "health multiplier", names: "member.patience"},
	{use: "gotUnknown", names: "handoff.doubtful"},
	{use: "awaitingKey", names: "audit.doubtful"},
	{use: "timekeeper", names: "testimony"},
	{use: "ConflictDetector", names: "evidence.Witness evidence.NewWitness handoff.Witness"},
	{use: "closedBelow", names: "settledFor settledBelow"},
	{use: "PassEnded", names: "PassSettled"},
	{use: "caughtUp", names: "isSettled"},
	{use: "updateRole", names: "directory.settle directory.seat"},
	{use: "verifiedTransfer", names: "parcel parcels"},
	{use: "grant", names: "lease leases Lease"},
	{use: "monitor", names: "policyWatch"},
	{use: "ErrUnresponsive", names: "ErrSilent"},
	{use: "eligible", names: "Standing Standings directory.Status", phrase: `\bgood standing\b`},
	{use: "notify", names: "member.tell"},
	{use: "send", names: "tellPeer"},
	{use: "disseminate", names: "tellJoined member.talk member.spread"},
	{use: "observation", names: "sighting sightings"},
	{use: "FromCheckpoint", names: "Carried"},
	{use: "perform", names: "carryOut", phrase: `\bcarr(y|ies|ied|ying) ((the|its|his|their|an?|one) \S+ |it |them )?out\b`},
	{use: "Environment", names: "handoff.World"},
	{use: "Simulation", names: "circulation.World"},
	{use: "policyEvent", names: "happening"},
	{use: "memberCounts", names: "census"},
	{use: "oracle", names: "cluster.ledger"},
	{use: "RecordRef", names: "audit.Place"},
	// The first of two words won here.
	{use: "title", names: "CustodyProof"},
	{use: "roster", names: "PeerSelector"},
	{use: "floor", names: "lowWater"},
	// Phrases.
	{use: "exchange digests", phrase: `\bcompar(e|es|ed|ing) notes\b`},
	{use: "departed", phrase: `\bno member any ?more\b`},
	{use: "suspect", phrase: `\b(take|takes|took|taken|taking) (\S+ ){0,2}for dead\b`},
	{use: "declared failed", phrase: `\bstate[sd]? (it )?failed\b`},
	{use: "released", phrase: `\b(let|lets|letting) go of\b`},
	{use: "failed, timed out", phrase: `\b(come|comes|came) to nothing\b`},
	{use: "is in, are in", phrase: `\b(stands?|stood) in (a|an|the) (file|page|table|text|journal|record|object|list|frame)s?\b`, except: results},
	{use: "permanently, or without end of what goes on", phrase: `\bfor ever\b`, except: results},
	{use: "in progress", phrase: `\bunder way\b`, except: results},
	{use: "about", phrase: `\bsome [0-9][0-9,]* `, except: results},
}

// spoken is what a Go file declares and says.
type spoken struct {
	file   string // below the module's root
	names  []string
	texts  []string // comments, error messages, and all that a driver or a command says
	silent []string // exported names without a comment
}

// goSources are the Go files of the module.
func goSources(t *testing.T) []spoken {
	t.Helper()
	list, err := readSources()
	require.NoError(t, err)
	require.Greater(t, len(list), 1000)
	return list
}

var readSources = sync.OnceValues(func() (list []spoken, err error) {
	err = filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case filepath.Ext(file) != ".go":
			return nil
		}
		s, err := readSource(file)
		list = append(list, s)
		return err
	})
	return list, err
})

func readSource(file string) (spoken, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return spoken{}, err
	}
	s := spoken{file: filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))}
	for _, c := range parsed.Comments {
		s.texts = append(s.texts, oneLine(c.Text()))
	}
	speaks := !strings.HasSuffix(file, "_test.go") && (strings.HasPrefix(s.file, "cmd/") || strings.HasPrefix(s.file, "node/"))
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			s.names = append(s.names, n.Name.Name)
			s.document(n.Doc != nil || n.Recv != nil && (conventional[n.Name.Name] || !ast.IsExported(receiver(n))), n.Name)
		case *ast.GenDecl:
			for _, x := range n.Specs {
				switch x := x.(type) {
				case *ast.TypeSpec:
					s.document(n.Doc != nil || x.Doc != nil || x.Comment != nil, x.Name)
				case *ast.ValueSpec:
					s.document(n.Doc != nil || x.Doc != nil || x.Comment != nil, x.Names...)
				}
			}
		case *ast.TypeSpec:
			s.names = append(s.names, n.Name.Name)
		case *ast.ValueSpec:
			s.declare(n.Names)
		case *ast.Field:
			s.declare(n.Names)
		case *ast.CallExpr:
			if isError(n) {
				s.say(n.Args[0])
			}
		case *ast.BasicLit:
			if speaks {
				s.say(n)
			}
		}
		return true
	})
	return s, nil
}

func (s *spoken) declare(names []*ast.Ident) {
	for _, n := range names {
		s.names = append(s.names, n.Name)
	}
}

// document notes the exported names of a declaration that has no comment.
func (s *spoken) document(has bool, names ...*ast.Ident) {
	for _, n := range names {
		if !has && n.IsExported() && !strings.HasSuffix(s.file, "_test.go") {
			s.silent = append(s.silent, n.Name)
		}
	}
}

// receiver is the type that a method belongs to.
func receiver(f *ast.FuncDecl) string {
	x := f.Recv.List[0].Type
	if p, ok := x.(*ast.StarExpr); ok {
		x = p.X
	}
	switch t := x.(type) {
	case *ast.IndexExpr:
		x = t.X
	case *ast.IndexListExpr:
		x = t.X
	}
	return x.(*ast.Ident).Name
}

func (s *spoken) say(x ast.Expr) {
	if l, ok := x.(*ast.BasicLit); ok && l.Kind == token.STRING {
		s.texts = append(s.texts, oneLine(l.Value))
	}
}

// isError reports whether a call makes an error of a text.
func isError(c *ast.CallExpr) bool {
	f, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || len(c.Args) == 0 {
		return false
	}
	x, ok := f.X.(*ast.Ident)
	return ok && (x.Name == "errors" && f.Sel.Name == "New" || x.Name == "fmt" && f.Sel.Name == "Errorf")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// excused reports whether a row has the file among its exceptions.
func (r *replaced) excused(file string) bool {
	for place := range r.except {
		if file == place || strings.HasPrefix(file, place+"/") {
			return true
		}
	}
	return false
}

// A word that another one has replaced does not come back.
func TestWords_Replaced_AreGone(t *testing.T) {
	byName := make(map[string]*replaced)
	type phrase struct {
		is  *regexp.Regexp
		row *replaced
	}
	var phrases []phrase
	for i := range replacedWords {
		r := &replacedWords[i]
		for _, name := range strings.Fields(r.names) {
			byName[name] = r
		}
		if r.phrase != "" {
			phrases = append(phrases, phrase{regexp.MustCompile(`(?i)` + r.phrase), r})
		}
	}
	check := func(file, text string) {
		for _, p := range phrases {
			if at := p.is.FindStringIndex(text); at != nil && !p.row.excused(file) {
				t.Errorf("%s: %q: the word is %s", file, text[max(0, at[0]-30):min(len(text), at[1]+30)], p.row.use)
			}
		}
	}
	for _, s := range goSources(t) {
		for _, name := range s.names {
			for _, n := range []string{name, path.Base(path.Dir(s.file)) + "." + name} {
				if r := byName[n]; r != nil && !r.excused(s.file) {
					t.Errorf("%s: %s: the word is %s", s.file, n, r.use)
				}
			}
		}
		for _, text := range s.texts {
			check(s.file, text)
		}
	}
	for _, file := range pages(t) {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		for text := range strings.SplitSeq(string(raw), "\n\n") {
			check(filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator))), oneLine(text))
		}
	}
}

// Each exception of a word is still needed.
func TestWords_Exceptions_Needed(t *testing.T) {
	for _, r := range replacedWords {
		for place, why := range r.except {
			_, err := os.Stat(filepath.Join("..", place))
			assert.NoError(t, err, r.use)
			assert.NotEmpty(t, why, r.use)
		}
	}
}

var (
	// oneSubject is the name of a test of all about it: at most two words.
	oneSubject = regexp.MustCompile(`^Test([A-Z]+[a-z0-9]*){1,2}$`)
	// threeParts is a name with what is tested, when, and what is to come of it. Either of
	// the latter may have two parts, or none.
	threeParts = regexp.MustCompile(`^Test[A-Z][A-Za-z0-9]*(_[A-Z0-9][A-Za-z0-9]*){1,3}$`)
)

// A test is named after its subject, the condition and the result.
func TestNames_EachTest_SubjectConditionResult(t *testing.T) {
	for _, s := range goSources(t) {
		if !strings.HasSuffix(s.file, "_test.go") {
			continue
		}
		for _, name := range s.names {
			if strings.HasPrefix(name, "Test") && !oneSubject.MatchString(name) && !threeParts.MatchString(name) {
				t.Errorf("%s: %s", s.file, name)
			}
		}
	}
}

// conventional are methods whose meaning their interface says: of the standard library, or of
// CBOR's and the command line's libraries.
var conventional = map[string]bool{
	"String": true, "Error": true, "Unwrap": true, "Is": true, "Len": true, "Less": true, "Swap": true, "Push": true, "Pop": true,
	"Set": true, "Type": true, "Read": true, "Write": true, "Close": true,
}

// Each exported name has a comment. Staticcheck sees to it that it begins with the name.
func TestComments_EachExportedName_Present(t *testing.T) {
	for _, s := range goSources(t) {
		for _, name := range s.silent {
			t.Errorf("%s: %s has no comment", s.file, name)
		}
	}
}
