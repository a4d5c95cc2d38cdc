package node

import (
	"context"
	"errors"
	"net"
	"syscall"

	"github.com/wandertoken/wander/internal/takeover"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/metrics"
	"github.com/wandertoken/wander/protocol/member"
)

// scrapes is where metrics are served. The zero value serves none.
type scrapes struct {
	server  *metrics.Server
	address string
}

// checkMetrics refuses an address that cannot be one.
func checkMetrics(address string) error {
	if address == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return &SettingError{"metrics.listen", err}
	}
	return nil
}

// serveMetrics begins to answer scrapes, if metrics are kept. That the address
// cannot be had ends the start: whoever asks for metrics relies on them. Later
// trouble with them stops nothing.
func (n *Node) serveMetrics(ctx context.Context) error {
	if n.metrics == nil {
		return nil
	}
	var lc net.ListenConfig
	l, err := takeover.Open(ctx, func() (net.Listener, error) { return lc.Listen(ctx, "tcp", n.cfg.Metrics) }, syscall.EADDRINUSE)
	if err != nil {
		return &SettingError{"metrics.listen", err}
	}
	if a, ok := l.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		n.log.Warn("metrics are readable from other machines without authentication", "address", l.Addr())
	}
	c := &memberCounts{engine: n.engine, ended: n.done}
	n.metrics.Expose(func() metrics.Snapshot { return n.snapshot(c) })
	n.scrapes = scrapes{server: n.metrics.NewServer(n.log), address: l.Addr().String()}
	n.tasks.Go(func() {
		if err := n.scrapes.server.Serve(l); err != nil {
			n.log.Error("metrics server stopped", "error", err)
		}
	})
	return nil
}

// close ends the server of metrics. A scrape in progress is not waited for.
func (s *scrapes) close() {
	if s.server == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.server.Shutdown(ctx)
}

// MetricsAddress is where metrics are served, empty when they are not.
func (n *Node) MetricsAddress() string { return n.scrapes.address }

// snapshot is what metrics show of the member besides what they have counted.
func (n *Node) snapshot(c *memberCounts) metrics.Snapshot {
	t := n.transport.Stats()
	s := metrics.Snapshot{
		CertificateExpires: n.authority.certificate().Body().NotAfter,
		CertificateWarning: int(n.authority.schedule().Warning(n.cfg.Now())), Isolated: n.isolated(),
		Refused: t.Refused, Members: c.count(),
		Hints: map[string]uint64{"confirmed": t.Hints.Confirmed, "refuted": t.Hints.Refuted, "ignored": t.Hints.Ignored},
	}
	n.engine.look(func(m *member.Member) { s.Status = m.Status() })
	return s
}

// answerOf is how a request was answered that ended with err.
func answerOf(err error) metrics.Request {
	switch {
	case err == nil:
		return metrics.RequestGranted
	case refusal(err): // not due is not granted, too
		return metrics.RequestRefused
	case errors.Is(err, api.ErrNotGranted):
		return metrics.RequestTimeout
	case errors.Is(err, api.ErrIsolated):
		return metrics.RequestIsolated
	}
	return metrics.RequestWithdrawn
}

// howEnded is how a grant ended that was given back.
func howEnded(operated bool, exit int) metrics.Operation {
	switch {
	case !operated:
		return metrics.OperationUnused
	case exit != 0:
		return metrics.OperationFailed
	}
	return metrics.OperationOK
}

// refusal reports whether an error is this member's answer to a request, and not
// the end of whoever asked or was asked.
func refusal(err error) bool {
	for _, reason := range []error{api.ErrRevoked, api.ErrRefused, api.ErrHeld, api.ErrNotDue, api.ErrUnavailable, api.ErrInternal} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}
