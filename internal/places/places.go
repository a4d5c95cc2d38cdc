// Package places bounds the connections of a listener.
package places

import (
	"net"
	"sync"
)

// Listen returns l with a number of places. A connection that finds none is closed at once, so
// that nobody waits for a place behind somebody who does nothing.
func Listen(l net.Listener, number int) net.Listener {
	return &limited{Listener: l, places: make(chan struct{}, number)}
}

type limited struct {
	net.Listener
	places chan struct{}
}

// Accept returns the next connection that finds a place.
func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.places <- struct{}{}:
			return &placed{Conn: c, leave: sync.OnceFunc(func() { <-l.places })}, nil
		default:
			_ = c.Close()
		}
	}
}

// placed is a connection that has a place.
type placed struct {
	net.Conn
	leave func()
}

// Close closes the connection and gives its place back.
func (p *placed) Close() error {
	defer p.leave()
	return p.Conn.Close()
}
