package transport

import (
	"net"

	"golang.org/x/sys/unix"
)

// ReceiveBuffer is how many bytes the kernel keeps of what has arrived on the socket, its own bookkeeping included; 0:
// it does not say.
func (t *Transport) ReceiveBuffer() (bytes int) {
	if c, ok := t.cfg.Conn.(*net.UDPConn); ok {
		if raw, err := c.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { bytes, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF) })
		}
	}
	return bytes
}

// PathMTU is the largest packet that the kernel thinks the way to an address carries, by the routes and what routers have
// said so far; 0: it does not say. Nothing is sent.
func PathMTU(to net.Addr) (bytes int) {
	conn, err := net.Dial("udp", to.String())
	if err != nil {
		return 0
	}
	defer conn.Close()
	raw, err := conn.(*net.UDPConn).SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if bytes, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU); err != nil {
			bytes, _ = unix.GetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_MTU)
		}
	})
	return bytes
}
