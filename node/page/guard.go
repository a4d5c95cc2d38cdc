package page

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// policy is what the browser may do with the page: load its own files and nothing else, and take no text for markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guard answers requests that ask for nothing but to read, from this machine, and from no other site.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !isLoopback(r.Host):
			http.Error(w, "this page is for this machine: call it localhost", http.StatusMisdirectedRequest)
		case isForeign(r):
			http.Error(w, "another site asks", http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "this page only reads: GET or HEAD", http.StatusMethodNotAllowed)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isLoopback reports whether a request's Host names this machine: localhost, or a loopback address. A name of an
// attacker's that leads here (DNS rebinding) is neither. The port is any, as people forward others to this one.
func isLoopback(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil && a.Unmap().IsLoopback()
}

// isForeign reports whether a browser says that another site asks. To open the page from a link elsewhere is no harm,
// as that site sees nothing of it.
func isForeign(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return true
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	return r.URL.Path != "/" || r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document"
}
