package wander

import (
	"context"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
)

// asked is a member that gives grants: behind a socket, or in this process.
type asked interface {
	acquire(context.Context, api.AcquireRequest) (granted, error)
}

// granted is a grant that a member has given.
type granted interface {
	Grant() api.Grant
	Lost() <-chan api.LostReason
	release(from, to clock.Instant) error
}

// daemon is a member behind a socket.
type daemon struct{ *api.Client }

func (d daemon) acquire(ctx context.Context, r api.AcquireRequest) (granted, error) {
	end := clock.Never
	if wait, bounded := r.Wait(); bounded {
		end = boottime.Now().Add(wait)
	}
	held, err := d.AcquireThroughRestarts(ctx, r, end)
	if err != nil {
		return nil, err
	}
	return ofDaemon{held, d.Client}, nil
}

type ofDaemon struct {
	*api.Held
	daemon *api.Client
}

const (
	// releaseFor and releaseAtMost are how long a release is tried: until the deadline, but at least and at most so long. A daemon that is
	// restarted is back by then, and the grant ends at its deadline anyway.
	releaseFor    = 2 * time.Second
	releaseAtMost = 10 * time.Second
)

func (g ofDaemon) release(from, to clock.Instant) error {
	defer g.Close()
	ctx, cancel := context.WithTimeout(context.Background(), min(max(g.Grant().Left(), releaseFor), releaseAtMost))
	defer cancel()
	return g.daemon.ReleaseThroughRestarts(ctx, api.ReleaseRequest{Grant: g.Grant().ID, Operated: true, SeenFrom: from, SeenTo: to})
}

// local is a member in this process.
type local struct{ Member }

func (m local) acquire(ctx context.Context, r api.AcquireRequest) (granted, error) {
	held, err := m.Acquire(ctx, r)
	if err != nil {
		return nil, err
	}
	return ofLocal{held}, nil
}

type ofLocal struct{ api.HeldGrant }

func (g ofLocal) release(_, _ clock.Instant) error {
	g.Release(true, 0)
	return nil
}
