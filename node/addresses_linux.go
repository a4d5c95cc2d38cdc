package node

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// addressNews is a socket on which the kernel tells of each change of the machine's
// addresses. Nobody waits on it: it is looked at in passing. The zero value tells nothing.
type addressNews struct {
	socket int
	open   bool
}

// listenForAddresses opens such a socket. Where that is not permitted it tells nothing.
func listenForAddresses() (n addressNews) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return n
	}
	groups := &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: unix.RTMGRP_IPV4_IFADDR | unix.RTMGRP_IPV6_IFADDR}
	if err := unix.Bind(fd, groups); err != nil {
		_ = unix.Close(fd)
		return n
	}
	return addressNews{socket: fd, open: true}
}

// none reports whether the kernel has told of no change since the last call. The system call
// is not announced to the Go runtime, as that would wake a thread, and this one never blocks.
func (n *addressNews) none() bool {
	for first := true; n.open; first = false {
		var start [1]byte // the rest of a message is thrown away
		_, _, err := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(n.socket), uintptr(unsafe.Pointer(&start)), 1, unix.MSG_DONTWAIT, 0, 0)
		switch err {
		case unix.EAGAIN:
			return first
		case 0, unix.EINTR, unix.ENOBUFS: // a message, or more than the kernel keeps
		default:
			n.close()
		}
	}
	return false
}

func (n *addressNews) close() {
	if n.open {
		n.open = false
		_ = unix.Close(n.socket)
	}
}
