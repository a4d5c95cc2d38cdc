package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/wandertoken/wander/internal/takeover"
	"github.com/wandertoken/wander/node/page"
)

// ErrNotLoopback says that the page was to be served to other machines: it has neither passwords nor TLS.
var ErrNotLoopback = errors.New("not a loopback address")

// web is where the page is served. The zero value serves none.
type web struct {
	server  *page.Server
	address string
}

// checkWeb refuses an address that cannot be one, or that other machines reach.
func checkWeb(address string) error {
	if address == "" {
		return nil
	}
	a, err := net.ResolveTCPAddr("tcp", address)
	switch {
	case err != nil:
		return &SettingError{"web.listen", err}
	case !a.IP.IsLoopback():
		return &SettingError{"web.listen", fmt.Errorf("%w: %s", ErrNotLoopback, address)}
	}
	return nil
}

// servePage shows the page on the local API's socket, and on an address of its own if the settings name one. That
// the address cannot be had ends the start.
func (n *Node) servePage(ctx context.Context, p *page.Page) error {
	if n.cfg.Web == "" {
		return nil
	}
	a, err := net.ResolveTCPAddr("tcp", n.cfg.Web) // what is checked is what is listened on
	if err == nil {
		err = checkWeb(a.String())
	}
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	l, err := takeover.Open(ctx, func() (net.Listener, error) { return lc.Listen(ctx, "tcp", a.String()) }, syscall.EADDRINUSE)
	if err != nil {
		return &SettingError{"web.listen", err}
	}
	n.web = web{server: p.NewServer(n.log), address: "http://" + l.Addr().String() + "/"}
	n.tasks.Go(func() {
		if err := n.web.server.Serve(l); err != nil {
			n.log.Error("page server stopped", "error", err)
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

// PageAddress is where a browser on this machine finds the page, empty where only the socket has it.
func (n *Node) PageAddress() string { return n.web.address }
