package api

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Show serves a page for people at "/" and at all paths below prefix. Call it before Serve.
func (s *Server) Show(page http.Handler, prefix string) {
	requests := s.http.Handler
	s.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, prefix) {
			page.ServeHTTP(w, r)
			return
		}
		requests.ServeHTTP(w, r)
	})
}

// Also serves an exact path besides those of this package to the daemon's owner, and refuses others and browsers there, too. Call it
// before Serve.
func (s *Server) Also(path string, h http.Handler) {
	requests := s.http.Handler
	also := RefuseBrowsers(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := ownersOnly(r.Context()); err != nil {
			fail(w, err)
			return
		}
		h.ServeHTTP(w, r)
	}))
	s.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			also.ServeHTTP(w, r)
			return
		}
		requests.ServeHTTP(w, r)
	})
}

// RefuseBrowsers refuses what a browser sends. A socket that is forwarded to a port of a desktop (ssh -L), to look at
// the page, would otherwise obey every site that the browser shows.
func RefuseBrowsers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isBrowser(r) {
			fail(w, &Error{Code: "bad_request", Message: "bad request: a browser asks", Hint: "the page for people is at /"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isBrowser reports whether a browser sends a request: with headers that no script can leave out, or to a name of
// the network's that leads here (DNS rebinding). Programs have no name for the socket, or one without a dot and a port; a
// browser names the port to which the socket is forwarded, and a name without a dot may lead anywhere, too.
func isBrowser(r *http.Request) bool {
	if r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "" {
		return true
	}
	name := r.Host
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	_, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err != nil && !strings.EqualFold(name, "localhost") && (strings.Contains(name, ".") || name != r.Host)
}
