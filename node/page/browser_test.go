package page

import (
	"context"
	"flag"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/browser"
	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
)

var update = flag.Bool("update", false, "write the pictures in docs/img")

// serve serves a scene's page on a port of its own, and returns its address.
func (s *scene) serve(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server, ended := s.page().NewServer(slog.New(slog.DiscardHandler)), make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = server.Shutdown(ctx) // streams are cut
		assert.NoError(t, <-ended)
	})
	return "http://" + l.Addr().String() + "/"
}

// pictures are those of docs/page.md.
var pictures = []struct {
	name  string
	scene func() *scene
	view  browser.View
}{
	{"page-five", five, browser.View{Width: 1200, Height: 1000}},
	{"page-five-dark", five, browser.View{Width: 1200, Height: 1000, Dark: true}},
	{"page-sixty", sixty, browser.View{Width: 1200, Height: 1000}},
	{"page-sixty-dark", sixty, browser.View{Width: 1200, Height: 1000, Dark: true}},
	{"page-alone", alone, browser.View{Width: 1200, Height: 900}},
	{"page-alone-dark", alone, browser.View{Width: 1200, Height: 900, Dark: true}},
	{"page-narrow", sixty, browser.View{Width: 390, Height: 1100}},
	{"page-narrow-dark", sixty, browser.View{Width: 390, Height: 1100, Dark: true}},
}

// shown says that a page shows a member.
const shown = "document.querySelectorAll('.card').length > 0 && document.querySelectorAll('#members tbody tr').length > 0 && document.querySelector('details p')"

// contrasts is a script that lists the texts and marks of a page that are too faint: below the ratios of WCAG 2.2 AA.
const contrasts = `(() => {
  const rgba = text => { const m = text.match(/[\d.]+/g).map(Number); return [m[0], m[1], m[2], m[3] ?? 1]; };
  const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const ground = e => { const list = []; for (; e; e = e.parentElement) list.push(rgba(getComputedStyle(e).backgroundColor)); return list.reduceRight((below, c) => over(c, below), [255, 255, 255, 1]); };
  const variable = name => { const e = document.createElement("i"); document.body.append(e); e.style.color = "var(" + name + ")"; const c = rgba(getComputedStyle(e).color); e.remove(); return c; };
  const faint = [];
  const check = (what, colour, back, least) => { const r = ratio(over(colour, back), back); if (r < least) faint.push(what + " " + r.toFixed(2)); };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let texts = 0;
  for (let n; (n = walker.nextNode());) {
    const e = n.parentElement, style = getComputedStyle(e);
    if (!n.data.trim() || !e.checkVisibility() || e.closest("title, noscript")) continue;
    texts++;
    if (e.namespaceURI.endsWith("svg")) { for (const v of ["--panel", "--row", "--self"]) check(v + " " + n.data, rgba(style.fill), variable(v), 4.5); continue; }
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    check(n.data.trim().slice(0, 30), rgba(style.color), ground(e), large ? 3 : 4.5);
  }
  for (const v of ["--t0", "--t1", "--t2", "--t3", "--clash", "--focus"]) for (const b of ["--panel", "--row", "--self"]) check(v + " on " + b, variable(v), variable(b), 3);
  if (texts < 40) faint.push("only " + texts + " texts");
  return faint.join("; ");
})()`

func TestPage_BothThemes_ContrastEnough(t *testing.T) {
	whole.Only(t)
	b := browser.Start(t)
	for _, dark := range []bool{false, true} {
		for name, make := range map[string]func() *scene{"sixty": sixty, "alone": alone} {
			tab := b.Visit(t, make().serve(t), browser.View{Width: 1200, Height: 900, Dark: dark})
			tab.Until(shown)
			tab.Text("document.querySelectorAll('details').forEach(d => d.open = true)")
			tab.Until("document.querySelectorAll('.walkbox tbody tr').length > 0")
			assert.Empty(t, tab.Text(contrasts), "%s, dark %v", name, dark)
			assert.Equal(t, strconv.FormatBool(dark), tab.Text("matchMedia('(prefers-color-scheme: dark)').matches"))
			tab.Close()
		}
	}
}

