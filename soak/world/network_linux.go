package world

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Path is what happens to the packets from one machine to another. The zero
// value loses none and adds no delay.
type Path struct {
	Cut   bool    // every packet is lost, and the sender is not told
	Loss  float64 // share of packets that are lost
	Delay time.Duration
}

// maxDelayed bounds the packets that are delayed at one moment; more are lost.
const maxDelayed = 4096

// Network switches packets between the machines. It is a program, so that
// paths can be cut, delayed and lossy in each direction whatever the kernel
// offers for that; senders never see an error.
type Network struct {
	mu    sync.Mutex
	paths map[[2]int]Path // from, to; absent: the zero value
	rng   *rand.Rand
	ports []*port
	watch func(from, to int, packet []byte)

	delayed atomic.Int64
	packets atomic.Uint64
	bytes   atomic.Uint64
	dropped atomic.Uint64
}

// port is where a machine is connected.
type port struct {
	address netip.Addr
	device  *os.File
	off     atomic.Bool // the machine has no power: nobody answers there, its kernel included
}

func newNetwork(seed uint64) *Network {
	return &Network{paths: make(map[[2]int]Path), rng: rand.New(rand.NewPCG(seed, 0x6e6574))}
}

// Set changes the path from one machine to another.
func (n *Network) Set(from, to int, p Path) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.paths[[2]int{from, to}] = p
}

// Watch has somebody look at each packet that is sent from now on, whether it will arrive or
// not. Several may be looked at at once, and none may be kept.
func (n *Network) Watch(look func(from, to int, packet []byte)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watch = look
}

// Traffic is how many packets, and bytes of packets, were sent until now.
func (n *Network) Traffic() (packets, bytes uint64) { return n.packets.Load(), n.bytes.Load() }

// forward switches what one machine sends, until its device is closed.
func (n *Network) forward(from int) {
	packet := make([]byte, 1<<16)
	device := n.ports[from].device
	for {
		size, err := device.Read(packet)
		if errors.Is(err, os.ErrClosed) || size == 0 && err != nil {
			return
		}
		if err != nil {
			continue
		}
		if to, ok := n.destination(packet[:size]); ok {
			n.send(from, to, packet[:size])
		}
	}
}

// destination is the machine that an IPv4 packet is for.
func (n *Network) destination(packet []byte) (int, bool) {
	const header, address = 20, 16
	if len(packet) < header || packet[0]>>4 != 4 {
		return 0, false
	}
	to := netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, binary.BigEndian.Uint32(packet[address:]))))
	for i, p := range n.ports {
		if p.address == to {
			return i, true
		}
	}
	return 0, false
}

func (n *Network) send(from, to int, packet []byte) {
	n.packets.Add(1)
	n.bytes.Add(uint64(len(packet)))
	n.mu.Lock()
	p := n.paths[[2]int{from, to}]
	lost := p.Cut || p.Loss > 0 && n.rng.Float64() < p.Loss
	look := n.watch
	n.mu.Unlock()
	if look != nil {
		look(from, to, packet)
	}
	device := n.ports[to].device
	switch {
	case lost, n.ports[from].off.Load(), n.ports[to].off.Load():
		n.dropped.Add(1)
	case p.Delay == 0:
		_, _ = device.Write(packet) // a full queue loses it, as networks do
	case n.delayed.Load() >= maxDelayed:
		n.dropped.Add(1)
	default:
		n.delayed.Add(1)
		later := append([]byte(nil), packet...)
		time.AfterFunc(p.Delay, func() {
			n.delayed.Add(-1)
			_, _ = device.Write(later)
		})
	}
}
