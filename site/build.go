package main

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/sim/plan"
)

//go:embed assets
var assets embed.FS

var layouts = template.Must(template.ParseFS(assets, "assets/*.html"))

// Files of the site that are no pages.
const (
	indexFile     = "search.json"    // what the search reads
	simulatorFile = "simulator.wasm" // what the front page runs
	frontFile     = "index.html"
	glueFile      = "wasm_exec.js" // of the Go distribution that compiled the simulator
	mark          = ".wander-site" // says that a folder is a site, and may be replaced
)

// front are the pictures of the front page.
var front = []string{"docs/figures/reproduction.svg", "docs/figures/journal-fig2.svg", "docs/figures/multitoken-fig1.svg"}

// Made is what a build has made.
type Made struct{ Pages, Files, Sections int }

// Build builds the site of the repository in root. The folder becomes the new site when everything is there, and stays as it is if
// anything is wrong: all dead links are in the error.
func Build(root, folder string) (Made, error) {
	if err := replaceable(folder); err != nil {
		return Made{}, err
	}
	b := builder{root: os.DirFS(root), pages: map[string]*page{}, copied: map[string]bool{}}
	if err := b.readAll(); err != nil {
		return Made{}, err
	}
	next := filepath.Clean(folder) + ".next"
	if err := os.RemoveAll(next); err != nil {
		return Made{}, err
	}
	b.folder = next
	err := errors.Join(b.write(), compile(root, next))
	if err == nil {
		err = os.RemoveAll(folder)
	}
	if err == nil {
		err = os.Rename(next, folder)
	}
	if err != nil {
		return Made{}, errors.Join(err, os.RemoveAll(next))
	}
	return Made{len(b.files) + 1, len(b.copied), b.passages}, nil
}

// replaceable refuses a folder with anything in it but a site.
func replaceable(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(folder, mark)); err != nil && len(entries) > 0 {
		return fmt.Errorf("%s: %w", folder, ErrFolder)
	}
	return nil
}

// builder is one build.
type builder struct {
	root     fs.FS
	folder   string
	files    []string // of the pages, in order
	pages    map[string]*page
	copied   map[string]bool // other files
	passages int
}

func (b *builder) isPage(file string) bool { return slices.Contains(b.files, file) }

// readAll reads all pages and checks their links.
func (b *builder) readAll() (err error) {
	if b.files, err = outline(b.root, sections); err != nil {
		return err
	}
	var errs []error
	for _, f := range b.files {
		source, err := fs.ReadFile(b.root, f)
		if err != nil {
			return err
		}
		p, err := read(f, source, b.isPage)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		b.pages[f] = p
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, f := range b.files {
		errs = append(errs, b.check(b.pages[f])...)
	}
	for _, s := range sections {
		for _, e := range s.entries {
			if e.anchor != "" && !b.pages[e.file].ids[e.anchor] {
				errs = append(errs, fmt.Errorf("site/pages.go: %w: %s#%s", ErrLink, e.file, e.anchor))
			}
		}
	}
	for _, f := range front {
		b.copied[f] = true
		if _, err := fs.Stat(b.root, f); err != nil {
			errs = append(errs, fmt.Errorf("site/build.go: %w: %s", ErrLink, f))
		}
	}
	return errors.Join(errs...)
}

// check looks whether a page's links lead somewhere, and notes the files that have to be on the site.
func (b *builder) check(p *page) (errs []error) {
	for _, l := range p.links {
		to := b.pages[l.file]
		if l.file == "" {
			to = p
		}
		if to != nil {
			if l.anchor != "" && !to.ids[l.anchor] {
				errs = append(errs, fmt.Errorf("%s: %w: %s has no heading #%s", p.file, ErrLink, to.file, l.anchor))
			}
			continue
		}
		info, err := fs.Stat(b.root, l.file)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w: there is no %s", p.file, ErrLink, l.file))
		case info.IsDir(), path.Ext(l.file) == ".md":
			errs = append(errs, fmt.Errorf("%s: %w: %s is not a page of the site", p.file, ErrLink, l.file))
		default:
			b.copied[l.file] = true
		}
	}
	return errs
}

