// Package world is where a soak run happens: real processes on machines of
// their own, which are network namespaces, and a network between them whose
// faults the run decides.
//
// Everything ends with the process that calls Enter: all other processes are in
// a process namespace that the kernel ends with its first process, and a
// network namespace ends with the processes in it. So a run leaves nothing
// behind but files, however it ends.
package world

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// MaxMachines is how many addresses the network has.
const MaxMachines = 200

// World is the machines and their network.
type World struct {
	Machines []*Machine
	Network  *Network
}

// New makes machines with folders in dir, and connects them. Enter has been
// called before. The seed decides which packets are lost.
func New(dir string, names []string, seed uint64) (*World, error) {
	if len(names) > MaxMachines {
		return nil, fmt.Errorf("%d machines: there are addresses for %d", len(names), MaxMachines)
	}
	w := &World{Network: newNetwork(seed)}
	for i, name := range names {
		address := netip.AddrFrom4([4]byte{10, 83, 0, byte(i + 1)})
		m := &Machine{Name: name, Dir: filepath.Join(dir, name), Address: address.String()}
		err := os.Mkdir(m.Dir, 0o700)
		if err == nil {
			m.place, err = newPlace(netip.PrefixFrom(address, 24))
		}
		if err != nil {
			w.Close()
			return nil, fmt.Errorf("machine %s: %w", name, err)
		}
		m.port = &port{address: address, device: m.place.tun}
		w.Machines = append(w.Machines, m)
		w.Network.ports = append(w.Network.ports, m.port)
	}
	for i := range w.Machines {
		go w.Network.forward(i)
	}
	return w, nil
}

// Close ends everything on the machines, and removes what MountState has mounted.
func (w *World) Close() {
	for _, m := range w.Machines {
		m.PowerOff()
		m.place.close()
		_ = unix.Unmount(m.stateDir(), unix.MNT_DETACH) // fails where nothing is mounted
	}
}
