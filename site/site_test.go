package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the folder of the repository.
const root = ".."

// All pages of the repository can be built, and no link of theirs is dead.
func TestBuild_Repository_NoDeadLink(t *testing.T) {
	b := builder{root: os.DirFS(root), pages: map[string]*page{}, copied: map[string]bool{}, folder: t.TempDir()}
	require.NoError(t, b.readAll())
	require.NoError(t, b.write())
	for _, f := range b.files {
		text, err := os.ReadFile(filepath.Join(b.folder, filepath.FromSlash(address(f))))
		require.NoError(t, err)
		for _, no := range []string{"style=", "<script>", "onclick", "src=\"http", "<link rel=\"stylesheet\" href=\"http"} {
			assert.NotContains(t, strings.ReplaceAll(string(text), "<code>", ""), no, f)
		}
		assert.Contains(t, string(text), `aria-current="page"`, f)
	}
	assert.Greater(t, b.passages, 10*len(b.files), "the search has passages")
	assert.FileExists(t, filepath.Join(b.folder, "docs", "figures", "reproduction.svg"))
	assert.FileExists(t, filepath.Join(b.folder, "spec", "wire.cddl"), "what a page refers to")
}

// tree is a small repository.
func tree(pages map[string]string) fstest.MapFS {
	t := fstest.MapFS{"docs": {Mode: os.ModeDir | 0o755}, "spec": {Mode: os.ModeDir | 0o755}}
	for name, text := range pages {
		t[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return t
}

func TestOutline_ListWrong_EachRefused(t *testing.T) {
	repository := tree(map[string]string{"README.md": "# a", "docs/ca.md": "# b", "docs/data/new.md": "# c", "docs/testdata/no.md": "# d", "spec/x.txt": ""})
	_, err := outline(repository, []section{{"all", []entry{{"README.md", "", ""}, {"README.md", "", ""}, {"README.md", "here", ""}, {"docs/ca.md", "", ""}, {"docs/gone.md", "", ""}}}})
	require.ErrorIs(t, err, ErrMissing)
	require.ErrorIs(t, err, ErrTwice)
	require.ErrorIs(t, err, ErrNoPage)
	assert.Equal(t, "README.md: "+ErrTwice.Error()+"\ndocs/data/new.md: "+ErrMissing.Error()+"\ndocs/gone.md: "+ErrNoPage.Error(), err.Error())
	files, err := outline(repository, []section{{"all", []entry{{"docs/ca.md", "", ""}, {"README.md", "x", ""}}}, {"more", []entry{{"docs/data/new.md", "", ""}}}})
	require.NoError(t, err)
	assert.Equal(t, []string{"docs/ca.md", "README.md", "docs/data/new.md"}, files)
}

// known are the pages that the tests below link to.
func known(file string) bool {
	return file == "README.md" || file == "docs/ca.md" || file == "spec/README.md"
}

func TestRead_Links_BecomeThoseOfTheSite(t *testing.T) {
	for text, want := range map[string]string{
		"[a](ca.md)":                          `href="ca.html"`,
		"[a](ca.md#keys)":                     `href="ca.html#keys"`,
		"[a](#here)":                          `href="#here"`,
		"[a](../README.md)":                   `href="../README.html"`,
		"[a](../spec)":                        `href="../spec/README.html"`,
		"[a](../node/doc.go)":                 `href="../node/doc.go"`,
		"[a](https://go.dev/dl/)":             `href="https://go.dev/dl/"`,
		"![a](img/a.png)":                     `src="img/a.png"`,
		"| a |\n| ---: |\n| b<br>c |":         `align="right"`,
		"`a < b`":                             `<code>a &lt; b</code>`,
		"```sh\necho '<table>' <script>\n```": `&lt;table&gt;`,
	} {
		p, err := read("docs/x.md", []byte("# x\n\n"+text), known)
		require.NoError(t, err, text)
		assert.Contains(t, string(p.body), want, text)
	}
}

func TestRead_Mistakes_EachRefused(t *testing.T) {
	for text, want := range map[string]error{
		"no heading":                          ErrMarkup,
		"# a\n\n<b>bold</b>":                  ErrMarkup,
		"# a\n\n<div>\nblock\n</div>":         ErrMarkup,
		"# a\n\n[b](/docs/ca.md)":             ErrLink,
		"# a\n\n[b](../../elsewhere.md)":      ErrLink,
		"# a\n\n[b](javascript:alert(1))":     ErrLink,
		"# a\n\n[b](file:///etc/passwd)":      ErrLink,
		"# a\n\n![b](https://example.org/b)":  ErrLink,
		"# a\n\n[b](//example.org/script.js)": ErrLink,
	} {
		_, err := read("docs/x.md", []byte(text), known)
		require.ErrorIs(t, err, want, text)
		assert.Contains(t, err.Error(), "docs/x.md", text)
	}
}

func TestCheck_DeadLinks_EachNamed(t *testing.T) {
	b := builder{
		root: tree(map[string]string{"docs/ca.md": "", "docs/other.md": "", "docs/a.csv": ""}), files: []string{"docs/ca.md"},
		pages: map[string]*page{}, copied: map[string]bool{},
	}
	p, err := read("docs/ca.md", []byte("# The CA\n\n[1](#the-ca) [2](#the-cb) [3](other.md) [4](gone.png) [5](../docs/a.csv) [6](../docs) [7](ca.md#no)\n\n## Keys\n\n[8](ca.md#keys)"), b.isPage)
	require.NoError(t, err)
	b.pages[p.file] = p
	var said []string
	for _, err := range b.check(p) {
		require.ErrorIs(t, err, ErrLink)
		said = append(said, strings.TrimPrefix(err.Error(), "docs/ca.md: "+ErrLink.Error()+": "))
	}
	assert.Equal(t, []string{
		"docs/ca.md has no heading #the-cb", "docs/other.md is not a page of the site", "there is no docs/gone.png", "docs is not a page of the site",
		"docs/ca.md has no heading #no",
	}, said)
	assert.Equal(t, map[string]bool{"docs/a.csv": true}, b.copied)
}

func TestRead_Headings_NamedAsCodeHostsDo(t *testing.T) {
	p, err := read("docs/x.md", []byte("# A page: what `it` *does*\n\nfirst words\n\n## Who, since when?\n\n- an item\n\n## Who, since when?\n\n### a_b-C 1.5 Ü\n\n#### deep\n\nlast"), known)
	require.NoError(t, err)
	assert.Equal(t, "A page: what it does", p.title)
	var ids, words []string
	for _, s := range p.passages {
		ids = append(ids, s.id)
		words = append(words, strings.Join(strings.Fields(s.words), " "))
	}
	assert.Equal(t, []string{"a-page-what-it-does", "who-since-when", "who-since-when-1", "a_b-c-15-ü"}, ids)
	assert.Equal(t, []string{"A page: what it does first words", "Who, since when? an item", "Who, since when?", "a_b-C 1.5 Ü deep last"}, words)
	assert.Contains(t, string(p.body), `<h4 id="deep">`)
}

func TestRelative(t *testing.T) {
	for _, c := range [][3]string{
		{"README.md", "docs/ca.html", "docs/ca.html"}, {"docs/ca.md", "docs/gate.html", "gate.html"}, {"docs/ca.md", "README.html", "../README.html"},
		{"docs/data/README.md", "docs/ca.html", "../ca.html"}, {"docs/ca.md", "docs/img/a.png", "img/a.png"}, {"docs/a/b.md", "docs/c/d.html", "../c/d.html"}, {"README.md", "CONTRIBUTING.html", "CONTRIBUTING.html"}, {"", "docs/ca.html", "docs/ca.html"},
	} {
		assert.Equal(t, c[2], relative(c[0], c[1]), c)
	}
}

// A folder that is not a site is left alone.
func TestBuild_ForeignFolder_Refused(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, replaceable(folder), "it is empty")
	require.NoError(t, replaceable(filepath.Join(folder, "new")))
	letter := filepath.Join(folder, "letter.txt")
	require.NoError(t, os.WriteFile(letter, nil, 0o600))
	_, err := Build(root, folder)
	require.ErrorIs(t, err, ErrFolder)
	assert.FileExists(t, letter)
	require.NoError(t, os.WriteFile(filepath.Join(folder, mark), nil, 0o600))
	assert.NoError(t, replaceable(folder))
}
