package page

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/pipes"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/node/history"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// get asks a page, as a browser on this machine does.
func get(p *Page, method, path string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	r.Host = "localhost:9465"
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	p.Handler().ServeHTTP(w, r)
	return w
}

func TestHandler_Files_Served(t *testing.T) {
	p := five().page()
	for path, kind := range map[string]string{
		"/": "text/html; charset=utf-8", "/page/page.css": "text/css; charset=utf-8", "/page/page.js": "text/javascript; charset=utf-8",
		"/page/chart.js": "text/javascript; charset=utf-8", "/page/icon.svg": "image/svg+xml", "/page/help.json": "application/json",
	} {
		w := get(p, http.MethodGet, path, nil)
		assert.Equal(t, http.StatusOK, w.Code, path)
		assert.Equal(t, kind, w.Header().Get("Content-Type"), path)
		assert.NotEmpty(t, w.Body.String(), path)
	}
	for _, path := range []string{"/x", "/page/", "/page/index.html", "/page/../page.go", "/v1/status"} {
		assert.Equal(t, http.StatusNotFound, get(p, http.MethodGet, path, nil).Code, path)
	}
}

// Everything tells the browser to load nothing from elsewhere, also a refusal.
func TestHandler_Policy_NothingFromElsewhere(t *testing.T) {
	p := five().page()
	for _, path := range []string{"/", "/page/page.js", "/x"} {
		h := get(p, http.MethodGet, path, nil).Header()
		for _, directive := range []string{"default-src 'none'", "frame-ancestors 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
			assert.Contains(t, h.Get("Content-Security-Policy"), directive, path)
		}
		assert.NotContains(t, h.Get("Content-Security-Policy"), "unsafe")
		assert.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
		assert.Equal(t, "no-store", h.Get("Cache-Control"))
		assert.Empty(t, h.Get("Access-Control-Allow-Origin"))
	}
	text := assets["/"].text
	assert.NotContains(t, string(text), "http", "the page names no other place")
	assert.NotContains(t, string(text), "style=")
}

func TestHandler_Hosts_OnlyThisMachine(t *testing.T) {
	p := five().page()
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:1": 200, "127.0.0.1:9465": 200, "127.1.2.3": 200, "[::1]:9465": 200, "[::1]": 200, "[::ffff:127.0.0.1]:1": 200,
		"": 421, "evil.example:9465": 421, "localhost.evil.example": 421, "192.0.2.1:9465": 421, "0.0.0.0:9465": 421, "[::]:1": 421, "127.0.0.1.evil.example": 421,
	} {
		for _, path := range []string{"/", "/page/events"} {
			w := get(p, http.MethodHead, path, func(r *http.Request) { r.Host = host })
			assert.Equal(t, want, w.Code, "%s at %q", path, host)
		}
	}
}

func TestHandler_OtherSites_Refused(t *testing.T) {
	p := five().page()
	for name, c := range map[string]struct {
		path   string
		header map[string]string
		want   int
	}{
		"its own origin":         {"/page/events", map[string]string{"Origin": "http://localhost:9465", "Sec-Fetch-Site": "same-origin"}, 200},
		"typed":                  {"/", map[string]string{"Sec-Fetch-Site": "none"}, 200},
		"a link elsewhere":       {"/", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 200},
		"a frame elsewhere":      {"/", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, 403},
		"another origin":         {"/", map[string]string{"Origin": "http://evil.example"}, 403},
		"another port":           {"/page/events", map[string]string{"Origin": "http://localhost:8080"}, 403},
		"no origin that counts":  {"/page/events", map[string]string{"Origin": "null"}, 403},
		"a script elsewhere":     {"/page/page.js", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403},
		"another port's request": {"/page/events", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403},
	} {
		w := get(p, http.MethodHead, c.path, func(r *http.Request) {
			for k, v := range c.header {
				r.Header.Set(k, v)
			}
		})
		assert.Equal(t, c.want, w.Code, name)
	}
}

