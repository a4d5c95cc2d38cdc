package transport

import (
	"encoding/binary"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// maxRead is how many packets are read at once: as many as quic-go asks for.
const maxRead = 8

// quietSocket reads and writes without announcing its system calls to the Go runtime. Each
// one that is announced while the process is idle wakes the runtime's monitor, a thread
// whose switches are half of all of an idle member. The calls do not block, so that the
// monitor would have nothing to do. An address with a zone is left to the net package.
type quietSocket struct {
	*net.UDPConn
	raw   syscall.RawConn
	isIP6 bool

	in  incoming // of the one goroutine that reads
	mu  sync.Mutex
	out outgoing // by mu
}

// messageHeader is struct mmsghdr.
type messageHeader struct {
	unix.Msghdr
	n uint32
}

// incoming is what one system call reads.
type incoming struct {
	headers [maxRead]messageHeader
	buffers [maxRead]unix.Iovec
	names   [maxRead]unix.RawSockaddrInet6 // or RawSockaddrInet4, which is shorter
	wanted  int
	got     int
	err     syscall.Errno
	call    func(fd uintptr) bool
}

// outgoing is what one system call writes.
type outgoing struct {
	header unix.Msghdr
	buffer unix.Iovec
	name   unix.RawSockaddrInet6
	err    syscall.Errno
	call   func(fd uintptr) bool
}

// quiet makes a socket of the system one that lets the runtime's monitor sleep. Another one,
// or one whose kind cannot be told, stays as it is.
func quiet(conn net.PacketConn) net.PacketConn {
	udp, ok := conn.(*net.UDPConn)
	if !ok {
		return conn
	}
	raw, err := udp.SyscallConn()
	if err != nil {
		return conn
	}
	q := &quietSocket{UDPConn: udp, raw: raw}
	known := false
	err = raw.Control(func(fd uintptr) {
		domain, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DOMAIN)
		q.isIP6, known = domain == unix.AF_INET6, err == nil && (domain == unix.AF_INET || domain == unix.AF_INET6)
	})
	if err != nil || !known {
		return conn
	}
	q.in.call, q.out.call = q.in.receive, q.out.send
	return q
}

// ReadBatch reads what has come, and waits until something has. quic-go calls it from one
// goroutine.
func (q *quietSocket) ReadBatch(list []ipv4.Message, _ int) (int, error) {
	in := &q.in
	in.wanted = min(len(list), maxRead)
	for i := range in.wanted {
		m, h := &list[i], &in.headers[i]
		in.buffers[i].Base = unsafe.SliceData(m.Buffers[0])
		in.buffers[i].SetLen(len(m.Buffers[0]))
		h.Name, h.Namelen = (*byte)(unsafe.Pointer(&in.names[i])), unix.SizeofSockaddrInet6
		h.Iov = &in.buffers[i]
		h.SetIovlen(1)
		h.Control = unsafe.SliceData(m.OOB)
		h.SetControllen(len(m.OOB))
	}
	if err := q.raw.Read(in.call); err != nil {
		return 0, err
	}
	if in.err != 0 {
		return 0, q.failed("read", os.NewSyscallError("recvmmsg", in.err), nil)
	}
	for i := range in.got {
		m, h := &list[i], &in.headers[i]
		m.N, m.NN, m.Flags, m.Addr = int(h.n), int(h.Controllen), int(h.Flags), senderOf(&in.names[i])
	}
	return in.got, nil
}

// receive reads what has come, or reports false when nothing has.
func (in *incoming) receive(fd uintptr) bool {
	for {
		n, _, err := unix.RawSyscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&in.headers[0])), uintptr(in.wanted), 0, 0, 0)
		in.got, in.err = int(n), err
		if err != unix.EINTR {
			return err != unix.EAGAIN
		}
	}
}

// WriteMsgUDP is net.UDPConn's.
func (q *quietSocket) WriteMsgUDP(b, oob []byte, to *net.UDPAddr) (n, oobn int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := &q.out
	size := out.address(to, q.isIP6)
	if size == 0 {
		return q.UDPConn.WriteMsgUDP(b, oob, to)
	}
	out.buffer.Base = unsafe.SliceData(b)
	out.buffer.SetLen(len(b))
	out.header = unix.Msghdr{
		Name: (*byte)(unsafe.Pointer(&out.name)), Namelen: size, Iov: &out.buffer,
		Control: unsafe.SliceData(oob),
	}
	out.header.SetIovlen(1)
	out.header.SetControllen(len(oob))
	err = q.raw.Write(out.call)
	out.header.Control, out.buffer.Base = nil, nil // they are the caller's
	if err == nil && out.err != 0 {
		err = os.NewSyscallError("sendmsg", out.err)
	}
	if err != nil {
		return 0, 0, q.failed("write", err, to)
	}
	return len(b), len(oob), nil
}

// send sends, or reports false when the socket takes no more now.
func (out *outgoing) send(fd uintptr) bool {
	for {
		_, _, out.err = unix.RawSyscall(unix.SYS_SENDMSG, fd, uintptr(unsafe.Pointer(&out.header)), 0)
		if out.err != unix.EINTR {
			return out.err != unix.EAGAIN
		}
	}
}

// address takes an address for the kernel, and returns its size, or 0 for one that only the
// net package knows how to send to.
func (out *outgoing) address(to *net.UDPAddr, isIP6 bool) (size uint32) {
	if to == nil || to.Zone != "" {
		return 0
	}
	ip := to.IP.To4()
	switch {
	case isIP6:
		out.name = unix.RawSockaddrInet6{Family: unix.AF_INET6, Port: swapped(uint16(to.Port))}
		if copy(out.name.Addr[:], to.IP.To16()) == 0 {
			return 0
		}
		return unix.SizeofSockaddrInet6
	case ip != nil:
		name := (*unix.RawSockaddrInet4)(unsafe.Pointer(&out.name))
		*name = unix.RawSockaddrInet4{Family: unix.AF_INET, Port: swapped(uint16(to.Port)), Addr: [4]byte(ip)}
		return unix.SizeofSockaddrInet4
	}
	return 0
}

// senderOf is an address as the net package has it.
func senderOf(name *unix.RawSockaddrInet6) *net.UDPAddr {
	a := &net.UDPAddr{Port: int(swapped(name.Port))}
	if name.Family == unix.AF_INET {
		ip := (*unix.RawSockaddrInet4)(unsafe.Pointer(name)).Addr
		a.IP = append(net.IP(nil), ip[:]...)
		return a
	}
	a.IP = append(net.IP(nil), name.Addr[:]...)
	if name.Scope_id != 0 {
		if i, err := net.InterfaceByIndex(int(name.Scope_id)); err == nil {
			a.Zone = i.Name
		}
	}
	return a
}

// swapped is a port in the network's order of bytes, or one in that order in this machine's.
func swapped(port uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], port)
	return binary.NativeEndian.Uint16(b[:])
}

func (q *quietSocket) failed(what string, err error, to *net.UDPAddr) error {
	e := &net.OpError{Op: what, Net: "udp", Source: q.LocalAddr(), Err: err}
	if to != nil {
		e.Addr = to
	}
	return e
}

// nudge sends an empty datagram on a connected socket, likewise without waking the runtime's
// monitor.
func nudge(socket *net.UDPConn) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var errno syscall.Errno
	err = raw.Write(func(fd uintptr) bool {
		_, _, errno = unix.RawSyscall6(unix.SYS_SENDTO, fd, 0, 0, 0, 0, 0)
		return errno != unix.EAGAIN
	})
	if err == nil && errno != 0 {
		err = errno
	}
	return err
}
