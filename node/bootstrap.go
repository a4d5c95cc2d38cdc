package node

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/wandertoken/wander/node/transport"
)

const (
	// bootstrapPause and bootstrapRest are how long the node waits before it
	// asks the bootstrap peers again: while it knows nobody, and otherwise.
	bootstrapPause = time.Second
	bootstrapRest  = 30 * time.Second
	// dialTimeout bounds one attempt at one bootstrap peer, name resolution
	// included.
	dialTimeout = 10 * time.Second
)

// bootstrap meets the configured peers: once each at the start, and again
// while nobody is connected.
type bootstrap struct {
	peers     []string // "host:port"
	own       []string // addresses of this member: one list of peers may serve a whole group
	transport *transport.Transport
	contacts  *contacts
	reports   *limiter
	log       *slog.Logger
}

// run meets peers until ctx ends, or done is closed.
func (b *bootstrap) run(ctx context.Context, done <-chan struct{}) {
	met := make(map[string]bool)
	for ctx.Err() == nil {
		pause := bootstrapRest
		for _, address := range b.peers {
			if slices.Contains(b.own, address) || (met[address] && !b.isAlone()) {
				continue
			}
			met[address] = b.meet(ctx, address) || met[address]
			if !met[address] && b.isAlone() {
				pause = bootstrapPause
			}
		}
		select {
		case <-ctx.Done():
		case <-done:
			return
		case <-time.After(pause):
		}
	}
}

func (b *bootstrap) isAlone() bool { return b.transport.Stats().Connections == 0 }

// meet dials one bootstrap peer. Its own address among them is no error: all
// members may have one list.
func (b *bootstrap) meet(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	_, err := b.transport.DialAddress(ctx, address)
	if err == nil || errors.Is(err, transport.ErrSelf) {
		return true
	}
	b.contacts.noteFailed(err)
	if ctx.Err() == nil && b.isAlone() && b.reports.allow("bootstrap "+address) {
		b.log.Warn("bootstrap peer unreachable", "address", address, "reason", err)
	}
	return false
}
