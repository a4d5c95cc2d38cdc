package main

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/wandertoken/wander/internal/halfopen"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/soak/liar/report"
)

const (
	// kindFlood is a program that is no member: it has no certificate.
	kindFlood = "flood"
	// mute is the variant of a flood that does not prove its address.
	mute = "mute"
	// maxCatchUp is for how long a flood may have slept and still makes up for it. A burst of
	// everything that was missed in a longer time would be another flood.
	maxCatchUp = 100 * time.Millisecond
	// maxHalfOpen bounds the handshakes, and so the sockets, that are open at once: as many
	// as there are at 600 a second. A process may open a few thousand files.
	maxHalfOpen = 3600
)

// flood begins rate handshakes a second with the first peer, each from a port of its own of
// one address, and goes on with none.
func flood(ctx context.Context, o options, r *report.Report) error {
	peer, err := net.ResolveUDPAddr("udp4", o.peers[0])
	if err != nil {
		return err
	}
	own, err := net.ResolveUDPAddr("udp4", o.listen)
	if err != nil {
		return err
	}
	var open sync.WaitGroup
	defer open.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	places := make(chan struct{}, maxHalfOpen)
	began := time.Now()
	p := pace{every: time.Duration(float64(time.Second) / o.rate)}
	acts := time.NewTicker(p.every)
	defer acts.Stop()
	for {
		for range p.due(time.Since(began)) {
			select {
			case places <- struct{}{}:
			default:
				continue
			}
			conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: own.IP})
			if err != nil {
				return err
			}
			r.Handshakes++
			open.Go(func() {
				(&halfopen.Socket{PacketConn: conn, Mute: o.variant == mute}).Hold(ctx, peer, transport.ALPN)
				<-places
			})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-acts.C:
		}
	}
}

// pace says when something is to be done that is done so often. On a busy machine a tick comes
// late, or not at all.
type pace struct{ every, next time.Duration }

// due is how many times it is to be done now.
func (p *pace) due(now time.Duration) (n int) {
	p.next = max(p.next, now-maxCatchUp)
	for ; p.next <= now; p.next += p.every {
		n++
	}
	return n
}
