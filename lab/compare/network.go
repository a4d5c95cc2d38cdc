package main

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// packetSize is the largest packet: tun devices have the MTU of Ethernet.
	packetSize = 2048
	// queueLength bounds the packets on their way to one machine: more are lost, as on a real path.
	queueLength = 8192
	// namespaceFolder is where ip has them.
	namespaceFolder = "/run/netns"
)

// network is machines, and a router between them. The zero value has none.
type network struct {
	delay    atomic.Int64 // of each packet, one way, in nanoseconds
	mu       sync.RWMutex
	machines map[netip.Addr]*machine
}

// machine is a network namespace.
type machine struct {
	name    string
	address netip.Addr
	tun     *os.File
	queue   chan packet
	sent    atomic.Int64 // bytes that left it
}

type packet struct {
	due  time.Time
	data []byte
}

// add makes a machine.
func (n *network) add(address netip.Addr) (*machine, error) {
	a := address.As4()
	m := &machine{name: fmt.Sprintf("compare-%d-%d-%d", os.Getpid(), a[2], a[3]), address: address, queue: make(chan packet, queueLength)}
	if out, err := exec.Command("ip", "netns", "add", m.name).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("no network namespace, which needs root: %w: %s", err, out)
	}
	n.mu.Lock()
	if n.machines == nil {
		n.machines = make(map[netip.Addr]*machine)
	}
	n.machines[address] = m
	n.mu.Unlock()
	var err error
	if m.tun, err = openTun(m.name); err != nil {
		return nil, fmt.Errorf("%s: no tun device: %w", m.name, err)
	}
	for _, args := range [][]string{
		{"link", "set", "lo", "up"}, {"address", "add", address.String() + "/16", "dev", tunName}, {"link", "set", tunName, "up"},
	} {
		if out, err := exec.Command("ip", append([]string{"-n", m.name}, args...)...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("ip %v: %w: %s", args, err, out)
		}
	}
	go n.route(m)
	go m.deliver()
	return m, nil
}

// tunName is that of the device in each namespace.
const tunName = "tun0"

// openTun makes a tun device in a namespace. A thread that has been there ends.
func openTun(namespace string) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened)
	go func() {
		runtime.LockOSThread() // and never unlocked
		f, err := openTunHere(filepath.Join(namespaceFolder, namespace))
		done <- opened{f, err}
	}()
	o := <-done
	return o.f, o.err
}

func openTunHere(namespace string) (*os.File, error) {
	ns, err := os.Open(namespace)
	if err != nil {
		return nil, err
	}
	defer ns.Close()
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, err
	}
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	request, err := unix.NewIfreq(tunName)
	if err != nil {
		return nil, err
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), tunName), nil
}

// route takes what a machine sends.
func (n *network) route(m *machine) {
	for {
		buf := make([]byte, packetSize)
		length, err := m.tun.Read(buf)
		if err != nil {
			return
		}
		m.sent.Add(int64(length))
		if length < 20 || buf[0]>>4 != 4 { // IPv4 only
			continue
		}
		n.mu.RLock()
		to := n.machines[netip.AddrFrom4([4]byte(buf[16:20]))]
		n.mu.RUnlock()
		if to == nil {
			continue
		}
		select {
		case to.queue <- packet{time.Now().Add(time.Duration(n.delay.Load())), buf[:length]}:
		default:
		}
	}
}

// deliver writes packets when they are due, in their order.
func (m *machine) deliver() {
	for p := range m.queue {
		if wait := time.Until(p.due); wait > 0 {
			time.Sleep(wait)
		}
		if _, err := m.tun.Write(p.data); err != nil {
			return
		}
	}
}

// command is one that runs in the machine.
func (m *machine) command(name string, args ...string) *exec.Cmd {
	c := exec.Command("ip", append([]string{"netns", "exec", m.name, name}, args...)...)
	c.SysProcAttr = endsWithUs()
	return c
}

// close ends the machines. Processes in them have to have ended.
func (n *network) close() {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for _, m := range n.machines {
		if m.tun != nil {
			_ = m.tun.Close()
		}
		_ = exec.Command("ip", "netns", "del", m.name).Run()
	}
}
