package world

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

const (
	// device is what the one interface of a machine is called, besides lo.
	device = "wander0"
	// mtu is that of Ethernet.
	mtu = 1500
)

// place is a network namespace: a thread that is in it, and starts processes
// there. The namespace ends with its processes and this thread, so nothing has
// to be removed.
type place struct {
	calls chan func()
	id    string // of the namespace, as /proc names it
	tun   *os.File
}

func newPlace(address netip.Prefix) (*place, error) {
	p := &place{calls: make(chan func())}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		ready <- p.enter(address)
		for call := range p.calls {
			call()
		}
	}()
	if err := <-ready; err != nil {
		close(p.calls)
		return nil, err
	}
	return p, nil
}

// enter makes the namespace and its interfaces.
func (p *place) enter(address netip.Prefix) error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return os.NewSyscallError("unshare network namespace", err)
	}
	id, err := os.Readlink(fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid()))
	if err != nil {
		return err
	}
	p.id = id
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: "/dev/net/tun", Err: err}
	}
	r, err := unix.NewIfreq(device)
	if err == nil {
		r.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = os.NewSyscallError("TUNSETIFF", unix.IoctlIfreq(fd, unix.TUNSETIFF, r))
	}
	if err != nil {
		unix.Close(fd)
		return err
	}
	// The runtime's poller takes a device only once it is attached.
	p.tun = os.NewFile(uintptr(fd), "/dev/net/tun")
	return configure(address)
}

// configure sets up the interfaces of this thread's namespace.
func configure(address netip.Prefix) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(s)
	mask := [4]byte{}
	for i := range address.Bits() {
		mask[i/8] |= 0x80 >> (i % 8)
	}
	ip := address.Addr().As4()
	for _, set := range []struct {
		what  string
		name  string
		order uint
		value func(*unix.Ifreq) error
	}{
		{"address", device, unix.SIOCSIFADDR, func(r *unix.Ifreq) error { return r.SetInet4Addr(ip[:]) }},
		{"netmask", device, unix.SIOCSIFNETMASK, func(r *unix.Ifreq) error { return r.SetInet4Addr(mask[:]) }},
		{"mtu", device, unix.SIOCSIFMTU, func(r *unix.Ifreq) error { r.SetUint32(mtu); return nil }},
		{"up", device, unix.SIOCSIFFLAGS, func(r *unix.Ifreq) error { r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING); return nil }},
		{"up", "lo", unix.SIOCSIFFLAGS, func(r *unix.Ifreq) error { r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING); return nil }},
	} {
		r, err := unix.NewIfreq(set.name)
		if err == nil {
			err = set.value(r)
		}
		if err == nil {
			err = unix.IoctlIfreq(s, set.order, r)
		}
		if err != nil {
			return fmt.Errorf("%s of %s: %w", set.what, set.name, err)
		}
	}
	return nil
}

// start starts a command within the place.
func (p *place) start(cmd *exec.Cmd) error {
	result := make(chan error)
	p.calls <- func() { result <- cmd.Start() }
	return <-result
}

func (p *place) close() {
	close(p.calls)
	p.tun.Close()
}
