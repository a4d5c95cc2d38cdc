//go:build !linux

package transport

import "net"

// ReceiveBuffer is not known here.
func (t *Transport) ReceiveBuffer() int { return 0 }

// PathMTU is not known here.
func PathMTU(net.Addr) int { return 0 }
