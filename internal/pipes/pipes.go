// Package pipes is a network of unbuffered connections within a test, so that a test with a virtual clock can wait for them.
package pipes

import "net"

// Listener accepts the connections that Dial opens. It implements net.Listener.
type Listener struct {
	conns chan net.Conn
	ended chan struct{}
}

// Listen returns a Listener, which Close ends. Close is to be called once.
func Listen() *Listener { return &Listener{make(chan net.Conn), make(chan struct{})} }

// Dial returns a new connection as soon as the listener accepts it.
func (l *Listener) Dial() net.Conn {
	here, there := net.Pipe()
	l.conns <- there
	return here
}

// Accept implements net.Listener. Error: net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.ended:
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

// Close implements net.Listener.
func (l *Listener) Close() error {
	close(l.ended)
	return nil
}
