package api

import (
	"context"
	"errors"
	"time"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
)

// reconnectFor is how long a waiting program looks for a daemon that has gone: a restart takes seconds. One that was
// never there is not looked for.
const reconnectFor = 30 * time.Second

// DeadlineHere is the grant's deadline on this process's clock. The wall clock replaces it only where the daemon's
// process and this one do not share one.
func (g Grant) DeadlineHere() clock.Instant {
	if g.BootID == boottime.ID() {
		return g.DeadlineBoot
	}
	return boottime.Now().Add(g.Left())
}

// Left is the time until the deadline, below 0 after it.
func (g Grant) Left() time.Duration {
	if g.BootID == boottime.ID() {
		return g.DeadlineBoot.Sub(boottime.Now())
	}
	return time.Until(g.Deadline)
}

// AcquireThroughRestarts is Acquire for a program that may wait for long: while a daemon that was there is being
// restarted, it asks again. The wait ends at the instant end, clock.Never for no end; r.WaitMS is set from it.
func (c *Client) AcquireThroughRestarts(ctx context.Context, r AcquireRequest, end clock.Instant) (*Held, error) {
	gone := clock.Never // when the daemon went
	pause := backoff{}
	for {
		if end != clock.Never {
			ms := Millis(max(0, end.Sub(boottime.Now())))
			r.WaitMS = &ms
		}
		held, err := c.Acquire(ctx, r)
		now := boottime.Now()
		switch {
		case err == nil, !errors.Is(err, ErrUnavailable):
			return held, err
		case !errors.Is(err, ErrNoDaemon): // it was there
			gone = now
		case gone == clock.Never, now.Sub(gone) > reconnectFor:
			return nil, err
		}
		if !now.Before(end) || !pause.wait(ctx) {
			return nil, err
		}
	}
}

// ReleaseThroughRestarts is Release until a daemon answers or ctx ends: one that is being restarted hears it when it is
// back.
func (c *Client) ReleaseThroughRestarts(ctx context.Context, r ReleaseRequest) error {
	pause := backoff{}
	for {
		err := c.Release(ctx, r)
		if err == nil || !errors.Is(err, ErrUnavailable) || !pause.wait(ctx) {
			return err
		}
	}
}

// Millis is a time of a request. It rounds up: a shorter time than asked for would be a surprise.
func Millis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// backoff spaces out attempts. The zero value is ready.
type backoff struct{ last time.Duration }

// wait waits twice as long as the last time, and reports whether ctx let it.
func (b *backoff) wait(ctx context.Context) bool {
	const first, most = 50 * time.Millisecond, 2 * time.Second
	b.last = min(max(first, 2*b.last), most)
	t := time.NewTimer(b.last)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