// Each thing that does something is reached by keys in the order of the page, and is seen to be.
func TestPage_Keyboard_ReachesAll(t *testing.T) {
	whole.Only(t)
	tab := browser.Start(t).Visit(t, five().serve(t), browser.View{Width: 1200, Height: 900})
	tab.Until(shown)
	var walked []string
	for range 30 {
		tab.Press(kb.Tab)
		if tab.Text("document.activeElement === document.body") == "true" {
			break
		}
		walked = append(walked, tab.Text("document.activeElement.tagName + ' ' + (document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText ?? '').slice(0, 24)"))
		assert.Equal(t, "solid", tab.Text("getComputedStyle(document.activeElement).outlineStyle"), walked)
	}
	assert.Equal(t, []string{
		"A Skip to what runs now", "SUMMARY What this means, and wha", "SUMMARY What this means, and wha",
		"BUTTON 1 min", "BUTTON 5 min", "BUTTON 15 min", "BUTTON 1 h", "SUMMARY As a table", "SUMMARY As a table", "INPUT ",
	}, walked[:min(10, len(walked))])
	tab.Text("document.querySelector('.card summary').focus()")
	tab.Press(kb.Enter)
	tab.Until("document.querySelector('.card details').open")
	assert.Contains(t, tab.Text("document.querySelector('.card details').innerText"), "A program runs here: the sentence says for how long")
	tab.Text("document.querySelector('#spans button').focus()")
	tab.Press(" ")
	tab.Until("document.querySelector('#spans button').getAttribute('aria-pressed') === 'true'")
	tab.Text("document.querySelector('#find').focus()")
	tab.Press("ftp-03")
	tab.Until("document.querySelectorAll('#members tbody tr').length === 1")
	assert.Empty(t, tab.Problems())
}

// A screen reader finds its way: landmarks, headings, heads of tables, and names of drawings.
func TestPage_ScreenReader_Guided(t *testing.T) {
	whole.Only(t)
	tab := browser.Start(t).Visit(t, alone().serve(t), browser.View{Width: 1200, Height: 900})
	tab.Until(shown)
	for condition, why := range map[string]string{
		"document.documentElement.lang === 'en' && document.querySelectorAll('header, main, footer').length === 3":         "landmarks",
		"document.querySelectorAll('h1').length === 1":                                                                     "one heading of the page",
		"[...document.querySelectorAll('section')].every(s => document.getElementById(s.getAttribute('aria-labelledby')))": "sections have names",
		"[...document.querySelectorAll('table')].every(t => t.querySelectorAll('thead th[scope=col]').length > 2)":         "tables have heads",
		"[...document.querySelectorAll('svg[role=img]')].every(s => s.getAttribute('aria-label'))":                         "drawings have names",
		"[...document.querySelectorAll('svg:not([role=img])')].every(s => s.closest('[aria-hidden=true]'))":                "other drawings are passed over",
		"document.querySelector('#spoken').getAttribute('aria-live') === 'polite'":                                         "changes are spoken",
		"document.querySelector('#spoken').textContent.startsWith('isolated: no peer answered')":                           "the cause comes first",
		"document.title.startsWith('isolated')":                                                                            "so it does in the title",
		"[...document.querySelectorAll('input')].every(i => i.labels.length === 1)":                                        "fields have labels",
	} {
		assert.Equal(t, "true", tab.Text(condition), why)
	}
}

// No width needs a horizontal scroll, whatever is open.
func TestPage_AnyWidth_NoHorizontalScroll(t *testing.T) {
	whole.Only(t)
	b := browser.Start(t)
	for name, make := range map[string]func() *scene{"sixty": sixty, "hostile": hostile} {
		tab := b.Visit(t, make().serve(t), browser.View{Width: 1200, Height: 900})
		tab.Until(shown)
		tab.Text("document.querySelectorAll('details').forEach(d => d.open = true)")
		tab.Until("document.querySelectorAll('.walkbox tbody tr').length > 0")
		for _, width := range []int{320, 390, 768, 1600} {
			tab.Resize(width, 900)
			tab.Until("document.querySelector('.chart').viewBox.baseVal.width <= " + strconv.Itoa(width))
			assert.Equal(t, "true", tab.Text("[...document.querySelectorAll('#shares tbody th, .walkbox tbody th')].every(e => e.clientWidth >= 80)"), "%s at %d: names are legible", name, width)
			assert.Equal(t, "true", tab.Text("document.documentElement.scrollWidth <= innerWidth"), "%s at %d: %s", name, width,
				tab.Text("[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth).slice(0, 5).map(e => e.tagName + '.' + e.className)"))
		}
		tab.Close()
	}
}