// view is what the layouts show.
type view struct {
	Title    string
	Root     string // the way to the top of the site: "", "../" and so on
	Body     template.HTML
	Sections []navigation
	Before   *entryView
	After    *entryView

	// Of the front page.
	Policies []policyView
	MaxShown int
}

type navigation struct {
	Title   string
	Open    bool
	Entries []entryView
}

type entryView struct {
	Title, Address string
	Here           bool
}

type policyView struct {
	Name    string
	Presets []string
}

// navigation is what leads from a page to all others.
func (b *builder) navigation(from string) []navigation {
	var all []navigation
	for _, s := range sections {
		n := navigation{Title: s.title}
		for _, e := range s.entries {
			v := b.entry(from, e)
			n.Open = n.Open || v.Here
			n.Entries = append(n.Entries, v)
		}
		all = append(all, n)
	}
	return all
}

func (b *builder) entry(from string, e entry) entryView {
	v := entryView{Title: e.title, Address: relative(from, address(e.file)), Here: from == e.file && e.anchor == ""}
	if v.Title == "" {
		v.Title = b.pages[e.file].title
	}
	if e.anchor != "" {
		v.Address += "#" + e.anchor
	}
	return v
}

// write writes all files but the simulator.
func (b *builder) write() error {
	for i, f := range b.files {
		p := b.pages[f]
		v := view{Title: p.title, Root: strings.Repeat("../", strings.Count(f, "/")), Body: p.body, Sections: b.navigation(f)}
		if i > 0 {
			before := b.entry(f, entry{file: b.files[i-1]})
			v.Before = &before
		}
		if i+1 < len(b.files) {
			after := b.entry(f, entry{file: b.files[i+1]})
			v.After = &after
		}
		if err := b.render(address(f), "page.html", v); err != nil {
			return err
		}
	}
	v := view{Title: "wander", Sections: b.navigation(""), MaxShown: plan.MaxShown}
	for _, name := range catalog.Names() {
		p := policyView{Name: name}
		for _, preset := range catalog.Presets(name) {
			p.Presets = append(p.Presets, preset.Name)
		}
		v.Policies = append(v.Policies, p)
	}
	if err := b.render(frontFile, "front.html", v); err != nil {
		return err
	}
	for _, f := range slices.Sorted(maps.Keys(b.copied)) {
		if err := b.copy(b.root, f, f); err != nil {
			return err
		}
	}
	for _, f := range []string{"site.css", "site.js", "front.js", "worker.js", "icon.svg"} {
		if err := b.copy(assets, "assets/"+f, f); err != nil {
			return err
		}
	}
	if err := b.put(mark, nil); err != nil {
		return err
	}
	return b.writeIndex()
}

// found is one passage in the index of the search. The names are short, as there are thousands of them.
type found struct {
	Page    string `json:"p"`
	Title   string `json:"t"`
	Heading string `json:"h"`
	ID      string `json:"a"`
	Words   string `json:"w"`
}

func (b *builder) writeIndex() error {
	var all []found
	for _, f := range b.files {
		p := b.pages[f]
		for _, s := range p.passages {
			all = append(all, found{address(f), p.title, s.heading, s.id, strings.Join(strings.Fields(s.words), " ")})
		}
	}
	b.passages = len(all)
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return b.put(indexFile, text)
}

func (b *builder) render(file, layout string, v view) error {
	var text strings.Builder
	if err := layouts.ExecuteTemplate(&text, layout, v); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return b.put(file, []byte(text.String()))
}

func (b *builder) copy(from fs.FS, name, to string) error {
	text, err := fs.ReadFile(from, name)
	if err != nil {
		return err
	}
	return b.put(to, text)
}

func (b *builder) put(name string, text []byte) error {
	file := filepath.Join(b.folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// compile compiles the simulator with the Go command, and takes from its distribution what starts such programs in a browser.
func compile(root, folder string) error {
	target, err := filepath.Abs(filepath.Join(folder, simulatorFile))
	if err != nil {
		return err
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", target, "./site/simulator")
	build.Dir = root
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("the simulator cannot be compiled: %w\n%s", err, out)
	}
	ask := exec.Command("go", "env", "GOROOT")
	ask.Dir = root
	where, err := ask.Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(where)), "lib", "wasm", glueFile))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, glueFile), text, 0o644)
}
