package api

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A socket that is forwarded to a desktop obeys no site that a browser there shows.
func TestServer_BrowserAsks_Refused(t *testing.T) {
	handler := RefuseBrowsers(NewHandler(newFake()))
	for name, c := range map[string]struct {
		host    string
		header  string
		refused bool
	}{
		"a program":        {"wander", "", false},
		"curl":             {"localhost", "", false},
		"an address":       {"127.0.0.1:8080", "", false},
		"an IPv6 address":  {"[::1]:8080", "", false},
		"a site":           {"localhost:8080", "Origin", true},
		"a page":           {"localhost:8080", "Sec-Fetch-Site", true},
		"a rebound name":   {"evil.example:8080", "", true},
		"one without port": {"evil.example", "", true},
		"one without dot":  {"evil:8080", "", true},
		"this machine":     {"LOCALHOST:8080", "", false},
	} {
		for _, path := range []string{"/v1/status", "/v1/leave"} {
			r := httptest.NewRequest(http.MethodPost, path, nil)
			if path == "/v1/status" {
				r.Method = http.MethodGet
			}
			r.Host = c.host
			if c.header != "" {
				r.Header.Set(c.header, "same-origin")
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			assert.Equal(t, c.refused, strings.Contains(w.Body.String(), "a browser asks"), "%s: %s", name, path)
		}
	}
}

// The page is beside the requests, and takes none of their paths.
func TestServer_Page_BesideRequests(t *testing.T) {
	path := socketPath(t)
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	server := NewServer(newFake(), slog.New(slog.DiscardHandler))
	server.Show(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "page "+r.URL.Path) }), "/page/")
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	client := http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}}
	for path, want := range map[string]string{"/": "page /", "/page/x": "page /page/x", "/v1/status": `"v":1`, "/pages": "there is no GET /pages"} {
		response, err := client.Get("http://localhost" + path)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Contains(t, string(text), want)
	}
	require.NoError(t, server.Shutdown(t.Context()))
	require.NoError(t, <-ended)
}
