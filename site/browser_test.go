package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/browser"
	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/sim/plan"
)

var update = flag.Bool("update", false, "write the pictures in docs/img")

// folder is where the tests of this package build the site, once.
var folder string

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if folder, err = os.MkdirTemp("", "site"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

var built = sync.OnceValue(func() error {
	_, err := Build(root, folder)
	return err
})

// serve serves the site on a port of its own, and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	require.NoError(t, built())
	s := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// view is a wide screen.
var wide = browser.View{Width: 1280, Height: 1000}

// start runs the simulator of the front page with the choices of the page, but for those that are given.
func start(t *testing.T, tab *browser.Tab, choices map[string]string) {
	t.Helper()
	for name, value := range choices {
		tab.Text("document.querySelector('#choices').elements." + name + ".value = " + strconv.Quote(value))
	}
	tab.Text("document.querySelector('#choices').elements.policy.dispatchEvent(new Event('change'))")
	tab.Text("document.querySelector('#run').click()")
	tab.Until("simulator.measured.steps > 0 || document.querySelector('#wrong').textContent")
	require.Empty(t, tab.Text("document.querySelector('#wrong').textContent"))
}

// planPatience bounds a plan in a browser: it takes three to four times as long there, and a machine may be busy. It decides nothing but when a
// hanging test fails.
const planPatience = 20 * time.Minute

// What the browser computes is what `wander plan` prints, to the last digit: with faults, and without.
func TestFrontPage_Numbers_EqualThePlans(t *testing.T) {
	comparePlans(t, map[string]map[string]string{
		"a paper":       {"members": "20", "every": "2m", "policy": "wandering/paper", "loss_percent": "2", "latency": ""},
		"uncoordinated": {"members": "12", "operation_time": "1m", "every": "30m", "policy": "uncoordinated/report"},
	})
}

// The same of plans that take a minute or more each in a browser.
func TestFrontPage_LongPlans_EqualThePlans(t *testing.T) {
	comparePlans(t, map[string]map[string]string{
		"fair":        {"members": "20", "every": ""},
		"faults":      {"members": "10", "every": "", "policy": "wandering/light", "loss_percent": "1", "crash": "1m", "down_for": "20s", "seeds": "3", "first": "7"},
		"many tokens": {"members": "30", "every": "", "policy": "multitoken/split", "target_interval": "1m", "seeds": "2"},
		"ring":        {"members": "12", "operation_time": "1m", "every": "10m", "policy": "ring/q", "seeds": "2"},
	})
}

// comparePlans computes plans in a browser and with the command.
func comparePlans(t *testing.T, plans map[string]map[string]string) {
	t.Helper()
	whole.Only(t)
	program := filepath.Join(t.TempDir(), "wander")
	out, err := exec.Command("go", "build", "-o", program, "../cmd/wander").CombinedOutput()
	require.NoError(t, err, "%s", out)
	address := serve(t)
	b, patient := browser.Start(t), wide
	patient.Patience = planPatience
	for name, choices := range plans {
		t.Run(name, func(t *testing.T) {
			tab := b.Visit(t, address, patient)
			start(t, tab, choices)
			tab.Text("document.querySelector('#pause').click()")
			command := tab.Text("document.querySelector('#command').textContent")
			tab.Text("document.querySelector('#compute').click()")
			tab.Until("simulator.plan")
			t.Log(command, "–", tab.Text("document.querySelector('#how').textContent"))
			var here, there plan.Report
			require.NoError(t, json.Unmarshal([]byte(tab.Text("simulator.plan")), &here))
			out, err := exec.Command(program, append(strings.Fields(command)[1:], "--output", "json")...).Output()
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(out, &there))
			assert.Equal(t, there, here)
			assert.NotNil(t, here.Wait)
			assert.Empty(t, tab.Problems())
			tab.Close()
		})
	}
}

const (
	drivenSeconds = 60 // of simulated time
	drivenFrames  = 60 // of each second
)

