package metrics

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/places"
)

// pipes is a network without buffers: what is written waits until it is read.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	ended chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), ended: make(chan struct{})} }

func (p *pipes) dial() net.Conn {
	here, there := net.Pipe()
	p.conns <- there
	return here
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.ended) })
	return nil
}

// Scrapers that do not read hold up nobody: neither other scrapers, although they
// are more than may have an answer put together at a time, nor who counts.
func TestSlowScraper(t *testing.T) {
	b := newBench(t)
	b.story("")
	b.Expose(func() Snapshot { return Snapshot{} })
	l, served := newPipes(), make(chan error, 1)
	s := b.NewServer(slog.New(slog.DiscardHandler))
	go func() { served <- s.Serve(l) }()
	for range 2 * maxGathering {
		c := l.dial()
		defer c.Close()
		_, err := io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		_, err = io.ReadFull(c, make([]byte, 100)) // its answer is on its way
		require.NoError(t, err)
	}
	b.Waited("r", RequestGranted, time.Second)
	client := http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return l.dial(), nil },
	}}
	reply, err := client.Get("http://member" + path)
	require.NoError(t, err)
	text, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	require.NoError(t, reply.Body.Close())
	assert.Equal(t, http.StatusOK, reply.StatusCode)
	assert.Contains(t, string(text), `wander_requests_total{outcome="granted",resource="r"} 1`)

	ended, cancel := context.WithCancel(context.Background())
	cancel()
	assert.ErrorIs(t, s.Shutdown(ended), context.Canceled, "closes those that do not read")
	assert.NoError(t, <-served)
}

// Beyond maxConnections a connection is closed at once, and a place that is given
// back is somebody else's.
func TestSlots_TooMany_Limited(t *testing.T) {
	p := newPipes()
	l := places.Listen(p, maxConnections)
	accepted := make(chan net.Conn)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- c
		}
	}()
	var last net.Conn
	for range maxConnections {
		p.dial()
		last = <-accepted
	}
	_, err := p.dial().Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, last.Close())
	require.NoError(t, last.Close(), "one place, however often it is closed")
	again := p.dial()
	go func() { _, _ = again.Read(make([]byte, 1)); p.once.Do(func() { close(p.ended) }) }() // it is closed only if it found no place
	require.NotNil(t, <-accepted)
	_, err = p.dial().Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, p.Close())
	<-accepted
}
