package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/wandertoken/wander/internal/takeover"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/fleetlock"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

var (
	// ErrFleetGroup says that a pair of fleetlock.groups is none.
	ErrFleetGroup = errors.New("must be GROUP=RESOURCE")
	// ErrFleetOpen says that every user of the machine could hold each resource of the group.
	ErrFleetOpen = errors.New("must name what every user of this machine may hold, as fleetlock.listen is set")
)

// FleetLock is how updaters ask before they restart this machine: package fleetlock. The socket always answers them.
type FleetLock struct {
	// Listen is a loopback TCP address, "host:port"; empty: only the socket answers.
	Listen string
	// Groups give the resources of the updaters' groups, as GROUP=RESOURCE. No other group has one. Without any, each group has the resource
	// of its own name; Listen needs some, as any user of this machine may ask there, and for nothing else.
	Groups []string
}

const (
	// fleetTimeout bounds the sending of a request, and of its answer: the client is on the same machine.
	fleetTimeout = 10 * time.Second
	// fleetHeader bounds the header of a request, in bytes.
	fleetHeader = 8 << 10
	// fleetLabel shows people who waits.
	fleetLabel = "FleetLock"
)

// fleetGroups reads the pairs.
func (f *FleetLock) groups() (map[string]string, error) {
	groups := make(map[string]string)
	for _, pair := range f.Groups {
		name, resource, ok := strings.Cut(pair, "=")
		if !ok || name == "" || group.CheckName(resource) != nil {
			return nil, &SettingError{"fleetlock.groups", fmt.Errorf("%w: %q", ErrFleetGroup, pair)}
		}
		groups[name] = resource
	}
	return groups, nil
}

func (f *FleetLock) check() error {
	_, err := f.groups()
	if f.Listen != "" && len(f.Groups) == 0 {
		err = &SettingError{"fleetlock.groups", ErrFleetOpen}
	}
	return errors.Join(err, checkLoopback("fleetlock.listen", f.Listen))
}

// fleet serves updaters. The zero value serves none.
type fleet struct {
	locks  *fleetlock.Locks
	server *http.Server
}

// open begins to serve. That an address cannot be had ends the start.
func (f *fleet) open(ctx context.Context, n *Node, s *api.Server, tasks *sync.WaitGroup, log *slog.Logger) error {
	groups, err := n.cfg.FleetLock.groups()
	if err != nil {
		return err
	}
	if f.locks, err = fleetlock.New(fleetResources{n}, groups, n.cfg.StateDir); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	h := fleetlock.Handler(f.locks)
	if s != nil {
		s.Also(fleetlock.PreReboot, h)
		s.Also(fleetlock.SteadyState, h)
	}
	if n.cfg.FleetLock.Listen == "" {
		return nil
	}
	a, err := net.ResolveTCPAddr("tcp", n.cfg.FleetLock.Listen)
	if err == nil {
		err = checkLoopback("fleetlock.listen", a.String()) // what is checked is what is listened on
	}
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	l, err := takeover.Open(ctx, func() (net.Listener, error) { return lc.Listen(ctx, "tcp", a.String()) }, syscall.EADDRINUSE)
	if err != nil {
		return &SettingError{"fleetlock.listen", err}
	}
	f.server = &http.Server{
		Handler: api.RefuseBrowsers(h), ReadTimeout: fleetTimeout, ReadHeaderTimeout: fleetTimeout, WriteTimeout: 2 * fleetTimeout,
		IdleTimeout: fleetTimeout, MaxHeaderBytes: fleetHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	log.Info("FleetLock is up", "address", l.Addr().String())
	tasks.Go(func() {
		if err := f.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("FleetLock server stopped", "error", err)
		}
	})
	return nil
}

// close ends the server and all waits. Grants of updaters stay.
func (f *fleet) close() {
	if f.server != nil {
		_ = f.server.Close()
	}
	if f.locks != nil {
		f.locks.Close()
	}
}

// fleetResources is the member as updaters use it.
type fleetResources struct{ n *Node }

func (r fleetResources) Known(resource string) bool {
	_, known := r.n.currentGroup().Config().Resource(resource)
	return known
}

func (r fleetResources) Acquire(ctx context.Context, resource string) (ident.Grant, error) {
	l, err := r.n.programs.acquire(ctx, api.AcquireRequest{Resource: resource, AcrossReboot: true, Label: fleetLabel})
	switch {
	case err == nil:
		return l.grant.ID, nil
	case errors.Is(err, api.ErrRefused), errors.Is(err, api.ErrRevoked):
		return ident.Grant{}, fmt.Errorf("%w: %w", fleetlock.ErrRefused, err)
	}
	return ident.Grant{}, fmt.Errorf("%w: %w", fleetlock.ErrBusy, err)
}

func (r fleetResources) InForce(resource string, g ident.Grant) (is bool) {
	r.n.engine.look(func(m *member.Member) {
		for _, a := range member.AcrossOf(m, resource) {
			is = is || a.Grant == g
		}
	})
	return is
}

func (r fleetResources) Release(g ident.Grant) {
	r.n.programs.release(api.ReleaseRequest{Grant: g, Operated: true})
}