// Whatever a member says is text.
func TestPage_MarkupInTexts_StaysText(t *testing.T) {
	whole.Only(t)
	tab := browser.Start(t).Visit(t, hostile().serve(t), browser.View{Width: 1200, Height: 900})
	tab.Until(shown)
	tab.Text("document.querySelectorAll('details').forEach(d => d.open = true)")
	tab.Until("document.querySelectorAll('.walkbox tbody tr').length > 0")
	assert.Equal(t, "0", tab.Text("document.querySelectorAll('img, [onerror]').length"))
	assert.NotEqual(t, "owned", tab.Text("document.title"))
	for _, place := range []string{"#name", "#trouble", "#warning-list", ".card .sentence", ".facts", ".chart", ".walkbox tbody", "#shares", "#members tbody", "#self", "#spoken"} {
		assert.Contains(t, tab.Text("document.querySelector('"+place+"').textContent"), "<img src=x", place)
	}
	assert.Empty(t, tab.Problems())
}

// maxElements bounds what a drawing of a large group has in the document: what is out of view is left out.
const maxElements = 3000

func TestPage_ThreeHundredMembers_Shown(t *testing.T) {
	whole.Only(t)
	tab := browser.Start(t).Visit(t, many().serve(t), browser.View{Width: 1200, Height: 900})
	tab.Until(shown)
	assert.Equal(t, "300", tab.Text("document.querySelectorAll('#members tbody tr').length"))
	tab.Text("document.querySelector('#spans button:last-child').click()")
	tab.Until("document.querySelector('.walkbox .note').textContent.startsWith('2')")
	elements, err := strconv.Atoi(tab.Text("document.querySelectorAll('.chart *').length"))
	require.NoError(t, err)
	assert.Less(t, elements, maxElements)
	first := tab.Text("document.querySelectorAll('.chart .who')[5].textContent")
	tab.Text("document.querySelector('.walkbox .scroll').scrollTo(0, 3000)")
	tab.Until("document.querySelectorAll('.chart .who')[5].textContent !== '" + first + "'")
	assert.Empty(t, tab.Problems())
}

// What changes at the member changes on the page within a second, and is spoken once.
func TestPage_StateChanges_Shown(t *testing.T) {
	s := five()
	tab := browser.Start(t).Visit(t, s.serve(t), browser.View{Width: 1200, Height: 900})
	tab.Until(shown)
	tab.Until("document.querySelector('.card .chip.good').textContent === 'running'")
	tab.Until("document.querySelector('#link').dataset.state === 'live'") // a busy machine may be late with an event
	s.change(func() {
		s.now = s.now.Add(sampleAge)
		s.st.Resources = slices.Clone(s.st.Resources)
		s.st.Resources[0].Why = api.Why{Cause: explain.VotesMissing, Sentence: "the votes of 2 members are missing"}
	})
	tab.Until("document.querySelector('.card .sentence').textContent === 'the votes of 2 members are missing'")
	tab.Until("document.querySelector('.card').classList.contains('care')")
	assert.Contains(t, tab.Text("document.querySelector('#spoken').textContent"), "the votes of 2 members are missing")
	assert.Contains(t, tab.Text("document.title"), "votes missing")
	assert.Empty(t, tab.Problems())
}

// A token that rests is drawn where it is, however long ago it came.
func TestPage_TokenRests_Drawn(t *testing.T) {
	whole.Only(t)
	tab := browser.Start(t).Visit(t, resting().serve(t), browser.View{Width: 1200, Height: 900})
	tab.Until(shown)
	tab.Text("document.querySelector('#spans button').click()")
	assert.Equal(t, "1", tab.Text("document.querySelectorAll('.chart .walk').length"))
	assert.Equal(t, "0", tab.Text("document.querySelectorAll('.chart .gap').length"), "it is known to be here")
	assert.Contains(t, tab.Text("document.querySelector('#shares').textContent"), "100 %")
}

// maxPicture bounds a picture's bytes: they are in every clone.
const maxPicture = 150_000

// Each picture is taken of a page that has no problems. With -update they are written.
func TestPictures(t *testing.T) {
	if !*update {
		whole.Only(t)
	}
	b := browser.Start(t)
	for _, p := range pictures {
		tab := b.Visit(t, p.scene().serve(t), p.view)
		tab.Until(shown)
		png := tab.Shot()
		assert.LessOrEqual(t, len(png), maxPicture, p.name)
		assert.Empty(t, tab.Problems(), p.name)
		tab.Close()
		if *update {
			dir := filepath.Join("..", "..", "docs", "img")
			require.NoError(t, os.MkdirAll(dir, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, p.name+".png"), png, 0o644))
		}
	}
}
