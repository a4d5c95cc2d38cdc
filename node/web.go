package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"syscall"

	"github.com/wandertoken/wander/internal/takeover"
	"github.com/wandertoken/wander/node/page"
)

// ErrNotLoopback says that the page, or FleetLock, was to be served to other machines: they have neither passwords nor TLS.
var ErrNotLoopback = errors.New("not a loopback address")

// web is where the page is served. The zero value serves none.
type web struct {
	server  *page.Server
	address string
}

// checkWeb refuses an address that cannot be one, or that other machines reach.
func checkWeb(address string) error { return checkLoopback("web.listen", address) }

// checkLoopback does so for the setting of a key.
func checkLoopback(key, address string) error {
	if address == "" {
		return nil
	}
	a, err := net.ResolveTCPAddr("tcp", address)
	switch {
	case err != nil:
		return &SettingError{key, err}
	case !a.IP.IsLoopback():
		return &SettingError{key, fmt.Errorf("%w: %s", ErrNotLoopback, address)}
	}
	return nil
}

// open serves a page on the address of the settings, if they name one. That it cannot be had ends the start.
func (w *web) open(ctx context.Context, address string, p *page.Page, tasks *sync.WaitGroup, log *slog.Logger) error {
	if address == "" {
		return nil
	}
	a, err := net.ResolveTCPAddr("tcp", address)
	if err == nil {
		err = checkWeb(a.String()) // what is checked is what is listened on
	}
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	l, err := takeover.Open(ctx, func() (net.Listener, error) { return lc.Listen(ctx, "tcp", a.String()) }, syscall.EADDRINUSE)
	if err != nil {
		return &SettingError{"web.listen", err}
	}
	w.server, w.address = p.NewServer(log), "http://"+l.Addr().String()+"/"
	log.Info("the page for people is up", "address", w.address)
	tasks.Go(func() {
		if err := w.server.Serve(l); err != nil {
			log.Error("page server stopped", "error", err)
		}
	})
	return nil
}

// close ends the server of the page, and every stream.
func (w *web) close() {
	if w.server == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = w.server.Shutdown(ctx)
}
