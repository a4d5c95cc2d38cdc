package driver_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/halfopen"
	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/gate/wire"
)

// flooded is a gate, and who wants to take its places.
type flooded struct {
	*station
	t       *testing.T
	at      *net.UDPAddr
	ctx     context.Context
	workers sync.WaitGroup
	begun   atomic.Int64 // what the flood has done, or is at
	tries   int          // of members, to get in
}

// each does something so many times a second, all of it at once, until the flood ends.
func (f *flooded) each(rate int, do func(int)) {
	f.workers.Go(func() {
		ticks := time.NewTicker(time.Second / time.Duration(rate))
		defer ticks.Stop()
		for n := 0; ; n++ {
			select {
			case <-ticks.C:
				f.begun.Add(1)
				f.workers.Go(func() { do(n) })
			case <-f.ctx.Done():
				return
			}
		}
	})
}

// socket is one of an address of another network than the members'.
func (f *flooded) socket(from string) *net.UDPConn {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(from)})
	if err != nil {
		f.t.Error(err)
		f.t.FailNow()
	}
	return conn
}

// halfOpen begins handshakes, and does not go on with them.
func (f *flooded) halfOpen(mute bool) func(int) {
	return func(int) {
		(&halfopen.Socket{PacketConn: f.socket("127.1.0.1"), Mute: mute}).Hold(f.ctx, f.at, wire.ALPN)
	}
}

// stranger dials with the certificate of another group, and reports an error if it is let in.
func (f *flooded) stranger(p gatetest.Party) func(int) {
	conf, err := transport.ClientTLS(transport.EntranceConfig{
		Protocol: wire.ALPN, Group: f.w.Group.ID(), Certificate: p.Certificate, Key: p.Key, Authorities: f.w.Group,
	}, gatetest.Accept)
	require.NoError(f.t, err)
	return func(int) {
		tr := &quic.Transport{Conn: f.socket("127.2.0.1")}
		defer tr.Conn.Close()
		defer tr.Close()
		ctx, cancel := context.WithTimeout(f.ctx, 3*time.Second)
		defer cancel()
		q, err := tr.Dial(ctx, f.at, conf, &quic.Config{})
		if err != nil {
			return
		}
		select { // a client learns of its refusal after its side of the handshake
		case <-q.Context().Done():
		case <-f.ctx.Done():
		}
	}
}

// garbage sends packets that are none.
func (f *flooded) garbage() func(int) {
	conn := f.socket("127.3.0.1")
	f.t.Cleanup(func() { conn.Close() })
	return func(n int) {
		rng := rand.New(rand.NewPCG(uint64(n), 3))
		b := make([]byte, 1+rng.IntN(1400))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		if n%2 == 0 {
			b[0] |= 0xc0 // a long header
		}
		_, _ = conn.WriteToUDP(b, f.at)
	}
}

// visits has a member come and go, and returns at which try it got in each time.
func (f *flooded) visits(p gatetest.Party, times int) (tries []int) {
	f.t.Helper()
	for range times {
		for n := 1; ; n++ {
			f.tries++
			c, err := f.tryAs(p, func(*client.Config) {})
			if err == nil {
				require.NoError(f.t, c.Close())
				tries = append(tries, n)
				break
			}
			require.Less(f.t, n, 10, "%v", err)
		}
	}
	return tries
}

// TestFlood_Outsiders_MembersGetIn: while outsiders flood a gate, members that come back and members that come for the first time get in at the first or the second
// try in the mean, a session opens, and the log stays short. No outsider gets past the handshake, and nothing is left of them.
func TestFlood_Outsiders_MembersGetIn(t *testing.T) {
	visits := whole.Part(3, 20)
	for name, begin := range map[string]func(*flooded){
		"half-open":       func(f *flooded) { f.each(150, f.halfOpen(false)) },
		"half-open, mute": func(f *flooded) { f.each(150, f.halfOpen(true)) },
		"strangers":       func(f *flooded) { f.each(50, f.stranger(newWorld(t, 1, nil).Members[0])) },
		"garbage":         func(f *flooded) { f.each(1000, f.garbage()) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2+visits, nil)
			s := open(w, nil)
			at, err := net.ResolveUDPAddr("udp4", s.Addr())
			require.NoError(t, err)
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			f := &flooded{station: s, t: t, at: at, ctx: ctx}
			there := s.dial(1)
			f.visits(w.Members[0], 1)
			heap, goroutines := usage()
			begin(f)
			await.Until(t, "the flood takes its places", func() bool { return f.begun.Load() >= 50 })
			back := f.visits(w.Members[0], visits)
			var newcomers []int
			for _, p := range w.Members[2:] {
				newcomers = append(newcomers, f.visits(p, 1)...)
			}
			gatetest.Opened(t, w.SignIn(there, w.Mint(1), lasts))
			stop()
			f.workers.Wait()
			st, err := s.Status(context.Background())
			require.NoError(t, err)
			t.Logf("tries of a member that comes back %v, of newcomers %v; refused %v; log %d bytes", back, newcomers, st.Refused, len(s.log.String()))
			all := 0
			for _, n := range append(back, newcomers...) {
				all += n
				if whole.Asked() { // which has the machine for itself
					assert.LessOrEqual(t, n, 2, "tries")
				}
			}
			assert.LessOrEqual(t, all, 2*2*visits, "tries: at the second one in the mean, since a try is over after 3 s of a busy machine")
			assert.GreaterOrEqual(t, st.Counts["connections"], uint64(2+2*visits))
			assert.LessOrEqual(t, st.Counts["connections"], uint64(1+f.tries), "members alone: a try that has come too late for its member may count")
			assert.NoError(t, errors.Join(there.Err()))
			assert.Less(t, len(s.log.String()), 8<<10)
			await.Until(t, "memory and goroutines are back", func() bool {
				h, g := usage()
				return g <= goroutines+2 && h <= heap+4<<20
			})
		})
	}
}
