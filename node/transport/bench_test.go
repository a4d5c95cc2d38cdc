package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/require"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// sizes are the frames of a handoff, in bytes: OFFER, ACCEPT, TRANSFER, RECEIPT.
var sizes = [4]int{264, 65, 641, 206}

// exchange plays handoffs without their contents: frame i is answered by frame
// i+1. The first byte says which it is, the second which token.
type exchange struct {
	send           [2]func(body []byte) // from the offering and the accepting side
	begun          func()               // after the first frames
	done           chan struct{}
	left, finished atomic.Int64
}

func (x *exchange) begin(token int, scratch []byte) { x.emit(0, 0, byte(token), scratch) }

func (x *exchange) emit(side, step int, token byte, scratch []byte) {
	body := scratch[:sizes[step]]
	body[0], body[1] = byte(step), token
	x.send[side](body)
}

// got answers a frame.
func (x *exchange) got(side int, body, scratch []byte) {
	step := int(body[0])
	if step < 3 {
		x.emit(side, step+1, body[1], scratch)
		return
	}
	if left := x.left.Add(-1); left >= 0 {
		x.emit(side, 0, body[1], scratch)
	} else if x.finished.Add(1) == int64(x.tokens()) {
		close(x.done)
	}
}

func (x *exchange) tokens() int { return cap(x.done) + 1 }

func (x *exchange) run(b *testing.B, tokens int) {
	x.done = make(chan struct{}, tokens-1)
	x.left.Store(int64(b.N) - int64(tokens))
	x.finished.Store(0)
	scratch := make([]byte, 1024)
	b.ReportAllocs()
	b.ResetTimer()
	before := cpuTime(b)
	for i := range tokens {
		x.begin(i, scratch)
	}
	x.begun()
	<-x.done
	b.StopTimer()
	b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/1000/float64(max(b.N, tokens)), "cpu-µs/op")
}

// BenchmarkExchange measures the processor time of both ends for the four
// frames of a handoff, without signatures, on this transport and on a bare
// quic-go stream with the same framing, with 1, 8 and 64 of them at once:
//
//	go test -run '^$' -bench Exchange -benchtime 20000x -count 5 ./node/transport
//
// What counts is the ratio of cpu-µs/op.
func BenchmarkExchange(b *testing.B) {
	for _, tokens := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("tokens=%d/bare", tokens), func(b *testing.B) { bareExchange(b, tokens) })
		b.Run(fmt.Sprintf("tokens=%d/transport", tokens), func(b *testing.B) { transportExchange(b, tokens) })
	}
}

func transportExchange(b *testing.B, tokens int) {
	g, book := newGroup(b, "g"), newBook()
	unlimited := func(c *Config) { c.limits.frames = 1e9 }
	p := g.open(b, book, loopback(b), "p", unlimited)
	q := g.open(b, book, loopback(b), "q", unlimited)
	x := &exchange{}
	x.send[0] = func(body []byte) { p.Queue(q.Self(), Custody, body) }
	x.send[1] = func(body []byte) { q.Queue(p.Self(), Custody, body) }
	p.Send(q.Self(), Custody, []byte("warm"))
	q.wait(kind("frame"), 1)
	var scratch [2][1024]byte
	p.onFrame = func(_ ident.Member, body []byte) { x.got(0, body, scratch[0][:]) }
	q.onFrame = func(_ ident.Member, body []byte) { x.got(1, body, scratch[1][:]) }
	p.onBatch, q.onBatch, x.begun = p.Flush, q.Flush, p.Flush
	x.run(b, tokens)
}

// bareExchange is the straw man: one stream, written from whoever has a frame
// and read by one goroutine, with nothing else around it.
func bareExchange(b *testing.B, tokens int) {
	g := newGroup(b, "g")
	dialled, accepted := barePair(b, g)
	x := &exchange{begun: func() {}}
	for side, s := range []*quic.Stream{dialled, accepted} {
		var mu sync.Mutex
		out := make([]byte, 0, 2048)
		x.send[side] = func(body []byte) {
			mu.Lock()
			defer mu.Unlock()
			out = wire.AppendFrame(out[:0], body)
			if _, err := s.Write(out); err != nil {
				b.Error(err)
			}
		}
		go func() {
			buf := make([]byte, wire.MaxFrame)
			scratch := make([]byte, 1024)
			for {
				body, err := wire.ReadFrame(s, buf)
				if err != nil {
					return
				}
				x.got(side, body, scratch)
			}
		}()
	}
	x.run(b, tokens)
}