func TestHandler_Methods_OnlyReading(t *testing.T) {
	p := five().page()
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"} {
		for _, path := range []string{"/", "/page/events", "/page/help.json"} {
			w := get(p, method, path, nil)
			assert.Equal(t, http.StatusMethodNotAllowed, w.Code, method)
			assert.Equal(t, "GET, HEAD", w.Header().Get("Allow"), method)
		}
	}
}

// Each cause that the daemon can name has its section.
func TestHelp_EachCause_HasWords(t *testing.T) {
	var help map[string][]string
	require.NoError(t, json.Unmarshal(get(five().page(), http.MethodGet, "/page/help.json", nil).Body.Bytes(), &help))
	for _, list := range [][]explain.Row{explain.OfMember, explain.OfResource, explain.OfWarning} {
		for _, r := range list {
			assert.NotEmpty(t, help[string(r.Cause)], r.Cause)
		}
	}
	assert.Contains(t, help["isolated"][2], "Do: mend the network.")
	assert.Len(t, help["idle"], 1, "what follows the last section about a resource is not of it")
}

// listener reads the events of a page over a pipe.
type listener struct {
	t      *testing.T
	conn   net.Conn
	reader *bufio.Reader
}

// serveOn serves a page over pipes; the function that it returns ends that.
func serveOn(t *testing.T, p *Page) (network *pipes.Listener, stop func()) {
	network = pipes.Listen()
	server, ended := p.NewServer(slog.New(slog.DiscardHandler)), make(chan error, 1)
	go func() { ended <- server.Serve(network) }()
	return network, func() {
		require.NoError(t, server.Shutdown(context.Background()))
		require.NoError(t, <-ended)
	}
}

// listen opens a stream, and returns the status of the answer.
func listen(t *testing.T, network *pipes.Listener) (*listener, int) {
	here := network.Dial()
	_, err := io.WriteString(here, "GET /page/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	require.NoError(t, err)
	reader := bufio.NewReader(here)
	response, err := http.ReadResponse(reader, nil)
	require.NoError(t, err)
	return &listener{t, here, bufio.NewReader(response.Body)}, response.StatusCode
}

// told is an event as a listener reads it.
type told struct {
	Status  api.Status
	Members []api.MemberInfo
	Past    past
}

func (l *listener) next() (e told) {
	for {
		line, err := l.reader.ReadString('\n')
		require.NoError(l.t, err)
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			require.NoError(l.t, json.Unmarshal([]byte(data), &e))
			return e
		}
	}
}

// The first event tells all, and each later one what is new.
func TestEvents_Order_AllThenNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := five()
		network, stop := serveOn(t, s.page())
		l, code := listen(t, network)
		require.Equal(t, http.StatusOK, code)
		first := l.next()
		assert.Equal(t, "running", string(first.Status.Resources[0].Cause))
		assert.Len(t, first.Members, 5)
		assert.True(t, first.Past.First)
		all := s.log.Since(0, s.now)
		assert.Len(t, first.Past.Sights, len(all.Sightings))
		assert.Len(t, first.Past.Runs, len(all.Operations))
		assert.Len(t, first.Past.Waits, len(all.Waits))
		assert.True(t, first.Past.Waits[0].Granted)

		second := l.next()
		assert.False(t, second.Past.First)
		assert.Empty(t, second.Members, "they are as before")
		assert.Empty(t, second.Past.Sights)
		assert.Empty(t, second.Past.Runs)

		s.change(func() { s.now = s.now.Add(time.Second); s.members[1].Suspected = true })
		s.log.Saw(history.Sighting{Place: history.Place{Resource: "tape"}, Token: tokenOf("tape", 0), Hop: 9001, Holder: idOf(2), How: api.Proved, By: idOf(0), At: s.now})
		s.log.Ended(history.Place{Resource: "tape"}, tokenOf("tape", 0), s.now)
		var third told
		for len(third.Past.Sights) == 0 {
			third = l.next()
		}
		assert.Equal(t, idOf(2), third.Past.Sights[0].Member)
		require.Len(t, third.Past.Runs, 1)
		assert.Equal(t, millis(s.now), third.Past.Runs[0].ToMS)
		s.change(func() { s.now = s.now.Add(membersAge) })
		for len(third.Members) == 0 {
			third = l.next()
		}
		assert.True(t, third.Members[1].Suspected)
		go func() { _, _ = io.Copy(io.Discard, l.conn) }()
		stop()
	})
}

