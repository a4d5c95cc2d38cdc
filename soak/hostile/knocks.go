package main

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
)

// knocks counts by the packets on the network who dials one machine, the flooded one: what
// daemons say of it is not asked.
type knocks struct {
	at int // the flooded machine

	mu       sync.Mutex
	initials map[int]int // by machine: Initial packets to the flooded one
	callers  map[int]*caller
}

// caller is a machine whose dials are counted.
type caller struct {
	first clock.Instant   // when it dialled first
	own   map[string]bool // connection ids that it has begun dials with
	back  map[string]bool // and those that the flooded machine has dialled it with
}

func newKnocks(at int) *knocks {
	return &knocks{at: at, initials: make(map[int]int), callers: make(map[int]*caller)}
}

// begin counts the dials of a machine from 0 on.
func (k *knocks) begin(machine int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.callers[machine] = &caller{own: make(map[string]bool), back: make(map[string]bool)}
}

// of is how many dials a machine has begun since, and when the first one.
func (k *knocks) of(machine int) (dials int, first clock.Instant) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.callers[machine]
	return len(c.own), c.first
}

// from is how many Initial packets a machine has sent to the flooded one.
func (k *knocks) from(machine int) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.initials[machine]
}

// look is told of each packet on the network.
func (k *knocks) look(from, to int, packet []byte) {
	if from != k.at && to != k.at {
		return
	}
	p, ok := initialOf(packet)
	if !ok {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if to == k.at {
		k.initials[from]++
		if c := k.callers[from]; c != nil && !c.back[p.to] {
			if len(c.own) == 0 {
				c.first = boottime.Now()
			}
			c.own[p.from] = true
		}
	} else if c := k.callers[to]; c != nil && !c.own[p.to] {
		c.back[p.from] = true
	}
}

// initialPacket is what an Initial packet of QUIC says of its ends. A dial keeps the id that it
// wants to be answered at, also when it begins again after a Retry.
type initialPacket struct{ to, from string }

// initialOf reads an IPv4 packet, if it begins with an Initial packet (RFC 9000, 17.2.2).
func initialOf(packet []byte) (p initialPacket, ok bool) {
	const (
		minIP, protocolAt, udp  = 20, 9, 17
		headerUDP               = 8
		mask, initial, version1 = 0xf0, 0xc0, 1
		idsAt, maxID            = 5, 20
	)
	if len(packet) < minIP || packet[0]>>4 != 4 || packet[protocolAt] != udp {
		return p, false
	}
	skip := 4*int(packet[0]&0xf) + headerUDP
	if len(packet) < skip+idsAt {
		return p, false
	}
	q := packet[skip:]
	if q[0]&mask != initial || binary.BigEndian.Uint32(q[1:]) != version1 {
		return p, false
	}
	q = q[idsAt:]
	for _, id := range []*string{&p.to, &p.from} {
		if len(q) == 0 || q[0] > maxID || len(q) <= int(q[0]) {
			return p, false
		}
		*id, q = string(q[1:1+q[0]]), q[1+q[0]:]
	}
	return p, true
}

// visit is how somebody fared that wanted to be let in by the flooded member.
type visit struct {
	in     bool
	dials  int           // until then
	within time.Duration // from the first one until then
	err    string        // why it could not try
}
