package demo

import (
	"container/heap"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"
)

// relayQueue bounds the datagrams under way in one relay: more are lost, as on
// a real path.
const relayQueue = 8192

// datagramSize is the largest UDP datagram there is.
const datagramSize = 65535

// relay stands in front of one member: datagrams to it and its answers are
// lost, delayed and reordered. Each peer gets a socket of its own towards the
// member, so that the member's answers find their way back.
type relay struct {
	front  *net.UDPConn // where others think that the member is
	target netip.AddrPort
	loss   float64
	delay  time.Duration

	mu    sync.Mutex
	rng   *rand.Rand
	peers map[netip.AddrPort]*net.UDPConn
	queue flight
	wake  chan struct{}
	done  chan struct{}
	tasks sync.WaitGroup
}

func newRelay(target netip.AddrPort, loss float64, delay time.Duration, seed uint64) (*relay, error) {
	front, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	r := &relay{
		front: front, target: target, loss: loss, delay: delay,
		rng:   rand.New(rand.NewPCG(seed, 1)),
		peers: make(map[netip.AddrPort]*net.UDPConn),
		wake:  make(chan struct{}, 1), done: make(chan struct{}),
	}
	r.tasks.Go(r.deliver)
	r.tasks.Go(r.inbound)
	return r, nil
}

func (r *relay) address() string { return r.front.LocalAddr().String() }

// inbound takes what others send to the member.
func (r *relay) inbound() {
	buf := make([]byte, datagramSize)
	for {
		n, from, err := r.front.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		if back := r.backFor(from); back != nil {
			r.carry(back, r.target, buf[:n])
		}
	}
}

// backFor is the socket towards the member for one peer.
func (r *relay) backFor(peer netip.AddrPort) *net.UDPConn {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.peers[peer]; c != nil {
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

// outbound takes what the member answers to one peer.
func (r *relay) outbound(back *net.UDPConn, peer netip.AddrPort) {
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
func (r *relay) carry(via *net.UDPConn, to netip.AddrPort, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rng.Float64() < r.loss || len(r.queue) >= relayQueue {
		return
	}
	late := r.delay
	if late > 0 {
		late += time.Duration(r.rng.Int64N(int64(late)/4 + 1))
	}
	heap.Push(&r.queue, datagram{due: time.Now().Add(late), via: via, to: to, data: append([]byte(nil), data...)})
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// deliver sends what is due.
func (r *relay) deliver() {
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
func (r *relay) sendDue() time.Duration {
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

func (r *relay) close() {
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
