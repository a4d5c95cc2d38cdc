package node

import (
	"context"
	"fmt"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/ident"
)

// Client is what a program needs to use a resource: its own Node, or the local
// daemon's socket (Dial).
type Client interface {
	// Get waits for the resource. The errors match ErrNotGranted,
	// ErrIsolated, ErrRevoked and others of package api, or are the context's.
	Get(ctx context.Context, r api.AcquireRequest) (*Grant, error)
}

// Grant is the permission to use a resource until its deadline.
type Grant struct {
	info    api.Grant
	lost    <-chan api.LostReason
	release func(operated bool)
}

// Info is everything that is known about the grant.
func (g *Grant) Info() api.Grant { return g.info }

// Deadline is when the grant ends, on the wall clock as it was set when the
// grant was given.
func (g *Grant) Deadline() time.Time { return g.info.Deadline }

// Token is the token that the grant stands on.
func (g *Grant) Token() ident.Token { return g.info.Token }

// Fence grows with each hop of the token, and from a token to each later one. So a
// resource that keeps the greatest fence that it was shown, and refuses lower ones,
// refuses late programs: docs/guarantees.md says under which policies, and what
// escapes.
func (g *Grant) Fence() uint64 { return g.info.Fence }

// Lost delivers a reason if the grant is lost before its deadline, and is
// closed when it has ended.
func (g *Grant) Lost() <-chan api.LostReason { return g.lost }

// Release gives the grant back. It may be repeated.
func (g *Grant) Release() { g.release(true) }

// Get waits for the resource.
func (n *Node) Get(ctx context.Context, r api.AcquireRequest) (*Grant, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	l, err := n.programs.acquire(ctx, r)
	if err != nil {
		return nil, err
	}
	return &Grant{info: l.grant, lost: l.lost, release: func(operated bool) { l.Release(operated, 0) }}, nil
}

// Do waits for the resource, calls f with the grant and gives it back. The
// context that f gets ends before the deadline, and when the grant is lost,
// then with ErrLost as its cause.
func (n *Node) Do(ctx context.Context, resource string, f func(context.Context, *Grant) error) error {
	return do(ctx, n, resource, f)
}

// Remote is the local daemon behind its socket.
type Remote struct{ client *api.Client }

// Dial returns the daemon behind a socket. It does not connect: the first call
// does.
func Dial(socket string) *Remote { return &Remote{api.Dial(socket)} }

// Get waits for the resource.
func (r *Remote) Get(ctx context.Context, request api.AcquireRequest) (*Grant, error) {
	held, err := r.client.Acquire(ctx, request)
	if err != nil {
		return nil, err
	}
	return &Grant{info: held.Grant(), lost: held.Lost(), release: func(operated bool) {
		ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
		defer cancel()
		_ = r.client.Release(ctx, api.ReleaseRequest{Grant: held.Grant().ID, Operated: operated})
		_ = held.Close()
	}}, nil
}

// releaseTimeout bounds the report of a grant's end. One that does not arrive
// costs the rest of the grant's time, and no more.
const releaseTimeout = 5 * time.Second

// Do is Node.Do at the local daemon.
func (r *Remote) Do(ctx context.Context, resource string, f func(context.Context, *Grant) error) error {
	return do(ctx, r, resource, f)
}

func do(ctx context.Context, c Client, resource string, f func(context.Context, *Grant) error) error {
	g, err := c.Get(ctx, api.AcquireRequest{Resource: resource})
	if err != nil {
		return err
	}
	defer g.Release()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alarm := boottime.NewAlarm(g.info.DeadlineBoot.Add(-deadlineMargin))
	defer alarm.Stop()
	go func() {
		select {
		case reason, ok := <-g.lost:
			if ok {
				cancel(fmt.Errorf("%w: %s", ErrLost, reason))
			}
		case <-alarm.C:
			cancel(fmt.Errorf("%w: deadline", ErrLost))
		case <-ctx.Done():
		}
	}()
	return f(ctx, g)
}

// deadlineMargin is how long before the deadline a program is told to stop.
const deadlineMargin = 50 * time.Millisecond
