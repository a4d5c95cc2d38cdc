package service

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// memory is a listener whose connections are pipes, from addresses as one likes.
type memory struct {
	conns chan net.Conn
	done  chan struct{}
}

func newMemory() *memory { return &memory{conns: make(chan net.Conn), done: make(chan struct{})} }

type from struct {
	net.Conn
	addr net.Addr
}

func (f from) RemoteAddr() net.Addr { return f.addr }

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.done:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	select {
	case <-m.done:
	default:
		close(m.done)
	}
	return nil
}

func (*memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// dial connects from an address.
func (m *memory) dial(address string) net.Conn {
	addr, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		panic(err)
	}
	here, there := net.Pipe()
	m.conns <- from{Conn: there, addr: addr}
	return here
}

// isClosed reports whether the other side has closed a connection on which it
// says nothing else.
func isClosed(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := c.Read(make([]byte, 1))
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe)
}

// accepting runs a listener that keeps what it lets in.
func accepting(t *testing.T, c *clock) (*memory, *listener, *[]string) {
	t.Helper()
	m, refused := newMemory(), new([]string)
	l := newListener(m, c.Now, func(_ net.Addr, why string) { *refused = append(*refused, why) })
	go func() {
		for {
			if _, err := l.Accept(); err != nil {
				return
			}
		}
	}()
	return m, l, refused
}

// One address cannot take the connections of all.
func TestFlood_OneAddress_Limited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clock{now: time.Now()}
		m, l, refused := accepting(t, c)
		defer m.Close()
		for range 3 * addressBurst {
			_ = m.dial("192.0.2.1:1000")
		}
		synctest.Wait()
		assert.Equal(t, maxPerAddress, l.open.Len())
		assert.Len(t, *refused, 3*addressBurst-maxPerAddress)
		c.move(time.Minute) // connections again, but places no more
		assert.True(t, isClosed(m.dial("192.0.2.1:1001")))
		assert.False(t, isClosed(m.dial("192.0.2.2:1000")), "the neighbour gets in")
		// An IPv6 network counts as one address.
		for i := range 2 * maxPerAddress {
			_ = m.dial(fmt.Sprintf("[2001:db8::%x]:1", i+1))
		}
		synctest.Wait()
		assert.Equal(t, maxPerAddress+1+maxPerAddress, l.open.Len())
		assert.False(t, isClosed(m.dial("[2001:db8:0:1::1]:1")))
	})
}

// With connections from everywhere that do nothing, newcomers still get in, and
// the oldest has to go.
func TestFlood_ManyAddresses_Limited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clock{now: time.Now()}
		m, l, _ := accepting(t, c)
		defer m.Close()
		var all []net.Conn
		for i := range maxConnections + 10 {
			all = append(all, m.dial(fmt.Sprintf("10.%d.%d.1:1", i>>8, i&255)))
			c.move(10 * time.Millisecond)
		}
		synctest.Wait()
		assert.Equal(t, maxConnections, l.open.Len())
		for i, conn := range all {
			if i < 12 || i > maxConnections {
				assert.Equal(t, i < 10, isClosed(conn), i)
			}
		}
		assert.Len(t, l.count, maxConnections)
		// And all together come no faster than the processor can bear.
		for range connectionBurst {
			c.move(time.Microsecond)
			_ = m.dial(fmt.Sprintf("172.16.%d.1:1", c.Now().Nanosecond()/1000%256))
		}
		synctest.Wait()
		assert.True(t, isClosed(m.dial("192.0.2.9:1")))
	})
}

// Who sends slowly, or nothing, is gone after some seconds.
func TestSlowClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, dir: t.TempDir(), clock: &clock{now: time.Now()}}
		b.create()
		m := newMemory()
		s, err := New(Config{Open: b.open, Listener: m, Now: b.clock.Now, Log: slog.New(slog.NewTextHandler(&b.log, nil))})
		require.NoError(t, err)
		done := make(chan error, 1)
		go func() { done <- s.Serve() }()

		silent := m.dial("192.0.2.1:1")
		started := time.Now()
		_, err = io.Copy(io.Discard, silent)
		require.NoError(t, err)
		assert.Equal(t, headerTimeout, time.Since(started), "before TLS")

		secure := func() *tls.Conn { return tls.Client(m.dial("192.0.2.1:1"), &tls.Config{InsecureSkipVerify: true}) }
		head := secure()
		_, err = head.Write([]byte("POST /v1/enrol HTTP/1.1\r\n"))
		require.NoError(t, err)
		started = time.Now()
		_, _ = io.Copy(io.Discard, head)
		assert.LessOrEqual(t, time.Since(started), headerTimeout, "in the head")

		body := secure()
		_, err = body.Write([]byte("POST /v1/enrol HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"))
		require.NoError(t, err)
		var writers sync.WaitGroup
		writers.Go(func() { // a byte now and then
			for range 100 {
				if _, err := body.Write([]byte{0}); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		})
		started = time.Now()
		answer, _ := io.ReadAll(body)
		assert.LessOrEqual(t, time.Since(started), readTimeout+time.Second, "in the body")
		assert.Contains(t, string(answer), "403")

		long := secure()
		writers.Go(func() { _, _ = long.Write([]byte("POST /v1/enrol HTTP/1.1\r\nX: " + strings.Repeat("x", 64<<10))) })
		answer, _ = io.ReadAll(long)
		assert.Contains(t, string(answer), "431", "a head without end")

		require.NoError(t, s.Shutdown(t.Context()))
		require.NoError(t, <-done)
		for _, c := range []net.Conn{silent, head, body, long} {
			_ = c.Close()
		}
		writers.Wait()
	})
}

func TestBuckets_ManyAddresses_Bounded(t *testing.T) {
	b, now := newBuckets[int](rate{1, 2}), time.Unix(0, 0)
	for i := range 3 * maxBuckets {
		require.Zero(t, b.take(i, now))
	}
	assert.Len(t, b.byKey, maxBuckets)
	assert.Equal(t, maxBuckets, b.order.Len())
	// What is still known has one of two left, and then fills again.
	last := 3*maxBuckets - 1
	assert.Zero(t, b.take(last, now))
	assert.Equal(t, time.Second, b.take(last, now))
	assert.Equal(t, 500*time.Millisecond, b.take(last, now.Add(500*time.Millisecond)))
	assert.Zero(t, b.take(last, now.Add(time.Second)))
	assert.NotZero(t, b.take(last, now.Add(-time.Hour)), "a clock that is put back brings nothing")
}

func TestMemo_ManyRequests_Bounded(t *testing.T) {
	m := newMemo(100)
	for i := range 1000 {
		x := [32]byte{byte(i), byte(i >> 8)}
		assert.False(t, m.has(x))
		m.add(x)
		assert.True(t, m.has(x))
		assert.LessOrEqual(t, len(m.new)+len(m.old), 100)
	}
}

// What strangers cause does not fill a disk, and does not hide what was done.
func TestLog_ManyRequests_Bounded(t *testing.T) {
	b := newBench(t)
	for range 10 * lineBurst {
		b.server.notices.note(slog.LevelWarn, "refused", "request", "/")
	}
	assert.Equal(t, lineBurst, strings.Count(b.log.String(), "msg=refused"))
	b.join("a")
	assert.Contains(t, b.log.String(), "msg=enrolled name=a")
	b.clock.move(time.Second)
	b.server.notices.note(slog.LevelWarn, "refused")
	assert.Contains(t, b.log.String(), fmt.Sprintf("lines_left_out=%d", 9*lineBurst))
}
