package spec_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/doc"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// source reads constants of the project that are not exported, so that the text
// can be held to them.
type source struct {
	t     *testing.T
	files map[string][]string       // of the packages, by name
	trees map[string][]*ast.File    // of those that were asked for
	known map[string]constant.Value // by package and name
}

func newSource(t *testing.T) *source {
	return &source{t, packages(t), make(map[string][]*ast.File), make(map[string]constant.Value)}
}

func (s *source) tree(name string) []*ast.File {
	if s.trees[name] == nil {
		require.NotEmpty(s.t, s.files[name], "no package %s", name)
		for _, path := range s.files[name] {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution|parser.ParseComments)
			require.NoError(s.t, err)
			s.trees[name] = append(s.trees[name], file)
		}
	}
	return s.trees[name]
}

// documented is a constant with the first sentence of the comment above it, or above those
// that it follows without one.
type documented struct {
	name, doc string
	value     ast.Expr
}

// documented are the constants of a package that stand for a value of their own, in the
// order of the code.
func (s *source) documented(pkg string) (list []documented) {
	for _, file := range s.tree(pkg) {
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			comment := g.Doc
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				if v.Doc != nil {
					comment = v.Doc
				}
				for i, value := range v.Values {
					if id, is := value.(*ast.Ident); !is || id.Name != "iota" {
						list = append(list, documented{v.Names[i].Name, new(doc.Package).Synopsis(comment.Text()), value})
					}
				}
			}
		}
	}
	return list
}

// constants are their expressions.
func (s *source) constants(name string) map[string]ast.Expr {
	found := make(map[string]ast.Expr)
	for _, c := range s.documented(name) {
		found[c.name] = c.value
	}
	return found
}

// value is a constant, "package.name".
func (s *source) value(path string) constant.Value {
	if v, ok := s.known[path]; ok {
		return v
	}
	pkg, name, _ := strings.Cut(path, ".")
	expr := s.constants(pkg)[name]
	require.NotNil(s.t, expr, "no constant %s", path)
	s.known[path] = s.eval(pkg, expr)
	return s.known[path]
}

// spans are the units of package time.
var spans = map[string]time.Duration{
	"Nanosecond": time.Nanosecond, "Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
}

func (s *source) eval(pkg string, expr ast.Expr) constant.Value {
	switch e := expr.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.Ident:
		return s.value(pkg + "." + e.Name)
	case *ast.ParenExpr:
		return s.eval(pkg, e.X)
	case *ast.SelectorExpr:
		in := e.X.(*ast.Ident).Name
		if in == "time" {
			return constant.MakeInt64(int64(spans[e.Sel.Name]))
		}
		return s.value(in + "." + e.Sel.Name)
	case *ast.BinaryExpr:
		x, y := s.eval(pkg, e.X), s.eval(pkg, e.Y)
		if e.Op == token.SHL || e.Op == token.SHR {
			n, _ := constant.Uint64Val(y)
			return constant.Shift(x, e.Op, uint(n))
		}
		if e.Op == token.QUO && x.Kind() == constant.Int && y.Kind() == constant.Int {
			return constant.BinaryOp(x, token.QUO_ASSIGN, y) // of whole numbers
		}
		return constant.BinaryOp(x, e.Op, y)
	}
	require.Fail(s.t, "not a constant that is understood", "%T", expr)
	return nil
}

// isSpan reports whether a constant is a time.Duration: it is made of one.
func (s *source) isSpan(path string) bool {
	pkg, name, _ := strings.Cut(path, ".")
	span := false
	ast.Inspect(s.constants(pkg)[name], func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			in, isName := sel.X.(*ast.Ident)
			span = span || isName && in.Name == "time"
		}
		return true
	})
	return span
}

// show is a constant as a table has it.
func (s *source) show(path string) string {
	v := s.value(path)
	if s.isSpan(path) {
		n, _ := constant.Int64Val(v)
		return fmt.Sprint(time.Duration(n))
	}
	return v.String()
}

// objectLimits are the three bounds of an object: the first canonical.Limits that
// a package gives to the name.
func (s *source) objectLimits(pkg, name string) (bounds [3]string) {
	for _, file := range s.tree(pkg) {
		ast.Inspect(file, func(n ast.Node) bool {
			var made []ast.Expr
			switch n := n.(type) {
			case *ast.ValueSpec:
				if n.Names[0].Name == name {
					made = n.Values
				}
			case *ast.AssignStmt:
				if id, ok := n.Lhs[0].(*ast.Ident); ok && id.Name == name {
					made = n.Rhs
				}
			}
			if len(made) == 1 && bounds[0] == "" {
				if lit, ok := made[0].(*ast.CompositeLit); ok {
					s.fill(pkg, lit, &bounds)
				}
			}
			return true
		})
	}
	require.NotContains(s.t, bounds, "", "%s.%s", pkg, name)
	return bounds
}

func (s *source) fill(pkg string, lit *ast.CompositeLit, bounds *[3]string) {
	places := map[string]int{"MaxBytes": 0, "MaxDepth": 1, "MaxItems": 2}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if at, ok := places[kv.Key.(*ast.Ident).Name]; ok {
				bounds[at] = s.eval(pkg, kv.Value).String()
			}
		}
	}
}

