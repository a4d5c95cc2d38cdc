package main

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// markdown is the form of Markdown that the pages are written in.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough),
	goldmark.WithRendererOptions(html.WithUnsafe()), // node permits comments and the tag of a line break
)

// page is one page of the site.
type page struct {
	file     string // in the repository
	title    string
	body     template.HTML
	passages []passage
	ids      map[string]bool // of its headings
	links    []link
}

// passage is what stands below one heading: for the search.
type passage struct{ heading, id, words string }

// link is what a page refers to, inside the repository.
type link struct {
	file   string // "" is the page itself
	anchor string
	image  bool
}

// read turns a page into HTML. Files that are pages of the site, it refers to as such.
func read(file string, source []byte, isPage func(file string) bool) (*page, error) {
	p := &page{file: file, ids: map[string]bool{}}
	doc := markdown.Parser().Parse(text.NewReader(source))
	var errs []error
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			if err := p.node(n, source, isPage); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", file, err))
			}
		}
		return ast.WalkContinue, nil
	})
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	if p.title == "" {
		return nil, fmt.Errorf("%s: %w: it has no heading of the first level", file, ErrMarkup)
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, doc); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	p.body = template.HTML(reachable.Replace(b.String()))
	return p, nil
}

// reachable lets people who use a keyboard scroll what is wider than the screen. In the text of a page < is written &lt;.
var reachable = strings.NewReplacer(
	"<table>", `<div class="scroll" role="region" aria-label="table" tabindex="0"><table>`, "</table>", "</table></div>",
	"<pre>", `<pre tabindex="0">`,
)

// node looks at one node of a page's tree.
func (p *page) node(n ast.Node, source []byte, isPage func(string) bool) error {
	switch n := n.(type) {
	case *ast.Heading:
		p.say(" ")
		p.heading(n, source)
	case *ast.Link:
		to, err := p.refer(string(n.Destination), false, isPage)
		n.Destination = []byte(to)
		return err
	case *ast.Image:
		to, err := p.refer(string(n.Destination), true, isPage)
		n.Destination = []byte(to)
		return err
	case *ast.HTMLBlock:
		if n.HTMLBlockType != ast.HTMLBlockType2 { // a comment
			return fmt.Errorf("%w: %s", ErrMarkup, n.Lines().Value(source))
		}
	case *ast.RawHTML:
		if tag := string(n.Segments.Value(source)); tag != "<br>" {
			return fmt.Errorf("%w: %s", ErrMarkup, tag)
		}
		p.say(" ")
	case *ast.Text:
		p.say(string(n.Segment.Value(source)))
		if n.SoftLineBreak() || n.HardLineBreak() {
			p.say(" ")
		}
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		p.say(" " + string(n.Lines().Value(source)) + " ")
	default:
		if n.Type() == ast.TypeBlock {
			p.say(" ")
		}
	}
	return nil
}

// passageLevel is the deepest level of headings that the search tells apart.
const passageLevel = 3

// heading begins a new passage, and gives the heading the name under which links find it.
func (p *page) heading(n *ast.Heading, source []byte) {
	title := plain(n, source)
	id := p.name(title)
	n.SetAttributeString("id", []byte(id))
	if p.title == "" && n.Level == 1 {
		p.title = title
	}
	if n.Level <= passageLevel || len(p.passages) == 0 {
		p.passages = append(p.passages, passage{heading: title, id: id})
	}
}

// say adds words to the present passage.
func (p *page) say(words string) {
	if len(p.passages) > 0 {
		p.passages[len(p.passages)-1].words += words
	}
}

// name makes the name of a heading as code hosts do: letters, digits, hyphens and low lines, in lower case, blanks as hyphens; a number is added
// where it is taken.
func (p *page) name(title string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, title)
	first := id
	for i := 1; p.ids[id]; i++ {
		id = fmt.Sprintf("%s-%d", first, i)
	}
	p.ids[id] = true
	return id
}

// plain is the text of a node, without markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// refer notes a link, and returns what it is on the site.
func (p *page) refer(to string, image bool, isPage func(string) bool) (string, error) {
	u, err := url.Parse(to)
	switch {
	case err != nil:
		return to, fmt.Errorf("%w: %s", ErrLink, to)
	case u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "mailto":
		if image {
			return to, fmt.Errorf("%w: the image %s is elsewhere, and the site asks no other host", ErrLink, to)
		}
		return to, nil
	case u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "/") || u.RawQuery != "":
		return to, fmt.Errorf("%w: %s", ErrLink, to)
	case u.Path == "":
		p.links = append(p.links, link{anchor: u.Fragment})
		return to, nil
	}
	file := path.Join(path.Dir(p.file), u.Path)
	if strings.HasPrefix(file, "../") {
		return to, fmt.Errorf("%w: %s is outside of the repository", ErrLink, to)
	}
	if index := path.Join(file, "README.md"); isPage(index) {
		file = index // a link to a folder
	}
	p.links = append(p.links, link{file: file, anchor: u.Fragment, image: image})
	target := file
	if isPage(file) {
		target = address(file)
	}
	u.Path = relative(p.file, target)
	return u.String(), nil
}
