package node_test

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
)

// TestOpen_PredecessorEnding_TakesOver starts a node while the process before, as
// one that was killed, still has the journal's lock, the UDP port, the port of the
// metrics and the local socket, and loses them one after the other. A node that
// waits for the lock only fails at the next one.
func TestOpen_PredecessorEnding_TakesOver(t *testing.T) {
	dir := t.TempDir()
	journal := filepath.Join(dir, "journal")
	require.NoError(t, os.Mkdir(journal, 0o700))
	lock, err := store.OS().Lock(filepath.Join(journal, "lock"))
	require.NoError(t, err)
	udp, err := net.ListenPacket("udp", ports.Address(t))
	require.NoError(t, err)
	tcp, err := net.Listen("tcp", ports.Address(t))
	require.NoError(t, err)
	socket, err := net.Listen("unix", filepath.Join(dir, api.SocketName))
	require.NoError(t, err)
	socket.(*net.UnixListener).SetUnlinkOnClose(false)
	for i, c := range []io.Closer{lock, udp, socket, tcp} {
		time.AfterFunc(time.Duration(i+1)*100*time.Millisecond, func() { c.Close() })
	}
	n, err := node.Open(context.Background(), node.Config{
		Identity: newAuthority(t, group.Resource{Name: resource, Params: policy.Params{OperationTime: time.Second, MembersMax: 3}}.WithDefaults()).issue(t, "m"), StateDir: dir,
		Listen: udp.LocalAddr().String(), Metrics: tcp.Addr().String(),
	})
	require.NoError(t, err)
	require.NoError(t, n.Close(context.Background()))
}
