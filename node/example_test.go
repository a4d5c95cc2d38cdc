package node_test

import (
	"context"
	"errors"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
)

// tape refuses a program that is late: one whose fence is below the greatest that it has seen.
type tape struct{ greatest uint64 }

var errLate = errors.New("late")

func (t *tape) write(ctx context.Context, fence uint64) error {
	if fence < t.greatest {
		return errLate
	}
	t.greatest = fence
	return ctx.Err()
}

// backUp works with a node of the program's own and with the daemon alike.
func backUp(ctx context.Context, c node.Client, to *tape) error {
	g, err := c.Get(ctx, api.AcquireRequest{Resource: resource, Label: "nightly"})
	if err != nil {
		return err
	}
	defer g.Release()
	ctx, cancel := context.WithDeadline(ctx, g.Deadline())
	defer cancel()
	return to.write(ctx, g.Fence())
}

func ExampleClient() {
	err := backUp(context.Background(), node.Dial("/var/lib/wander/wander.sock"), new(tape))
	if errors.Is(err, api.ErrNoDaemon) {
		log.Fatal("start the daemon first")
	}
}

// A program on a member's machine asks the daemon for the resource, and works until the
// context ends: then the grant is lost, or is about to end.
func ExampleRemote_Do() {
	to := new(tape)
	err := node.Dial("/var/lib/wander/wander.sock").Do(context.Background(), "tape", func(ctx context.Context, g *node.Grant) error {
		return to.write(ctx, g.Fence())
	})
	if errors.Is(err, node.ErrLost) {
		log.Fatal("the grant ended before the backup")
	}
}

func TestClient_OwnNodeOrDaemon_RunsUnderGrant(t *testing.T) {
	dir, err := os.MkdirTemp("", "w") // the path of a socket is short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, api.SocketName)
	a := newAuthority(t, quick)
	n, _ := openNode(t, a.issue(t, "alone"), func(c *node.Config) { c.Found, c.Socket = true, socket })
	daemon, to := node.Dial(socket), new(tape)
	ctx := context.Background()

	require.NoError(t, backUp(ctx, n, to))
	assert.NotZero(t, to.greatest)
	require.NoError(t, backUp(ctx, daemon, to), "the fence never falls")

	require.NoError(t, daemon.Do(ctx, resource, func(ctx context.Context, g *node.Grant) error {
		assert.Equal(t, resource, g.Info().Resource)
		return to.write(ctx, g.Fence())
	}))
	assert.ErrorIs(t, daemon.Do(ctx, resource, func(context.Context, *node.Grant) error { return errLate }), errLate)
}
