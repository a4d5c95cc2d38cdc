package api

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
)

// SocketName is the socket's file name in the daemon's state directory.
const SocketName = "wander.sock"

// maxSocketPath is what sun_path of sockaddr_un holds on the strictest system
// that is supported (darwin), without its closing zero byte.
const maxSocketPath = 103

// Errors of Listen.
var (
	// ErrInUse says that another daemon answers on the socket.
	ErrInUse = errors.New("another daemon listens on the socket")
	// ErrNotSocket says that the path is taken by something else.
	ErrNotSocket = errors.New("not a socket")
	// ErrPathTooLong says that the system has no sockets with such long paths.
	ErrPathTooLong = errors.New("socket path too long")
)

// Listen opens the daemon's socket, for those who have access. A socket that a dead
// daemon left behind is replaced; the caller's lock on the state directory
// keeps two daemons from replacing each other's.
func Listen(path string, access Access) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("%w: %d bytes, permitted are %d: %s", ErrPathTooLong, len(path), maxSocketPath, path)
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	config := net.ListenConfig{Control: restrict}
	l, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	if err := access.open(path); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// restrict runs between socket and bind. On Linux the socket file gets its mode
// from the descriptor's, so that it is never open to others, not even between
// bind and chmod.
func restrict(_, _ string, c syscall.RawConn) error {
	var err error
	if e := c.Control(func(fd uintptr) { err = restrictMode(fd) }); e != nil {
		return e
	}
	return err
}

func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%w: %s", ErrNotSocket, path)
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		conn.Close()
		return fmt.Errorf("%w: %s", ErrInUse, path)
	}
	return os.Remove(path)
}
