// Package relay puts a bad network between processes of one machine: datagrams
// are lost, delayed and reordered on their way.
package relay

import (
	"container/heap"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"
)

// maxUnderWay bounds the datagrams in transit in one relay: more are lost, as on
// a real path.
const maxUnderWay = 8192

// datagramSize is the largest UDP datagram there is.
const datagramSize = 65535

// Path is what happens to datagrams, in both directions.
type Path struct {
	Loss   float64       // the share that is lost, 0 to 1
	Delay  time.Duration // one way
	Jitter time.Duration // up to so much is added to each one's delay, which reorders them
}

// Crew is the relays of one group: each knows the members behind the others. A
// datagram between two of them leaves from the sender's own front, where the answer
// comes back to, so that a group needs one socket per member. With a socket per pair
// 170 members would use up all ports that systems give out by themselves. The zero
// value is an empty crew.
type Crew struct {
	mu     sync.RWMutex
	relays map[netip.AddrPort]*Relay // by the address of the member behind it
}

// frontOf returns the front of the member at an address, or nil.
func (c *Crew) frontOf(member netip.AddrPort) *net.UDPConn {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if r := c.relays[unmapped(member)]; r != nil {
		return r.front
	}
	return nil
}

func (c *Crew) add(r *Relay) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.relays == nil {
		c.relays = make(map[netip.AddrPort]*Relay)
	}
	c.relays[unmapped(r.target)] = r
}

// unmapped is an address as sockets of IPv4 have it.
func unmapped(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// Relay is in front of one member: what others send to its address arrives
// at the member, and the member's answers at them. Each sender that is not of its
// crew gets a socket of its own towards the member, so that the answers find their
// way back.
type Relay struct {
	front  *net.UDPConn // where others think that the member is
	target netip.AddrPort
	path   Path
	crew   *Crew

	mu    sync.Mutex
	rng   *rand.Rand
	peers map[netip.AddrPort]*net.UDPConn
	queue flight
	wake  chan struct{}
	done  chan struct{}
	tasks sync.WaitGroup
}

// New puts a relay in front of the member at target. The seed decides which
// datagrams are lost or late.
func New(target netip.AddrPort, path Path, seed uint64) (*Relay, error) {
	return new(Crew).New(target, path, seed)
}

// New is the function New for a member of a crew.
func (c *Crew) New(target netip.AddrPort, path Path, seed uint64) (*Relay, error) {
	front, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	r := &Relay{
		front: front, target: target, path: path, crew: c,
		rng:   rand.New(rand.NewPCG(seed, 1)),
		peers: make(map[netip.AddrPort]*net.UDPConn),
		wake:  make(chan struct{}, 1), done: make(chan struct{}),
	}
	c.add(r)
	r.tasks.Go(r.deliver)
	r.tasks.Go(r.inbound)
	return r, nil
}

// Address is where others reach the member through the relay.
func (r *Relay) Address() string { return r.front.LocalAddr().String() }

// inbound takes what others send to the member.
func (r *Relay) inbound() {
	buf := make([]byte, datagramSize)
	for {
		n, from, err := r.front.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		via := r.crew.frontOf(from)
		if via == nil {
			via = r.backFor(from)
		}
		if via != nil {
			r.carry(via, r.target, buf[:n])
		}
	}
}

// backFor is the socket towards the member for one peer.
func (r *Relay) backFor(peer netip.AddrPort) *net.UDPConn {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.peers[peer]; c != nil || r.closed() {
		return c
	}
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil
	}
	r.peers[peer] = c
	r.tasks.Go(func() { r.outbound(c, peer) })
	return c
}

func (r *Relay) closed() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// outbound takes what the member answers to one peer.
func (r *Relay) outbound(back *net.UDPConn, peer netip.AddrPort) {
	buf := make([]byte, datagramSize)
	for {
		n, _, err := back.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		r.carry(r.front, peer, buf[:n])
	}
}

// carry loses the datagram, or puts it on its way.
func (r *Relay) carry(via *net.UDPConn, to netip.AddrPort, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rng.Float64() < r.path.Loss || len(r.queue) >= maxUnderWay {
		return
	}
	late := r.path.Delay + time.Duration(r.rng.Int64N(int64(r.path.Jitter)+1))
	heap.Push(&r.queue, datagram{due: time.Now().Add(late), via: via, to: to, data: append([]byte(nil), data...)})
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// deliver sends what is due.
func (r *Relay) deliver() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(r.sendDue())
		select {
		case <-r.done:
			return
		case <-r.wake:
		case <-timer.C:
		}
	}
}

// sendDue sends everything that is due and returns how long nothing else is.
func (r *Relay) sendDue() time.Duration {
	for {
		r.mu.Lock()
		if len(r.queue) == 0 {
			r.mu.Unlock()
			return time.Hour
		}
		if wait := time.Until(r.queue[0].due); wait > 0 {
			r.mu.Unlock()
			return wait
		}
		d := heap.Pop(&r.queue).(datagram)
		r.mu.Unlock()
		_, _ = d.via.WriteToUDPAddrPort(d.data, d.to) // a member that is down refuses: that is loss
	}
}

// Close ends the relay; what is in transit is lost.
func (r *Relay) Close() {
	close(r.done)
	_ = r.front.Close()
	r.mu.Lock()
	for _, c := range r.peers {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.tasks.Wait()
}

// datagram is one on its way.
type datagram struct {
	due  time.Time
	via  *net.UDPConn
	to   netip.AddrPort
	data []byte
}

// flight is a heap of datagrams by arrival.
type flight []datagram

func (f flight) Len() int           { return len(f) }
func (f flight) Less(i, j int) bool { return f[i].due.Before(f[j].due) }
func (f flight) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }

// Push is for container/heap.
func (f *flight) Push(x any) { *f = append(*f, x.(datagram)) }

// Pop is for container/heap.
func (f *flight) Pop() any {
	old := *f
	last := old[len(old)-1]
	old[len(old)-1] = datagram{}
	*f = old[:len(old)-1]
	return last
}
