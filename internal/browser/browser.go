// Package browser opens pages in a headless Chromium, for tests.
package browser

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// patience bounds what a test waits for in a browser. It decides nothing but when a hanging test fails.
const patience = 2 * time.Minute

// poll is between two looks at a condition of the page: only the page knows when it holds.
const poll = 50 * time.Millisecond

// names are what Chromium is called.
var names = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// View is how a tab looks at a page.
type View struct {
	Width, Height int
	Dark          bool
	NoScript      bool          // the page's scripts do not run
	Patience      time.Duration // how long a test may look, if longer than others
}

// Browser is one running Chromium.
type Browser struct{ ctx context.Context }

// Start starts a browser that ends with the test, and skips the test where there is none.
func Start(t *testing.T) *Browser {
	t.Helper()
	var program string
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("there is no Chromium here: apt-get install chromium")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("proxy-server", "direct://"))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("about:blank")))
	return &Browser{ctx}
}

// Tab is one page.
type Tab struct {
	t     *testing.T
	ctx   context.Context
	close context.CancelFunc

	mu       sync.Mutex
	problems []string
}

// Visit loads a page in a tab that closes with the test.
func (b *Browser) Visit(t *testing.T, address string, v View) *Tab {
	t.Helper()
	base, cancelTab := chromedp.NewContext(b.ctx)
	t.Cleanup(cancelTab)
	ctx, cancel := context.WithTimeout(base, max(patience, v.Patience))
	t.Cleanup(cancel)
	tab := &Tab{t: t, ctx: ctx, close: cancelTab}
	home, err := url.Parse(address)
	require.NoError(t, err)
	require.NoError(t, chromedp.Listen(ctx, func(event any) { tab.hear(home.Host, event) }))
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	call(tab, network.Enable, network.EnableParams{})
	call(tab, log.Enable, cdp.Empty{})
	tab.Resize(v.Width, v.Height)
	call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	call(tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: v.NoScript})
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(address)))
	return tab
}

// hear notes what no page of ours does.
func (tab *Tab) hear(home string, event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || u.Host != home {
			tab.note("outside request: " + e.Request.URL)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			tab.note(fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	case *runtime.EventConsoleAPICalled:
		tab.note(fmt.Sprintf("console %s: %v", e.Type, e.Args))
	case *runtime.EventExceptionThrown:
		tab.note("exception: " + fmt.Sprint(e.ExceptionDetails.Text, " ", e.ExceptionDetails.Exception))
	}
}

func (tab *Tab) note(problem string) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	tab.problems = append(tab.problems, problem)
}

// Problems are errors, warnings and words on the console, and requests to other hosts.
func (tab *Tab) Problems() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return slices.Clone(tab.problems)
}

// call gives one command of the protocol.
func call[P, R any](tab *Tab, c cdp.Command[P, R], params P) R {
	tab.t.Helper()
	result, err := chromedp.Run(tab.ctx, func(ctx context.Context, target *chromedp.Target) (R, error) { return cdp.Call(ctx, target, c, params) })
	require.NoError(tab.t, err)
	return result
}

// Text is the value of an expression in the page, as text.
func (tab *Tab) Text(expression string) string {
	tab.t.Helper()
	text, err := chromedp.Run(tab.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	require.NoError(tab.t, err, "%s", expression)
	return text
}

// Until waits until a condition holds in the page. The page's own policy forbids it to evaluate text, so that the
// browser is asked again and again.
func (tab *Tab) Until(condition string) {
	tab.t.Helper()
	for tab.Text("!!("+condition+")") != "true" {
		select {
		case <-tab.ctx.Done():
			require.Fail(tab.t, "it never holds", "%s; problems: %v", condition, tab.Problems())
		case <-time.After(poll):
		}
	}
}

// Resize gives the page another size.
func (tab *Tab) Resize(width, height int) {
	tab.t.Helper()
	call(tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: int64(width), Height: int64(height), DeviceScaleFactor: 1})
}

// Close closes the tab before the test ends.
func (tab *Tab) Close() { tab.close() }

// Press presses keys, such as kb.Tab of chromedp.
func (tab *Tab) Press(keys string) {
	tab.t.Helper()
	require.NoError(tab.t, chromedp.Do(tab.ctx, chromedp.KeyEvent(keys)))
}

// Shot is a picture of what is in view.
func (tab *Tab) Shot() []byte {
	tab.t.Helper()
	return call(tab, page.CaptureScreenshot, page.CaptureScreenshotParams{}).Data
}
