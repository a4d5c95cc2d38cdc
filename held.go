package wander

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
)

// Grant is the permission to use a resource until a deadline.
type Grant struct {
	Resource string
	// Member is the name of this machine in the group, Holder its id in hexadecimal digits.
	Member, Holder string
	// Token is the token's id in hexadecimal digits, Hop how often it was passed on before.
	Token string
	Hop   uint64
	// Fence grows from each custody of the token to the next one, and from a token to each later one: a resource that remembers the highest
	// one that it has seen can refuse a holder that is late.
	Fence uint64
	// GateFence is the number of the session at the resource's gate, which grows from session to session. 0: the resource has no gate.
	GateFence uint64
	// Deadline is when the grant ends by the wall clock. The contexts of this package count by a clock that nobody sets.
	Deadline time.Time
	// Permit is a signed proof of this custody (`wander permit verify`), and no secret. It may be empty.
	Permit []byte
	// Return is after what time from the grant on the member expects its next grant of the resource, and ReturnP95 after what time
	// it comes in 19 of 20 cases, by the times between its last ones. A program that has to do with what it does now until then can
	// do as much as that. Both are 0 while the member has had too few grants to tell: for the
	// first three after it started.
	Return, ReturnP95 time.Duration
}

// Held is a resource that this machine holds. Release it.
type Held struct {
	granted  granted
	grant    Grant
	lost     context.Context // cancelled when the grant is over
	end      context.CancelCauseFunc
	from, to clock.Instant // when its use was seen first and last; 0: not known

	release sync.Once
	err     error // of release
}

// hold watches a grant from now on.
func hold(granted granted, margin func(time.Duration) time.Duration) *Held {
	g := granted.Grant()
	h := &Held{granted: granted, grant: Grant{
		Resource: g.Resource, Member: g.Name, Holder: g.Member.String(), Token: g.Token.String(), Hop: g.Hop, Fence: g.Fence, GateFence: g.GateFence,
		Deadline: g.Deadline, Permit: g.Permit, Return: span(g.ReturnS), ReturnP95: span(g.ReturnP95S),
	}}
	h.lost, h.end = context.WithCancelCause(context.Background())
	go h.watch(margin(g.Left()))
	return h
}

// span is a number of seconds as a time span, 0 where there is none.
func span(s *float64) time.Duration {
	if s == nil {
		return 0
	}
	return time.Duration(*s * float64(time.Second))
}

// watch cancels the holder's context when the deadline is near or the grant is lost.
func (h *Held) watch(margin time.Duration) {
	near, stop := alarm(h.granted.Grant(), margin)
	defer stop()
	lost := h.granted.Lost()
	for {
		select {
		case <-h.lost.Done():
			return
		case <-near:
			h.end(ErrDeadline)
		case reason, told := <-lost:
			if told {
				h.end(fmt.Errorf("%s: %w: %s", h.grant.Resource, ErrLost, reason))
			}
			lost = nil // a grant whose daemon is gone stands until its deadline
		}
	}
}

// alarm comes so long before the deadline of a grant.
func alarm(g api.Grant, margin time.Duration) (<-chan struct{}, func()) {
	if g.BootID == boottime.ID() {
		a := boottime.NewAlarm(g.DeadlineBoot.Add(-margin))
		return a.C, a.Stop
	}
	near := make(chan struct{})
	t := time.AfterFunc(g.Left()-margin, func() { close(near) })
	return near, func() { t.Stop() }
}

// Grant is what was granted.
func (h *Held) Grant() Grant { return h.grant }

// Context is cancelled when the resource may not be used any more: before the deadline ([ErrDeadline]), when the grant is lost ([ErrLost]), and
// when it was released ([ErrReleased]). [context.Cause] tells which.
func (h *Held) Context() context.Context { return h.lost }

// within is a context that ends with Context or with ctx, for the cause of that one. end ends it, and tells whether the grant was over before.
func (h *Held) within(ctx context.Context) (_ context.Context, end func() error) {
	inner, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(h.lost, func() { cancel(context.Cause(h.lost)) })
	return inner, func() error {
		stop()
		cancel(context.Canceled)
		over := context.Cause(h.lost)
		if errors.Is(over, ErrDeadline) && h.granted.Grant().Left() > 0 {
			return nil // within the margin
		}
		return over
	}
}

// Release gives the resource back. It may be called more than once, and returns the same each time. It waits for a daemon that is being
// restarted, at most 10 s. An error says that no daemon has confirmed: the grant ends at its deadline then.
func (h *Held) Release() error {
	h.release.Do(func() {
		h.end(ErrReleased)
		if h.err = h.granted.release(h.from, h.to); h.err != nil {
			h.err = fmt.Errorf("%s: not released: %w", h.grant.Resource, h.err)
		}
	})
	return h.err
}
