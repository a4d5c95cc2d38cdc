package node

import (
	"context"
	"errors"

	"github.com/wandertoken/wander/protocol/group"
)

// gateTargets are the gates of a configuration.
func gateTargets(c group.Config) (list []gateTarget) {
	return nil
}

// dialGate makes a connection with a gate.
func (n *Node) dialGate(ctx context.Context, t gateTarget) (gateConn, error) {
	if dial := n.cfg.seams.dialGate; dial != nil {
		return dial(ctx, t)
	}
	return nil, errors.ErrUnsupported
}
