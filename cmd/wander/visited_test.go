package main

import (
	"context"
	"io"
	"net"
	"testing"

	"github.com/wandertoken/wander/gate/client"
)

// visited serves each visitor of a listener until the test ends.
func visited(t *testing.T, l net.Listener, serve func(net.Conn)) {
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
}

// through leads a visitor to the resource within a session.
func through(s *client.Session) func(net.Conn) {
	return func(c net.Conn) {
		defer c.Close()
		stream, err := s.Connect(context.Background())
		if err != nil {
			return
		}
		defer stream.Close()
		go func() { io.Copy(stream, c); stream.CloseWrite() }()
		io.Copy(c, stream)
	}
}