// objectTable is what an object may have.
func objectTable(t *testing.T) *table {
	s := newSource(t)
	out := newTable("object", "bytes", "depth", "items")
	for _, o := range []struct{ what, pkg, name string }{
		{"payload of `authority`", "group", "authorityLimits"},
		{"payload of `configuration`", "group", "configLimits"},
		{"payload of `certificate-claims`, `endpoint`, `revocation`, `leave`, `failure`, `request`", "certificate", "payloadLimits"},
		{"payload of `genesis`, `transfer`, `answer`", "token", "payloadLimits"},
		{"fields of a message", "wire", "messageLimits"},
		{"`update`", "update", "limits"},
		{"`update` of an unknown kind", "update", "laterLimits"},
		{"`preamble`", "transport", "preambleLimits"},
		{"`dialled-back`", "transport", "backLimits"},
		{"`entry` of a journal", "journal", "recordLimits"},
		{"`private-key`, `public-key`", "keyfile", "limits"},
		{"`evidence-file`", "evidence", "limits"},
	} {
		b := s.objectLimits(o.pkg, o.name)
		out.row(o.what, b[0], b[1], b[2])
	}
	return out
}

// walkerNumbers are what the presets light and fair compute with, as far as others see it.
var walkerNumbers = []string{
	"minFreshness", "lightDivisor", "fairDivisor", "replyLeast", "replyMost", "credible", "hurry", "idleRound", "fewTimekeepers",
	"confirmations", "readsAtOnce", "readPauseLeast", "readPauseMost",
}

// keeperNumbers are what the members that find a lost token compute with, as far as
// others see it.
var keeperNumbers = []string{
	"retries", "ranks", "restAfter", "restAgain", "reportPause", "foundingTime", "maxChain", "maxLeaps",
	"maxAgain", "muteTime", "secondOpinion", "nextPause", "maxPassed", "maxInquests", "strikeTimes", "restarts", "wrongClock",
	"denialTimes", "excuseTimes", "maxExcuses", "pauseTimes", "maxMinted", "maxForgotten",
}

// voteNumbers are what members compute with that ask for votes.
var voteNumbers = []string{"killTime", "driftRatio"}

// beside is a constant with its number in the text: `name` (3), `name` (2 seconds).
var beside = regexp.MustCompile("`([a-zA-Z]+)`\\s+\\(([0-9.]+)(?:\\s+([a-z]+))?\\)")

// mentioned is anything that could be the name of a constant: two words in one.
var mentioned = regexp.MustCompile("`((?:max|min|Max)?[a-z]*[A-Z][a-zA-Z]+)`")

// A constant that a text names has its number beside it where it comes first in that
// text, and the number is the code's.
func TestNumbers_Each_BesideItsName(t *testing.T) {
	code, paths := newSource(t), make(map[string]string)
	for _, b := range code.bounds() {
		for _, path := range b.paths {
			paths[path[strings.Index(path, ".")+1:]] = path
		}
	}
	for _, name := range walkerNumbers {
		paths[name] = "wandering." + name
	}
	for _, name := range keeperNumbers {
		paths[name] = "keeper." + name
	}
	for _, name := range voteNumbers {
		paths[name] = "quorum." + name
	}
	named := make(map[string]bool)
	for _, file := range texts {
		if file != "limits.md" { // which has them in a column
			numbersIn(t, file, code, paths, named)
		}
	}
	assert.Greater(t, len(named), 25)
	for _, name := range slices.Concat(walkerNumbers, keeperNumbers, voteNumbers) {
		assert.Contains(t, named, name, "no text says how much %s is", name)
	}
}

// numbersIn looks at one text, and adds the constants to named that have numbers in it.
func numbersIn(t *testing.T, file string, code *source, paths map[string]string, named map[string]bool) {
	text, numbers := page(t, file), make(map[string]int)
	for _, m := range beside.FindAllStringSubmatchIndex(text, -1) {
		name, number, unit := text[m[2]:m[3]], text[m[4]:m[5]], ""
		if m[6] >= 0 {
			unit = text[m[6]:m[7]]
		}
		path, known := paths[name]
		if !known {
			continue
		}
		value := code.show(path)
		if seconds, ok := map[string]float64{"seconds": 1, "second": 1, "milliseconds": 1e-3}[unit]; ok {
			n, err := strconv.ParseFloat(number, 64)
			require.NoError(t, err)
			number = (time.Duration(n * seconds * float64(time.Second))).String()
		}
		assert.Equal(t, value, number, "%s in %s", name, file)
		named[name] = true
		if _, again := numbers[name]; !again {
			numbers[name] = m[0]
		}
	}
	first := make(map[string]bool)
	for _, m := range mentioned.FindAllStringSubmatchIndex(text, -1) {
		name := text[m[2]:m[3]]
		if _, known := paths[name]; !known || first[name] {
			continue
		}
		first[name] = true
		at, has := numbers[name]
		assert.True(t, has && at == m[0], "`%s` comes first in %s without its number", name, file)
	}
}
