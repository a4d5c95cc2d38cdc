package protocol_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/wandertoken/wander"

// floors is the order of the layers, ground floor first. A package of a floor
// may import those of lower floors only, never one beside it. The packages of
// crypto/ and protocol/ all have a floor; a new one gets its place here.
var floors = [][]string{
	{"crypto/canonical", "crypto/signature"},
	{"crypto/envelope", "crypto/keyfile"},
	{"protocol/ident", "protocol/clock", "protocol/duration", "protocol/transition", "protocol/window"},
	{"protocol/signed"},
	{"protocol/wire", "protocol/certificate", "protocol/token", "protocol/journal", "protocol/policy"},
	{"protocol/group", "protocol/effect", "protocol/invite", "protocol/policy/host"},
	{"protocol/directory", "protocol/update", "protocol/permit", "protocol/policy/wandering/papers"},
	{
		"protocol/gate", "protocol/handoff", "protocol/policy/policytest", "protocol/policy/wandering", "protocol/policy/multitoken",
		"protocol/policy/ring", "protocol/policy/uncoordinated", "protocol/policy/keeper", "protocol/policy/quorum",
	},
	{"protocol/gate/wire", "protocol/policy/catalog", "protocol/policy/wandering/liars"},
	{"protocol/evidence"},
	{"protocol/member"},
	{"protocol/audit"},
	{"protocol/audit/audittest"},
}

// drivers is the order of what stands above: paths, with all below them. The
// longest one that fits is a package's floor; within a floor Go itself refuses
// circles.
var drivers = [][]string{{"docs", "internal", "spec/conformance"}, {"node", "gate"}, {"ca", "."}, {"sim"}, {"lab"}, {"cmd", "fuzz", "soak", "spec", "release"}}

// strangers are pairs that must not know each other, not even through others.
var strangers = [][2]string{
	{"protocol/policy", "protocol/handoff"},
	{"protocol/handoff", "protocol/policy"},
	// Who tests other implementations must not share this one's mistakes.
	{"spec/conformance", "protocol/member"}, {"spec/conformance", "protocol/handoff"}, {"spec/conformance", "node"},
}

// libraries are the only foreign packages in the pure core, and who uses them.
var libraries = map[string]string{
	"crypto/canonical": "github.com/fxamacker/cbor/v2",
	"crypto/signature": "filippo.io/edwards25519",
	"crypto/keyfile":   "filippo.io/age",
}

// impure are the packages of the standard library, with those below them, that
// reach outside: network, files and environment, other processes, and
// randomness or time that is nobody's argument.
var impure = []string{
	"context", "crypto/rand", "crypto/tls", "io/ioutil", "log", "net", "os", "plugin", "runtime", "syscall", "testing",
}

// harmless are exceptions from impure.
var harmless = []string{"log/slog"} // for types that say how they are logged

// clockReaders are the names of package time that read a clock, wait, or
// depend on the machine's time zone.
var clockReaders = []string{
	"After", "AfterFunc", "LoadLocation", "Local", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until",
}

// seededOnly are the names of math/rand and math/rand/v2 that do not draw from
// the global source.
var seededOnly = []string{"ChaCha8", "New", "NewChaCha8", "NewPCG", "NewSource", "NewZipf", "PCG", "Rand", "Source", "Source64", "Zipf"}

// survey is what the files of a module say about its layers.
type survey struct {
	imports map[string][]string // of each package, non-test files only
	broken  []string            // rules that are broken, one line each
}

// inspect reads all Go files below root.
func inspect(root fs.FS) (*survey, error) {
	s := &survey{imports: map[string][]string{}}
	err := eachSource(root, s.file)
	if err == nil {
		s.checkArrows()
	}
	return s, err
}

// eachSource calls do with the Go files below root that are no tests, whatever their
// build tags.
func eachSource(root fs.FS, do func(name string, text []byte) error) error {
	return fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if base := path.Base(name); base == "testdata" || (name != "." && base[0] == '.') {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return do(name, text)
	})
}

func (s *survey) report(where, format string, args ...any) {
	s.broken = append(s.broken, where+": "+fmt.Sprintf(format, args...))
}

func pure(pkg string) bool {
	return strings.HasPrefix(pkg, "protocol/") || strings.HasPrefix(pkg, "crypto/")
}

