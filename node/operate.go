package node

import (
	"context"
	"errors"
	"time"

	"github.com/wandertoken/wander/node/api"
)

// operatePause spaces the attempts of a standing operation that cannot get a
// grant, or that ends at once.
const operatePause = 100 * time.Millisecond

// operateRefused is the pause while the group configuration lacks the resource: it may
// share it again.
const operateRefused = time.Second

// operate runs the configured operation under one grant after the other. How
// often that is, the policy decides.
func (n *Node) operate(ctx context.Context) {
	request := api.AcquireRequest{
		Resource: n.cfg.Operation.Resource, MaxHoldMS: n.cfg.Operation.MaxHold.Milliseconds(),
		Label: "operation",
	}
	for ctx.Err() == nil {
		l, err := n.acquire(ctx, request)
		if err == nil {
			n.operateOnce(ctx, l)
			continue
		}
		if n.Err() != nil {
			return
		}
		if ctx.Err() == nil && n.reports.allow("operation") {
			n.log.Warn("operation not granted", "resource", request.Resource, "reason", err)
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

func (n *Node) operateOnce(ctx context.Context, l *lease) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-l.lost: // a reason, or the grant's end
			cancel()
		case <-ctx.Done():
		}
	}()
	used := n.cfg.Operation.Run(ctx, l.grant)
	used.Grant = l.grant.ID
	_ = n.Release(used) // never fails
}