// However many listen, a member is asked no more often than a few times a second, and while nobody listens never.
func TestFeed_Samples_OnlyForListeners(t *testing.T) {
	s := five()
	p := s.page()
	require.Equal(t, http.StatusOK, get(p, http.MethodGet, "/", nil).Code)
	require.Equal(t, http.StatusOK, get(p, http.MethodHead, "/page/events", nil).Code)
	assert.Zero(t, s.samples, "nobody listens")
	for range 10 * maxListeners {
		_, err := p.feed.latest()
		require.NoError(t, err)
	}
	assert.Equal(t, 1, s.samples)
	s.now = s.now.Add(sampleAge)
	_, err := p.feed.latest()
	require.NoError(t, err)
	assert.Equal(t, 2, s.samples)
}

// Beyond maxListeners a stream is refused, and one that ends gives its place back.
func TestEvents_TooMany_Refused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, stop := serveOn(t, five().page())
		var open []*listener
		for range maxListeners {
			l, code := listen(t, network)
			require.Equal(t, http.StatusOK, code)
			open = append(open, l)
		}
		late, code := listen(t, network)
		require.Equal(t, http.StatusServiceUnavailable, code)
		require.NoError(t, late.conn.Close())
		require.NoError(t, open[0].conn.Close())
		synctest.Wait()
		time.Sleep(eventEvery) // on the virtual clock
		synctest.Wait()
		l, code := listen(t, network)
		require.Equal(t, http.StatusOK, code)
		for _, l := range append(open[1:], l) {
			go func() { _, _ = io.Copy(io.Discard, l.conn) }()
		}
		stop()
	})
}

// A listener that does not read is dropped after writeTimeout, and holds up no other.
func TestEvents_SlowReader_Dropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := five().page()
		network, stop := serveOn(t, p)
		slow, _ := listen(t, network)
		quick, _ := listen(t, network)
		started := time.Now()
		for time.Since(started) < writeTimeout+2*eventEvery {
			quick.next()
		}
		synctest.Wait()
		assert.Len(t, p.listeners, 1)
		_, err := io.Copy(io.Discard, slow.conn)
		assert.NoError(t, err, "its connection is closed")
		go func() { _, _ = io.Copy(io.Discard, quick.conn) }()
		stop()
	})
}

// While programs run under tokens of several slots by design, nothing is an overlap.
func TestOverlaps_ByDesign_None(t *testing.T) {
	s := sixty()
	found := overlapsOf(s.log, s.st.Resources, s.now)
	require.NotEmpty(t, found)
	for _, o := range found {
		assert.Less(t, o.FromMS, o.ToMS)
	}
	for _, name := range catalog.Names() {
		s.st.Resources[0].Policy = name
		assert.Equal(t, !catalog.Several(name), len(overlapsOf(s.log, s.st.Resources, s.now)) > 0, name)
		assert.Equal(t, catalog.Several(name), strings.Contains(string(assets[Prefix+"page.js"].text), `"`+name+`"`), "%s in page.js", name)
	}
}

// BenchmarkSample is what a listener costs the daemon for each sample: of a group of 300, with a full history.
func BenchmarkSample(b *testing.B) {
	s := many()
	p := s.page()
	for b.Loop() {
		s.now = s.now.Add(sampleAge)
		if _, err := p.feed.latest(); err != nil {
			b.Fatal(err)
		}
	}
}
