package service

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
	"time"
)

// listener takes no more connections than the service can bear.
type listener struct {
	net.Listener
	now    func() time.Time
	refuse func(from net.Addr, why string)

	all       *single
	addresses *buckets[netip.Prefix]

	mu    sync.Mutex
	open  list.List // of *conn, the oldest first
	count map[netip.Prefix]int
}

func newListener(under net.Listener, now func() time.Time, refuse func(net.Addr, string)) *listener {
	return &listener{
		Listener: under, now: now, refuse: refuse,
		all:       &single{rate: rate{connectionsPerSecond, connectionBurst}},
		addresses: newBuckets[netip.Prefix](rate{addressPerSecond, addressBurst}),
		count:     make(map[netip.Prefix]int),
	}
}

// Accept is the next connection that is let in; the others are closed.
func (l *listener) Accept() (net.Conn, error) {
	for {
		under, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: under, from: networkOf(under.RemoteAddr()), of: l}
		why, oldest := l.admit(c)
		if oldest != nil {
			l.refuse(oldest.RemoteAddr(), "too many connections: the oldest was closed")
			_ = oldest.Close()
		}
		if why == "" {
			return c, nil
		}
		l.refuse(under.RemoteAddr(), why)
		_ = under.Close()
	}
}

// admit lets a connection in, or says why not; perhaps another one has to be
// closed for it. An address is asked for its own share first, so that it cannot
// take that of all.
func (l *listener) admit(c *conn) (why string, oldest *conn) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.addresses.take(c.from, now) > 0:
		return "too many recent connections from this address", nil
	case l.count[c.from] >= maxPerAddress:
		return "too many connections from this address", nil
	case l.all.take(now) > 0:
		return "too many recent connections", nil
	}
	if l.open.Len() >= maxConnections {
		oldest = l.open.Front().Value.(*conn)
		l.remove(oldest)
	}
	l.count[c.from]++
	c.place = l.open.PushBack(c)
	return "", oldest
}

// remove forgets a connection, once. Needs l.mu.
func (l *listener) remove(c *conn) {
	if c.place == nil {
		return
	}
	l.open.Remove(c.place)
	c.place = nil
	if l.count[c.from]--; l.count[c.from] == 0 {
		delete(l.count, c.from)
	}
}

// conn is a connection that was let in.
type conn struct {
	net.Conn
	from  netip.Prefix
	of    *listener
	place *list.Element // nil when it is not counted any more
}

// Close makes room for another one.
func (c *conn) Close() error {
	c.of.mu.Lock()
	c.of.remove(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
