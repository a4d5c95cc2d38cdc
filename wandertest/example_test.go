package wandertest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander"
	"github.com/wandertoken/wander/wandertest"
)

// backup is a program under test: it writes until it has written enough, or may not go on.
func backup(ctx context.Context, client *wander.Client) (written int, err error) {
	err = client.Do(ctx, wandertest.Tape, func(ctx context.Context, _ wander.Grant) error {
		for ; written < 100; written++ {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(time.Minute):
			}
		}
		return nil
	}, wander.Label("backup"))
	return written, err
}

// The test of a program that has to stop when its grant is lost, and of the one that comes next.
func TestBackup_MemberStops_AnotherOneDoesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := wandertest.New(t, 3)
		time.AfterFunc(10*time.Minute, g.Member(1).Stop)
		written, err := backup(t.Context(), g.Member(1).Client())
		require.ErrorIs(t, err, wander.ErrLost)
		assert.LessOrEqual(t, written, 10)
		written, err = backup(t.Context(), g.Member(0).Client())
		require.ErrorIs(t, err, wander.ErrDeadline, "it takes longer than the hour of a grant")
		assert.Less(t, written, 60)
	})
}
