// Command exports lists the exported names that no other package of the module uses:
//
//	go run ./internal/exports
//
// It prints one line for each and exits with 1 if there is any, as .ci/run wants none. It
// reads the module as Linux builds it, on any system.
//
// Tests in the same package do not count as users. Tests in packages of their own (package
// x_test) do, and so does an example there: what is exported for programs of others needs
// one that shows what it is for. A method has a user if an interface names it, of this
// module or of a package that it imports.
package main

import (
	"fmt"
	"go/types"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

const module = "github.com/wandertoken/wander"

func main() {
	list, err := unused(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "exports:", err)
		os.Exit(2)
	}
	for _, line := range list {
		fmt.Println(line)
	}
	if len(list) > 0 {
		fmt.Fprintf(os.Stderr, "exports: %d exported names that no other package uses: unexport or remove them\n", len(list))
		os.Exit(1)
	}
}

// unused returns "position: name" of each exported name without a user, sorted, of the
// module in this directory.
func unused(dir string) ([]string, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadSyntax, Dir: dir, Env: append(os.Environ(), "GOOS=linux"), Tests: true,
	}, "./...")
	if err != nil {
		return nil, err
	}
	s := survey{used: map[string]bool{}, methods: map[string]bool{}}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			err = fmt.Errorf("%s: %w", p.PkgPath, e)
		}
		s.interfaces(p)
		if strings.HasPrefix(p.PkgPath, module) {
			s.uses(p)
		}
	})
	if err != nil {
		return nil, err
	}
	var list []string
	for _, p := range loaded {
		if p.Name != "main" && !strings.Contains(p.ID, "[") && !strings.HasSuffix(p.PkgPath, ".test") && !strings.HasSuffix(p.PkgPath, "_test") {
			list = append(list, s.without(p)...)
		}
	}
	slices.Sort(list)
	return list, nil
}

// survey is who uses which names. A name is its package, type if it is a method, and itself.
type survey struct {
	used    map[string]bool // by another package
	methods map[string]bool // names of the methods of all interfaces: something may call them
}

// nameOf names an object of a package's scope, or a method of a type there.
func nameOf(o types.Object) string {
	if o.Pkg() == nil {
		return ""
	}
	if f, ok := o.(*types.Func); ok {
		o = f.Origin()
		if r := f.Signature().Recv(); r != nil {
			if n := named(r.Type()); n != nil {
				return o.Pkg().Path() + "." + n.Obj().Name() + "." + o.Name()
			}
			return ""
		}
	}
	if o.Parent() != o.Pkg().Scope() {
		return ""
	}
	return o.Pkg().Path() + "." + o.Name()
}

func named(t types.Type) *types.Named {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, _ := types.Unalias(t).(*types.Named)
	return n
}

// interfaces collects the methods that a package's interfaces have.
func (s *survey) interfaces(p *packages.Package) {
	if p.Types == nil {
		return
	}
	for _, name := range p.Types.Scope().Names() {
		if i, ok := p.Types.Scope().Lookup(name).Type().Underlying().(*types.Interface); ok {
			for m := range i.Methods() {
				s.methods[m.Name()] = true
			}
		}
	}
	if p.TypesInfo == nil {
		return
	}
	for _, v := range p.TypesInfo.Types {
		if i, ok := v.Type.(*types.Interface); ok && v.IsType() {
			for m := range i.Methods() {
				s.methods[m.Name()] = true
			}
		}
	}
}

// uses notes what a package uses of others.
func (s *survey) uses(p *packages.Package) {
	if p.TypesInfo == nil {
		return
	}
	for _, o := range p.TypesInfo.Uses {
		if o.Pkg() != nil && o.Pkg().Path() != p.PkgPath {
			s.used[nameOf(o)] = true
		}
	}
}

// without returns the exported names of a package that nobody uses. A type that a used
// name shows, in a signature or an exported field, is used, and so are the constants of
// such a type: half of an enumeration would be odd.
func (s *survey) without(p *packages.Package) (list []string) {
	scope := p.Types.Scope()
	enumerations := map[types.Type]bool{}
	shown := map[types.Type]bool{}
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		if !s.used[nameOf(o)] {
			continue
		}
		s.shows(p.Types, o.Type(), shown)
		if _, ok := o.(*types.Const); ok {
			enumerations[o.Type()] = true
		}
	}
	here, _ := os.Getwd()
	at := func(o types.Object) string {
		pos := p.Fset.Position(o.Pos())
		return strings.TrimPrefix(fmt.Sprintf("%s:%d", pos.Filename, pos.Line), here+"/")
	}
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		if !o.Exported() {
			continue
		}
		_, isConst := o.(*types.Const)
		_, isVar := o.(*types.Var)
		_, isType := o.(*types.TypeName)
		switch {
		case s.used[nameOf(o)]:
		case isVar && strings.HasPrefix(name, "Err"): // a sentinel is for errors.Is
		case isConst && named(o.Type()) != nil && (enumerations[o.Type()] || shown[o.Type()]):
		case isType && shown[o.Type()]:
		default:
			list = append(list, fmt.Sprintf("%s: %s", at(o), name))
			continue
		}
		n := named(o.Type())
		if !isType || n == nil {
			continue
		}
		for m := range n.Methods() {
			if m.Exported() && !s.used[nameOf(m)] && !s.methods[m.Name()] {
				list = append(list, fmt.Sprintf("%s: %s.%s", at(m), name, m.Name()))
			}
		}
	}
	return list
}

// shows adds the types of a package that a type names where others see it.
func (s *survey) shows(p *types.Package, t types.Type, shown map[types.Type]bool) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		for a := range t.TypeArgs().Types() {
			s.shows(p, a, shown)
		}
		if shown[t] || t.Obj().Pkg() != p {
			return
		}
		shown[t] = true
		s.shows(p, t.Underlying(), shown)
		for m := range t.Methods() {
			if m.Exported() && (s.used[nameOf(m)] || s.methods[m.Name()]) {
				s.shows(p, m.Type(), shown)
			}
		}
	case *types.Pointer:
		s.shows(p, t.Elem(), shown)
	case *types.Slice:
		s.shows(p, t.Elem(), shown)
	case *types.Array:
		s.shows(p, t.Elem(), shown)
	case *types.Chan:
		s.shows(p, t.Elem(), shown)
	case *types.Map:
		s.shows(p, t.Key(), shown)
		s.shows(p, t.Elem(), shown)
	case *types.Signature:
		s.shows(p, t.Params(), shown)
		s.shows(p, t.Results(), shown)
	case *types.Tuple:
		for v := range t.Variables() {
			s.shows(p, v.Type(), shown)
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				s.shows(p, f.Type(), shown)
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			s.shows(p, m.Type(), shown)
		}
	}
}
