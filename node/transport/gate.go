package transport

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// gate limits the inbound handshakes in progress, and how many begin. Those from the
// addresses of known members have places of their own. Strangers' places are shared by
// address prefix, so that one machine, or one network, does not take all of them.
type gate struct {
	mu        sync.Mutex
	members   pool
	strangers pool
	share     pool // what a prefix has before it has taken any
	shares    map[netip.Prefix]*pool
	known     map[ident.Member]netip.Addr // where each was met last
	met       map[netip.Addr]int          // how many were met there
}

// pool is a number of places, and how many handshakes may begin there.
type pool struct {
	bucket
	places, taken int
}

// takes takes a place for a handshake in all of these pools, or reports false when one of
// them has none.
func takes(now time.Duration, pools ...*pool) bool {
	for _, p := range pools {
		if p.refill(now); p.taken >= p.places || p.tokens < 1 {
			return false
		}
	}
	for _, p := range pools {
		p.tokens--
		p.taken++
	}
	return true
}

func newGate(l limits, now time.Duration) *gate {
	return &gate{
		members:   pool{newBucket(l.handshakes, l.burst, now), KnownHandshakes, 0},
		strangers: pool{newBucket(l.handshakes, l.burst, now), MaxHandshakes - KnownHandshakes, 0},
		share:     pool{newBucket(l.handshakes/prefixShare, l.burst/prefixShare, now), PrefixHandshakes, 0},
		shares:    make(map[netip.Prefix]*pool),
		known:     make(map[ident.Member]netip.Addr),
		met:       make(map[netip.Addr]int),
	}
}

// enter takes a place for a handshake from an address, and returns how to give it back, or
// reports false.
func (g *gate) enter(now time.Duration, from netip.Addr) (leave func(), ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.met[from] > 0 && takes(now, &g.members) {
		return g.leaves(&g.members), true
	}
	share := g.shareOf(from, now)
	if !takes(now, share, &g.strangers) {
		return nil, false
	}
	return g.leaves(share, &g.strangers), true
}

func (g *gate) leaves(pools ...*pool) func() {
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, p := range pools {
			p.taken--
		}
	}
}

// shareOf is what the prefix of an address may take of the strangers' places. A share of which
// nothing is taken is forgotten when there are too many, first those of which nothing was
// for a while.
func (g *gate) shareOf(from netip.Addr, now time.Duration) *pool {
	prefix := prefixOf(from)
	s := g.shares[prefix]
	if s != nil {
		return s
	}
	if len(g.shares) >= maxShares {
		for p, s := range g.shares {
			if s.taken == 0 && s.isFull(now) {
				delete(g.shares, p)
			}
		}
	}
	for p, s := range g.shares {
		if len(g.shares) < maxShares {
			break
		}
		if s.taken == 0 {
			delete(g.shares, p)
		}
	}
	fresh := g.share
	fresh.last = now
	g.shares[prefix] = &fresh
	return &fresh
}

// meets notes where a member's handshake came from. A member has one address there, its last
// one, so that it does not put others out.
func (g *gate) meets(id ident.Member, at netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known[id] == at {
		return
	}
	for other := range g.known {
		if len(g.known) < maxMet || g.known[id].IsValid() {
			break
		}
		g.forgets(other)
	}
	g.forgets(id)
	g.known[id] = at
	g.met[at]++
}

func (g *gate) forgets(id ident.Member) {
	at, ok := g.known[id]
	if !ok {
		return
	}
	delete(g.known, id)
	if g.met[at]--; g.met[at] == 0 {
		delete(g.met, at)
	}
}

func (g *gate) pending() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.members.taken + g.strangers.taken
}

// busy reports whether new handshakes must prove their address first.
func (g *gate) busy() bool { return g.pending() >= RetryAbove }

// addressOf is the address of a host, without its port.
func addressOf(a net.Addr) netip.Addr {
	udp, ok := a.(*net.UDPAddr)
	if !ok {
		return netip.Addr{}
	}
	return udp.AddrPort().Addr().Unmap().WithZone("")
}

// prefixOf is what one customer of a network has at least, of an IPv4 or IPv6 address.
func prefixOf(a netip.Addr) netip.Prefix {
	bits := prefixBits6
	if a.Is4() {
		bits = prefixBits4
	}
	p, _ := a.Prefix(bits) // the zero prefix where there is no address
	return p
}
