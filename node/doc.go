// Package node drives a member in the real world: QUIC, disk and clocks around
// the pure machine of protocol/member.
//
//	n, err := node.Open(ctx, node.Config{…})
//	err = n.Do(ctx, "ftp", func(ctx context.Context, g *node.Grant) error {
//		…                       // ctx ends before the grant's deadline
//	})
//
// An engine steps the member with whatever comes: frames, deadlines, demands.
// It carries the effects out in their order: records are appended to the
// journal and synced, one sync for all that came meanwhile, before any message
// of the same batch leaves.
//
// A failed sync ends the node: what the disk holds is then unknown.
package node