// A minute of 50 members is 3600 steps and drawings. They are counted, and their cost is told: how many of them a machine makes in a second is
// measured by hand (docs/site.md).
func TestFrontPage_Minute_EveryFrameDrawn(t *testing.T) {
	whole.Only(t)
	tab := browser.Start(t).Visit(t, serve(t), wide)
	start(t, tab, nil)
	tab.Text("document.querySelector('#pause').click()")
	before, err := strconv.ParseFloat(tab.Text("document.querySelector('#ring').width"), 64)
	require.NoError(t, err)
	require.Positive(t, before)
	tab.Text("void simulator.drive(" + strconv.Itoa(drivenSeconds*drivenFrames) + ", 1000 / " + strconv.Itoa(drivenFrames) + ")")
	tab.Until("simulator.measured.driven === " + strconv.Itoa(drivenSeconds*drivenFrames))
	t.Log("a step takes", tab.Text("(simulator.measured.stepTime / simulator.measured.steps).toFixed(3)"), "ms on average and",
		tab.Text("simulator.measured.longestStep.toFixed(1)"), "ms at most, a drawing", tab.Text("(simulator.measured.drawTime / simulator.measured.driven).toFixed(3)"), "ms")
	tab.Until("document.querySelector('#numbers tbody tr:last-child td').textContent.includes('s')")
	assert.Equal(t, "50", tab.Text("document.querySelectorAll('#choices')[0].elements.members.value"))
	assert.NotEmpty(t, tab.Text("document.querySelector('#numbers tbody td').textContent"))
	assert.Empty(t, tab.Problems())
}

// watchFor is how long TestFrontPage_Watched_FrameRateTold looks: it measures the machine, and judges nothing.
var watchFor = flag.Duration("watch", 0, "tell how many frames the front page draws in so long")

func TestFrontPage_Watched_FrameRateTold(t *testing.T) {
	if *watchFor == 0 {
		t.Skip("it measures this machine: go test ./site -run FrameRate -watch 60s -v")
	}
	patient := wide
	patient.Patience = *watchFor + time.Hour
	tab := browser.Start(t).Visit(t, serve(t), patient)
	start(t, tab, nil)
	tab.Text("void (window.began = performance.now(), simulator.measured.intervals.length = 0)")
	tab.Until(fmt.Sprintf("performance.now() > began + %d", watchFor.Milliseconds()))
	tab.Text("void (window.gaps = simulator.measured.intervals.toSorted((a, b) => a - b))")
	t.Log(tab.Text("(1000 * gaps.length / (performance.now() - began)).toFixed(1)"), "frames a second; between two of them",
		tab.Text("gaps[gaps.length >> 1].toFixed(1)"), "ms (median),", tab.Text("gaps[Math.floor(gaps.length * 0.95)].toFixed(1)"), "ms (95 %),",
		tab.Text("gaps.at(-1).toFixed(1)"), "ms (longest)")
	assert.Empty(t, tab.Problems())
}

func TestFrontPage_MistakeInForm_Said(t *testing.T) {
	whole.Only(t)
	tab := browser.Start(t).Visit(t, serve(t), wide)
	tab.Text("document.querySelector('#choices').elements.operation_time.value = 'soon'")
	tab.Text("document.querySelector('#run').click()")
	tab.Until("document.querySelector('#wrong').textContent.startsWith('operation time: ')")
	tab.Text("document.querySelector('#choices').elements.operation_time.value = '4s'")
	tab.Text("document.querySelector('#run').click()")
	tab.Until("simulator.measured.steps > 2")
	assert.Empty(t, tab.Text("document.querySelector('#wrong').textContent"))
	assert.Empty(t, tab.Problems())
}

// A plan that takes long can be stopped, and the page goes on.
func TestFrontPage_PlanStopped_PageGoesOn(t *testing.T) {
	whole.Only(t)
	tab := browser.Start(t).Visit(t, serve(t), wide)
	start(t, tab, map[string]string{"policy": "wandering/paper", "every": ""})
	tab.Text("document.querySelector('#compute').click()")
	tab.Until("document.querySelector('#compute').textContent === 'Stop'")
	tab.Text("document.querySelector('#compute').click()")
	tab.Until("document.querySelector('#how').textContent === 'stopped'")
	steps := tab.Text("simulator.measured.steps")
	tab.Until("simulator.measured.steps > " + steps)
	assert.Empty(t, tab.Problems())
}

func TestSearch_Words_FindTheirPassage(t *testing.T) {
	whole.Only(t)
	tab := browser.Start(t).Visit(t, serve(t)+"docs/ca.html", wide)
	tab.Until("!document.querySelector('#search').hidden")
	tab.Press("/")
	assert.Equal(t, "words", tab.Text("document.activeElement.id"))
	tab.Text("document.activeElement.value = ''") // the protocol types the key although the page has used it
	tab.Press("why nothing runs")
	tab.Until("document.querySelectorAll('#hits li').length > 3")
	tab.Press(kb.ArrowDown)
	assert.Equal(t, "A", tab.Text("document.activeElement.tagName"))
	tab.Press(kb.Enter)
	tab.Until("location.pathname !== '/docs/ca.html' && document.querySelector('#search')?.hidden === false") // from then on the page takes keys
	tab.Press("/")
	tab.Press("<img src=x> zzzz")
	tab.Until("document.querySelector('#told').textContent === 'no passage has all of these words'")
	tab.Press(kb.Escape)
	tab.Until("document.querySelector('#hits').hidden")
	assert.Empty(t, tab.Problems())
}