// barePair is a quic-go stream between two sockets, with mutual TLS.
func barePair(b *testing.B, g *testGroup) (dialled, accepted *quic.Stream) {
	b.Helper()
	key, cert := g.member(b, "bare", nil)
	c := must(tlsCertificate(key, cert, nil))
	conf := &tls.Config{
		Certificates: []tls.Certificate{*c}, NextProtos: []string{ALPN}, MinVersion: tls.VersionTLS13,
		ClientAuth: tls.RequireAnyClientCert, InsecureSkipVerify: true, SessionTicketsDisabled: true,
	}
	server, client := &quic.Transport{Conn: loopback(b)}, &quic.Transport{Conn: loopback(b)}
	b.Cleanup(func() { client.Close(); server.Close(); client.Conn.Close(); server.Conn.Close() })
	l, err := server.Listen(conf, &quic.Config{})
	require.NoError(b, err)
	ctx := context.Background()
	q, err := client.Dial(ctx, server.Conn.LocalAddr(), conf, &quic.Config{})
	require.NoError(b, err)
	dialled, err = q.OpenStream()
	require.NoError(b, err)
	_, err = dialled.Write([]byte{0})
	require.NoError(b, err)
	in, err := l.Accept(ctx)
	require.NoError(b, err)
	accepted, err = in.AcceptStream(ctx)
	require.NoError(b, err)
	_, err = io.ReadFull(accepted, make([]byte, 1))
	require.NoError(b, err)
	return dialled, accepted
}

// BenchmarkIdleConnection measures what an open connection without traffic
// costs on one side (half of what both sides cost in this process), in
// goroutines, and in memory after a garbage collection: what is alive on the
// heap and the stacks, and what the Go runtime has in use for it, with the gaps
// between live objects:
//
//	go test -run '^$' -bench IdleConnection -benchtime 1000x ./node/transport
//
// Each iteration is one connection. What a member costs without connections,
// as its socket, is there before and not counted.
func BenchmarkIdleConnection(b *testing.B) {
	g, book := newGroup(b, "g"), newBook()
	hub := g.open(b, book, loopback(b), "hub", func(c *Config) {
		c.IdleTimeout, c.limits = time.Hour, limits{handshakes: 1e9, burst: 1e9, connections: 1 << 20}
	})
	rim := make([]*node, b.N)
	for i := range rim {
		rim[i] = g.open(b, book, loopback(b), fmt.Sprintf("rim-%d", i), func(c *Config) { c.IdleTimeout = time.Hour })
	}
	connectAll := func(round int) {
		for i, n := range rim {
			n.Send(hub.Self(), Custody, []byte("hello"))
			hub.wait(kind("frame"), round*len(rim)+i+1)
			hub.Send(n.Self(), Custody, []byte("hello"))
			n.wait(kind("frame"), round+1)
		}
	}
	connectAll(0) // each socket gets its buffers
	for _, n := range rim {
		n.disconnect(hub.Self(), CodeNormal)
	}
	hub.wait(kind("disconnected"), len(rim))
	before := inUse()
	b.ResetTimer()
	connectAll(1)
	b.StopTimer()
	after := inUse()
	for i, unit := range []string{"live-B/side", "in-use-B/side", "goroutines/side"} {
		b.ReportMetric(float64(after[i]-before[i])/float64(b.N)/2, unit)
	}
}

// inUse is the memory that is alive and in use, and the number of goroutines,
// when closed connections are gone.
func inUse() [3]int {
	last := -1
	for n := runtime.NumGoroutine(); n != last; n = runtime.NumGoroutine() {
		last = n
		time.Sleep(2 * sweepInterval)
	}
	for range 6 { // stacks shrink by half each time
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return [3]int{int(m.HeapAlloc + m.StackInuse), int(m.HeapInuse + m.StackInuse), last}
}

// BenchmarkDial measures the processor time of both ends for a connection from
// nothing to the first frame and its end:
//
//	go test -run '^$' -bench Dial -benchtime 500x -count 5 ./node/transport
func BenchmarkDial(b *testing.B) {
	g, book := newGroup(b, "g"), newBook()
	generous := func(c *Config) { c.limits = limits{handshakes: 1e9, burst: 1e9} }
	p := g.open(b, book, loopback(b), "p", generous)
	q := g.open(b, book, loopback(b), "q", generous)
	b.ResetTimer()
	before := cpuTime(b)
	for i := range b.N {
		p.Send(q.Self(), Custody, []byte("hello"))
		q.wait(kind("frame"), i+1)
		p.disconnect(q.Self(), CodeNormal)
		q.wait(kind("disconnected"), i+1)
	}
	b.StopTimer()
	b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/1000/float64(b.N), "cpu-µs/op")
}
