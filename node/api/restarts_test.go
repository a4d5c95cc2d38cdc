package api

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
)

func TestDeadlineHere_WallClockJumps_BootClockCounts(t *testing.T) {
	g := Grant{Deadline: time.Now().Add(time.Hour), DeadlineBoot: 5, BootID: boottime.ID()}
	assert.Equal(t, clock.Instant(5), g.DeadlineHere())
	g.BootID = "another boot"
	left := g.DeadlineHere().Sub(boottime.Now())
	assert.LessOrEqual(t, left, time.Hour)
	assert.Greater(t, left, time.Hour/2)
}

// A daemon that was never there is not looked for. One that closes the connection is, until it refuses.
func TestAcquireThroughRestarts_DaemonGoes_AskedAgain(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	c := Dial(socket)
	_, err := c.AcquireThroughRestarts(t.Context(), AcquireRequest{Resource: "tape"}, clock.Never)
	require.ErrorIs(t, err, ErrNoDaemon)

	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	const asked = 3
	go func() {
		defer l.Close()
		for i := range asked {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if i == asked-1 {
				_, _ = conn.Read(make([]byte, 1<<12))
				_, _ = conn.Write([]byte("HTTP/1.1 409 Conflict\r\nConnection: close\r\n\r\n" + `{"v":1,"error":{"code":"not_granted","message":"no"}}`))
			}
			conn.Close()
		}
	}()
	_, err = c.AcquireThroughRestarts(t.Context(), AcquireRequest{Resource: "tape"}, clock.Never)
	assert.ErrorIs(t, err, ErrNotGranted)
}

func TestReleaseThroughRestarts_NoDaemon_UntilTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(errors.New("enough")) })
	err := Dial(filepath.Join(t.TempDir(), "s")).ReleaseThroughRestarts(ctx, ReleaseRequest{})
	assert.ErrorIs(t, err, ErrUnavailable)
}
