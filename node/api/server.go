package api

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
)

// errStopping is the cause with which streams end when the daemon stops.
var errStopping = errors.New("stopping")

// Server serves a backend on a socket. Create it with NewServer.
type Server struct {
	http *http.Server
	stop context.CancelCauseFunc
}

// NewServer returns a server for the backend. Problems of single connections
// go to log.
func NewServer(backend Backend, log *slog.Logger) *Server {
	ctx, stop := context.WithCancelCause(context.Background())
	return &Server{
		stop: stop,
		http: &http.Server{
			Handler:           RefuseBrowsers(NewHandler(backend)),
			ReadTimeout:       readTimeout,
			ReadHeaderTimeout: readTimeout,
			WriteTimeout:      readTimeout + writeTimeout, // each reply and each event has its own
			IdleTimeout:       idleTimeout,
			MaxHeaderBytes:    maxHeader,
			ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
			BaseContext:       func(net.Listener) context.Context { return ctx },
			ConnContext:       withAsker,
		},
	}
}

// Serve answers on l, which it closes, until Shutdown; then it returns nil.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(&guarded{Listener: l}); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown withdraws every demand and ends every stream; grants stand. It
// returns when all connections are closed, or with ctx's error when that takes
// longer than ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop(errStopping)
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}
