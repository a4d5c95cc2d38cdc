package api

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// as connects to a socket as another user of this machine: credentials are a thread's, and this one ends with the goroutine.
func as(t *testing.T, user int, socket string, n int) []net.Conn {
	t.Helper()
	type result struct {
		conns []net.Conn
		err   error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // for good
		var r result
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(user), uintptr(user), uintptr(user)); errno != 0 {
			r.err = errno
		}
		for range n {
			if r.err != nil {
				break
			}
			var c net.Conn
			if c, r.err = net.Dial("unix", socket); r.err == nil {
				r.conns = append(r.conns, c)
			}
		}
		done <- r
	}()
	r := <-done
	require.NoError(t, r.err)
	t.Cleanup(func() {
		for _, c := range r.conns {
			c.Close()
		}
	})
	return r.conns
}

// A user who opens connections without end keeps nobody else out, and may open more when some have been closed.
func TestConnections_OneUser_OthersConnect(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be other users")
	}
	path := filepath.Join(open(t), SocketName)
	access, err := ParseAccess("", "0666")
	require.NoError(t, err)
	l, err := Listen(path, access)
	require.NoError(t, err)
	g := &guarded{Listener: l}
	defer g.Close()
	accepted := make(chan net.Conn, 2*MaxUserConnections)
	go func() {
		for {
			c, err := g.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	conns := as(t, 61001, path, MaxUserConnections)
	var first net.Conn
	for i := range conns {
		c := receive(t, accepted)
		assert.EqualValues(t, 61001, c.(*asking).asker.User)
		if i == 0 {
			first = c
		}
	}
	closed := func(c net.Conn) bool {
		_ = c.SetReadDeadline(time.Now().Add(hang))
		_, err := c.Read(make([]byte, 1))
		return err == io.EOF
	}
	assert.True(t, closed(as(t, 61001, path, 1)[0]), "one too many")
	as(t, 61002, path, 1)
	assert.EqualValues(t, 61002, receive(t, accepted).(*asking).asker.User)
	as(t, 0, path, 1)
	assert.Zero(t, receive(t, accepted).(*asking).asker.User)
	first.Close()
	first.Close() // counts once
	as(t, 61001, path, 1)
	assert.EqualValues(t, 61001, receive(t, accepted).(*asking).asker.User)
	assert.True(t, closed(as(t, 61001, path, 1)[0]))
}