// Without JavaScript every page is there, and what needs it is not shown.
func TestSite_NoScript_PagesRead(t *testing.T) {
	whole.Only(t)
	address := serve(t)
	b := browser.Start(t)
	view := wide
	view.NoScript = true
	for path, words := range map[string]string{"": "The simulator needs JavaScript", "docs/guarantees.html": "What wander promises"} {
		tab := b.Visit(t, address+path, view)
		assert.Contains(t, tab.Text("document.querySelector('main').innerText"), words, path)
		assert.Equal(t, "true", tab.Text("document.querySelector('#search').hidden"), path)
		assert.Equal(t, "true", tab.Text("[...document.querySelectorAll('#all a')].length > 50"), path)
		assert.Empty(t, tab.Problems(), path)
		tab.Close()
	}
}

// No width needs a horizontal scroll, on any page.
func TestSite_AnyWidth_NoHorizontalScroll(t *testing.T) {
	whole.Only(t)
	address := serve(t)
	b := browser.Start(t)
	for _, path := range []string{"", "README.html", "docs/configuration.html", "docs/reproduction.html", "docs/exclusion.html", "spec/protocol.html", "spec/api.html", "docs/metrics.html"} {
		tab := b.Visit(t, address+path, wide)
		for _, width := range []int{320, 390, 768, 1024, 1600} {
			tab.Resize(width, 900)
			assert.Equal(t, "true", tab.Text("document.documentElement.scrollWidth <= innerWidth"), "%s at %d: %s", path, width,
				tab.Text("[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth && !e.closest('.scroll, pre')).slice(0, 5).map(e => e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 40))"))
		}
		assert.Empty(t, tab.Problems(), path)
		tab.Close()
	}
}

func TestFrontPage_Keyboard_ReachesAll(t *testing.T) {
	whole.Only(t)
	tab := browser.Start(t).Visit(t, serve(t), wide)
	tab.Until("!document.querySelector('#works').hidden")
	var walked []string
	for range 20 {
		tab.Press(kb.Tab)
		walked = append(walked, tab.Text("document.activeElement.name || document.activeElement.id || document.activeElement.innerText"))
		assert.NotEqual(t, "none", tab.Text("getComputedStyle(document.activeElement).outlineStyle"), walked)
	}
	assert.Equal(t, []string{
		"Skip to the text", "wander", "words", "Install", "Five minutes", "What it promises", "Why does nothing run?",
		"members", "operation_time", "every", "policy", "latency", "Faults", "Randomness", "run", "speed",
	}, walked[:16])
}

// pictures are those of docs/site.md.
var pictures = []struct {
	name, path string
	view       browser.View
}{
	{"site-front", "", browser.View{Width: 1280, Height: 1000}},
	{"site-front-dark", "", browser.View{Width: 1280, Height: 1000, Dark: true}},
	{"site-front-narrow", "", browser.View{Width: 390, Height: 1100}},
	{"site-page", "docs/troubleshooting.html", browser.View{Width: 1280, Height: 800}},
	{"site-page-narrow-dark", "docs/recovery.html", browser.View{Width: 390, Height: 1000, Dark: true}},
}

// maxPicture bounds a picture's bytes: they are in every clone.
const maxPicture = 200_000

// Each picture is taken of a page that has no problems. With -update they are written.
func TestPictures(t *testing.T) {
	if !*update {
		whole.Only(t)
	}
	address := serve(t)
	b := browser.Start(t)
	for _, p := range pictures {
		tab := b.Visit(t, address+p.path, p.view)
		if p.path == "" {
			start(t, tab, map[string]string{"loss_percent": "2", "policy": "wandering/paper", "every": "3m"})
			tab.Text("document.querySelector('#pause').click()")
			tab.Text("void simulator.drive(2000, 400)")
			tab.Until("simulator.measured.driven === 2000")
			if p.view.Width < 960 {
				tab.Text("document.querySelector('#scene').scrollIntoView()")
			}
		}
		png := tab.Shot()
		assert.LessOrEqual(t, len(png), maxPicture, p.name)
		assert.Empty(t, tab.Problems(), p.name)
		tab.Close()
		if *update {
			require.NoError(t, os.WriteFile(filepath.Join(root, "docs", "img", p.name+".png"), png, 0o644))
		}
	}
}
