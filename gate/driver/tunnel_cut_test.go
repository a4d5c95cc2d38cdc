package driver_test

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	core "github.com/wandertoken/wander/protocol/gate"
)

// What the gate's system still has to send when a session is cut does not reach a target that reads it only later (W-15).
func TestSession_CutWhileTargetBusy_NothingMoreArrives(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		if c, err := l.Accept(); err == nil {
			accepted <- c
		}
	}()
	w := newWorld(t, 1, nil)
	s := open(w, func(c *driver.Config) {
		c.Target = driver.Target{Network: "tcp", Address: l.Addr().String()}
		c.CloseHook = func(context.Context, driver.Call) core.Result { return core.Succeeded }
	})
	session := w.SignIn(s.dial(0), w.Mint(0), lasts)
	gatetest.Opened(t, session)
	stream := connect(t, session)
	var written atomic.Int64
	go func() {
		for part := make([]byte, 16<<10); ; written.Add(int64(len(part))) {
			if _, err := stream.Write(part); err != nil {
				return
			}
		}
	}()
	busy := await.Next(t, "the connection to the target", accepted)
	defer busy.Close()
	await.Until(t, "more is written than the target's system takes", func() bool { return written.Load() > 1<<20 })
	closed, err := session.SignOut(context.Background())
	require.NoError(t, err)
	require.True(t, closed.Confirmed)
	_, err = io.Copy(io.Discard, busy)
	require.ErrorIs(t, err, syscall.ECONNRESET)
}
