package page

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/wandertoken/wander/internal/places"
)

const (
	// maxConnections bounds the open connections: a browser keeps up to six, one of them its stream.
	maxConnections = 64
	// readTimeout bounds how long a request may take to come.
	readTimeout = 5 * time.Second
	// idleTimeout closes connections that are kept without a request.
	idleTimeout = 30 * time.Second
	// maxHeader bounds a request's header, in bytes: browsers send the cookies of every port of localhost.
	maxHeader = 32 << 10
)

// Server serves a page on an address of its own. Make it with NewServer.
type Server struct {
	http *http.Server
	stop context.CancelFunc
}

// NewServer returns a server of the page. log is told what net/http has to say, which no client can cause.
func (p *Page) NewServer(log *slog.Logger) *Server {
	ctx, stop := context.WithCancel(context.Background())
	return &Server{stop: stop, http: &http.Server{
		Handler:           p.Handler(),
		ReadTimeout:       readTimeout,
		ReadHeaderTimeout: readTimeout,
		WriteTimeout:      readTimeout + writeTimeout, // of a stream each event has its own
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}}
}

// Serve answers on l, which it closes, until Shutdown; then it returns nil.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(places.Listen(l, maxConnections)); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown ends every stream and the server. It waits for answers in progress no longer than ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop()
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}
