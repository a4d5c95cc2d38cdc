package world

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// spare is the name of the machine that nobody has.
const spare = "spare"

// maxMachines is how many addresses the network has, but for that of the spare one.
const maxMachines = 200

// networkBits is how many bits of all addresses are the same: each machine reaches the
// others without a router.
const networkBits = 16

// World is the machines and their network.
type World struct {
	Machines []*Machine
	Spare    *Machine // one more, on which nothing runs
	Network  *Network
}

// New makes machines with folders in dir, and connects them. Enter has been
// called before. The seed decides which packets are lost.
func New(dir string, names []string, seed uint64) (*World, error) {
	return NewWithFar(dir, names, nil, seed)
}

// NewWithFar is New with more machines, behind the others, whose addresses are of another
// network each: as those of strangers are.
func NewWithFar(dir string, names, far []string, seed uint64) (*World, error) {
	near := len(names)
	names = slices.Concat(names, far)
	if len(names) > maxMachines {
		return nil, fmt.Errorf("%d machines: there are addresses for %d", len(names), maxMachines)
	}
	w := &World{Network: newNetwork(seed)}
	for i, name := range append(names, spare) {
		address := netip.AddrFrom4([4]byte{10, 83, 0, byte(i + 1)})
		if i >= near && i < len(names) {
			address = netip.AddrFrom4([4]byte{10, 83, byte(i + 1), 1})
		}
		m := &Machine{Name: name, Dir: filepath.Join(dir, name), Address: address.String()}
		err := os.Mkdir(m.Dir, 0o700)
		if err == nil {
			m.place, err = newPlace(netip.PrefixFrom(address, networkBits))
		}
		if err != nil {
			w.Close()
			return nil, fmt.Errorf("machine %s: %w", name, err)
		}
		m.port = &port{address: address, device: m.place.tun}
		if i < len(names) {
			w.Machines = append(w.Machines, m)
		} else {
			w.Spare = m
		}
		w.Network.ports = append(w.Network.ports, m.port)
	}
	for i := range w.Network.ports {
		go w.Network.forward(i)
	}
	return w, nil
}

// Close ends everything on the machines, and removes what MountState has mounted.
func (w *World) Close() {
	all := slices.Clone(w.Machines)
	if w.Spare != nil {
		all = append(all, w.Spare)
	}
	for _, m := range all {
		m.PowerOff()
		m.place.close()
		_ = unix.Unmount(m.stateDir(), unix.MNT_DETACH) // fails where nothing is mounted
	}
}
