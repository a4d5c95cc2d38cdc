package metrics

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/wandertoken/wander/internal/places"
)

// path is the one path that is served.
const path = "/metrics"

const (
	// maxConnections bounds the open connections. A Prometheus server keeps one;
	// some groups have two servers, and people look by hand. More are closed at
	// once.
	maxConnections = 16
	// maxGathering bounds the scrapes whose answers are being put together, each
	// some milliseconds of processor time. More are answered with 503. It does
	// not count those that are being sent.
	maxGathering = 4
	// readTimeout bounds how long a request may take to come.
	readTimeout = 5 * time.Second
	// gatherTimeout bounds how long an answer may take to be put together. What
	// takes longer is a member that is stuck, and Prometheus waits for 10 s.
	gatherTimeout = 8 * time.Second
	// writeTimeout bounds request and answer together: a scraper that reads too
	// slowly is cut off. What it holds meanwhile is its answer, about 50 kB.
	writeTimeout = readTimeout + gatherTimeout + 5*time.Second
	// idleTimeout closes connections that are kept without a request. It is
	// longer than the usual scrape intervals.
	idleTimeout = 2 * time.Minute
	// maxHeader bounds a request's header, in bytes.
	maxHeader = 8 << 10
)

// Server answers GET /metrics, and nothing else. Make it with NewServer.
type Server struct{ http *http.Server }

// NewServer returns a server of the metrics. log is told what net/http has to
// say, which no client can cause.
func (m *Metrics) NewServer(log *slog.Logger) *Server {
	return &Server{&http.Server{
		Handler:           m.handler(),
		ReadTimeout:       readTimeout,
		ReadHeaderTimeout: readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}
}

// handler puts each answer together before the first byte of it is sent, so
// that a slow reader holds up nobody.
func (m *Metrics) handler() http.Handler {
	scrape := http.TimeoutHandler(promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxGathering, DisableCompression: true,
	}), gatherTimeout, "the member is unresponsive")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != path:
			http.Error(w, "only "+path+" is here", http.StatusNotFound)
		case r.Method != http.MethodGet:
			w.Header().Set("Allow", http.MethodGet)
			http.Error(w, "method must be GET", http.StatusMethodNotAllowed)
		default:
			scrape.ServeHTTP(w, r)
		}
	})
}

// Serve answers on l, which it closes, until Shutdown; then it returns nil.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(places.Listen(l, maxConnections)); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown ends the server. It waits for answers in progress no longer than ctx,
// and closes what is left.
func (s *Server) Shutdown(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}
