//go:build unix

package demo

import (
	"io"
	"net"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

const (
	// inheritedFD is the number that the first of exec.Cmd's ExtraFiles has in the new
	// process.
	inheritedFD = "3"
	// maxDrained bounds the datagrams that are thrown away before a start: more than
	// a receive buffer holds.
	maxDrained = 1 << 14
)

// handOn has the command's process listen on a socket of this one. A datagram that has come
// since the process before ended is lost, as with a port that nobody has. The
// caller closes what is returned when the process has started.
func handOn(cmd *exec.Cmd, socket *net.UDPConn) (io.Closer, error) {
	if err := drain(socket); err != nil {
		return nil, err
	}
	file, err := socket.File()
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{file}
	cmd.Args = append(cmd.Args, "--listen-fd", inheritedFD)
	return file, nil
}

// drain throws away what waits in a socket.
func drain(socket *net.UDPConn) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) {
		for range maxDrained {
			if _, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_DONTWAIT); err != nil {
				return
			}
		}
	})
}
