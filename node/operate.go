package node

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/wandertoken/wander/node/api"
)

// operatePause spaces the attempts of a standing operation that cannot get a
// grant, or that ends at once.
const operatePause = 100 * time.Millisecond

// operateRefused is the pause while the group configuration lacks the resource: it may
// share it again.
const operateRefused = time.Second

// operator runs the standing operation.
type operator struct {
	Operation
	programs *programs
	reports  *limiter
	log      *slog.Logger
}

// run runs the operation under one grant after the other. How often that is, the policy
// decides.
func (o *operator) run(ctx context.Context) {
	request := api.AcquireRequest{Resource: o.Resource, MaxHoldMS: o.MaxHold.Milliseconds(), Label: "operation"}
	for ctx.Err() == nil {
		l, err := o.programs.acquire(ctx, request)
		if err == nil {
			o.once(ctx, l)
			continue
		}
		if o.programs.err() != nil {
			return
		}
		if ctx.Err() == nil && o.reports.allow("operation") {
			o.log.Warn("operation not granted", "resource", request.Resource, "reason", err)
		}
		pause := operatePause
		if errors.Is(err, api.ErrRefused) {
			pause = operateRefused
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// once runs the operation under a grant.
func (o *operator) once(ctx context.Context, l *heldGrant) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-l.lost: // a reason, or the grant's end
			cancel()
		case <-ctx.Done():
		}
	}()
	used := o.Run(ctx, l.grant)
	used.Grant = l.grant.ID
	o.programs.release(used)
}