// file notes the imports of one file, and checks it if it belongs to the pure
// core.
func (s *survey) file(name string, text []byte) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, 0)
	if err != nil {
		return err
	}
	pkg := path.Dir(name)
	s.imports[pkg] = append(s.imports[pkg], importsOf(file)...)
	if !pure(pkg) {
		return nil
	}
	for _, imported := range importsOf(file) {
		s.checkImport(name, pkg, imported)
	}
	names := namesOf(file)
	if names["."] != "" {
		s.report(name, "imports %s without a name", names["."])
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			s.report(name, "starts a goroutine in line %d", files.Position(n.Pos()).Line)
		case *ast.SelectorExpr:
			if what := selected(n, names); what != "" {
				s.report(name, "uses %s in line %d", what, files.Position(n.Pos()).Line)
			}
		}
		return true
	})
	return nil
}

func importsOf(file *ast.File) (paths []string) {
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		paths = append(paths, imported)
	}
	return paths
}

// namesOf is what the imports are called in a file.
func namesOf(file *ast.File) map[string]string {
	names := map[string]string{}
	for i, imported := range importsOf(file) {
		name := path.Base(strings.TrimSuffix(imported, "/v2"))
		if given := file.Imports[i].Name; given != nil {
			name = given.Name
		}
		names[name] = imported
	}
	return names
}

// selected is the forbidden name that an expression refers to, called or not,
// or "".
func selected(n *ast.SelectorExpr, names map[string]string) string {
	x, ok := n.X.(*ast.Ident)
	if !ok || x.Obj != nil { // a variable of that name
		return ""
	}
	imported, name := names[x.Name], n.Sel.Name
	switch {
	case imported == "time" && slices.Contains(clockReaders, name),
		strings.HasPrefix(imported, "math/rand") && !slices.Contains(seededOnly, name):
		return imported + "." + name
	}
	return ""
}

func within(pkg, root string) bool { return pkg == root || strings.HasPrefix(pkg, root+"/") }

// checkImport looks at one import of the pure core that leads out of the
// module.
func (s *survey) checkImport(name, pkg, imported string) {
	isImpure := func(root string) bool { return within(imported, root) }
	foreign := strings.Contains(strings.Split(imported, "/")[0], ".") || imported == "C" || imported == "unsafe"
	switch {
	case within(imported, module):
	case foreign && imported != libraries[pkg]:
		s.report(name, "imports %s, which has no place in the pure core", imported)
	case slices.ContainsFunc(impure, isImpure) && !slices.Contains(harmless, imported):
		s.report(name, "imports %s, which reaches outside", imported)
	}
}

// floor is the height of a package of the module, and whether it shares its
// floor with packages that it may import.
func floor(pkg string) (height int, shared, ok bool) {
	for i, packages := range floors {
		if slices.Contains(packages, pkg) {
			return i, false, true
		}
	}
	longest := ""
	for i, roots := range drivers {
		for _, root := range roots {
			if within(pkg, root) && len(root) > len(longest) {
				longest, height = root, len(floors)+i
			}
		}
	}
	return height, true, longest != ""
}

// checkArrows looks at the imports within the module.
func (s *survey) checkArrows() {
	for _, pkg := range slices.Sorted(maps.Keys(s.imports)) {
		height, shared, ok := floor(pkg)
		if !ok {
			s.report(pkg, "has no floor")
			continue
		}
		for _, to := range s.within(pkg) {
			at, _, ok := floor(to)
			if ok && (at > height || at == height && !shared) {
				s.report(pkg, "imports %s, which is not below it", to)
			}
		}
		for _, pair := range strangers {
			for to := range s.reach(pkg) {
				if within(pkg, pair[0]) && within(to, pair[1]) {
					s.report(pkg, "knows of %s", to)
				}
			}
		}
	}
}

// within is the imports of a package inside the module, each once.
func (s *survey) within(pkg string) []string {
	var list []string
	for _, imported := range s.imports[pkg] {
		if imported == module {
			list = append(list, ".")
		}
		if to, ok := strings.CutPrefix(imported, module+"/"); ok {
			list = append(list, to)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// reach is all packages of the module that a package imports, also through
// others.
func (s *survey) reach(pkg string) map[string]bool {
	seen, todo := map[string]bool{}, s.within(pkg)
	for len(todo) > 0 {
		next := todo[0]
		todo = todo[1:]
		if !seen[next] {
			seen[next] = true
			todo = append(todo, s.within(next)...)
		}
	}
	return seen
}
