//go:build !linux

package transport

import "net"

// quiet is the socket as it is.
func quiet(conn net.PacketConn) net.PacketConn { return conn }

// nudge sends an empty datagram on a connected socket.
func nudge(socket *net.UDPConn) error {
	_, err := socket.Write(nil)
	return err
}
