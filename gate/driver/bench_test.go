package driver_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/relay"
	"github.com/wandertoken/wander/node/store"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
)

const (
	benchSize   = 16 << 20 // bytes of one download
	benchWindow = 4 << 20  // as the gate's streams have
)

// gives answers each connection, whose first eight bytes are a number, with so many bytes.
func gives(c io.ReadWriteCloser) {
	defer c.Close()
	var head [8]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return
	}
	buf := make([]byte, 64<<10)
	for left := int(binary.BigEndian.Uint64(head[:])); left > 0; {
		n, err := c.Write(buf[:min(left, len(buf))])
		if err != nil {
			return
		}
		left -= n
	}
}

// fetch downloads, and returns for how long.
func fetch(b *testing.B, c io.ReadWriteCloser) time.Duration {
	b.Helper()
	begin := time.Now()
	_, err := c.Write(binary.BigEndian.AppendUint64(nil, benchSize))
	require.NoError(b, err)
	n, err := io.CopyN(io.Discard, c, benchSize)
	require.NoError(b, err, "%d bytes", n)
	took := time.Since(begin)
	c.Close()
	return took
}

// delayed is a way to an address with this delay.
func delayed(b *testing.B, to string, roundTrip time.Duration) string {
	b.Helper()
	if roundTrip == 0 {
		return to
	}
	r, err := relay.New(netip.MustParseAddrPort(to), relay.Path{Delay: roundTrip / 2}, 1)
	require.NoError(b, err)
	b.Cleanup(r.Close)
	return r.Address()
}

// bare is a connection with a server of quic-go that does nothing else.
func bare(b *testing.B, roundTrip time.Duration) *quic.Conn {
	b.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(b, err)
	raw, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1)}, &x509.Certificate{SerialNumber: big.NewInt(1)}, key.Public(), key)
	require.NoError(b, err)
	cfg := &quic.Config{MaxStreamReceiveWindow: benchWindow, MaxConnectionReceiveWindow: 2 * benchWindow}
	l, err := quic.ListenAddr("127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}, NextProtos: []string{"bare"},
	}, cfg)
	require.NoError(b, err)
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept(context.Background())
			if err != nil {
				return
			}
			go func() {
				for {
					s, err := c.AcceptStream(context.Background())
					if err != nil {
						return
					}
					go gives(s)
				}
			}()
		}
	}()
	c, err := quic.DialAddr(context.Background(), delayed(b, l.Addr().String(), roundTrip), &tls.Config{
		InsecureSkipVerify: true, NextProtos: []string{"bare"},
	}, cfg)
	require.NoError(b, err)
	b.Cleanup(func() { c.CloseWithError(0, "") })
	return c
}

// BenchmarkTunnel downloads through the gate's tunnel and over a bare stream of quic-go, in turns. The ratio is the tunnel's share
// of the bare stream's throughput: the median of all turns.
func BenchmarkTunnel(b *testing.B) {
	for _, roundTrip := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond} {
		b.Run(fmt.Sprintf("rtt=%v", roundTrip), func(b *testing.B) {
			target, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(b, err)
			b.Cleanup(func() { target.Close() })
			go func() {
				for {
					c, err := target.Accept()
					if err != nil {
						return
					}
					go gives(c)
				}
			}()
			w := gatetest.New(b, 1, func(r *group.Resource) { r.MaxHold, r.OperationTime = time.Hour, time.Hour })
			s := open(w, func(c *driver.Config) { c.Target = driver.Target{Network: "tcp", Address: target.Addr().String()} })
			at := delayed(b, s.Addr(), roundTrip)
			session := w.SignIn(s.dialAs(w.Members[0], func(c *client.Config) { c.Address = at }), w.Mint(0), time.Hour)
			gatetest.Opened(b, session)
			straight := bare(b, roundTrip)
			var ratios, speeds []float64
			for b.Loop() {
				stream, err := straight.OpenStreamSync(context.Background())
				require.NoError(b, err)
				without := fetch(b, stream)
				with := fetch(b, connect(b, session))
				ratios = append(ratios, without.Seconds()/with.Seconds())
				speeds = append(speeds, benchSize/with.Seconds()/1e6)
			}
			slices.Sort(ratios)
			slices.Sort(speeds)
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
			b.ReportMetric(speeds[len(speeds)/2], "MB/s")
		})
	}
}

// echo is a round trip over a connection: eight bytes there, and one back.
func echo(b *testing.B, c *quic.Conn) time.Duration {
	b.Helper()
	stream, err := c.OpenStreamSync(context.Background())
	require.NoError(b, err)
	defer stream.Close()
	begin := time.Now()
	_, err = stream.Write(binary.BigEndian.AppendUint64(nil, 1))
	require.NoError(b, err)
	_, err = io.ReadFull(stream, make([]byte, 1))
	require.NoError(b, err)
	return time.Since(begin)
}

// BenchmarkSignIn is from SIGN-IN to OPEN, at an idle gate without hooks, and by how much that is above a round trip over a bare connection of quic-go, in turns; and what the sync of a
// journal beside the gate's takes: the medians. A token goes from the one
// member to the other and back, so that each permit is new to the gate. With TMPDIR in a tmpfs the journal's sync costs nothing.
func BenchmarkSignIn(b *testing.B) {
	for _, roundTrip := range []time.Duration{0, 20 * time.Millisecond} {
		b.Run(fmt.Sprintf("rtt=%v", roundTrip), func(b *testing.B) {
			w := gatetest.New(b, 2, func(r *group.Resource) { r.Gate.Settle, r.Gate.Keep = time.Millisecond, time.Millisecond })
			s := open(w, nil)
			at := delayed(b, s.Addr(), roundTrip)
			var members [2]*client.Conn
			for i := range members {
				members[i] = s.dialAs(w.Members[i], func(c *client.Config) { c.Address = at })
			}
			straight := bare(b, roundTrip)
			beside, _, err := store.Open(b.TempDir(), store.Options{Group: w.Group.ID(), Member: w.Gate.ID()})
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, beside.Close()) })
			var times, trips, syncs []time.Duration
			held, holder := w.Passed(w.Mint(0), 0, 1), 1
			for b.Loop() {
				b.StopTimer()
				held, holder = w.Passed(held, holder, 1-holder), 1-holder
				time.Sleep(time.Second / driver.SignInsPerSecond) // a member that asks faster waits; and the slot is idle then
				trips = append(trips, echo(b, straight))
				sync := time.Now()
				_, err := beside.Append(make([]byte, 150)) // as the record of a session
				require.NoError(b, err)
				require.NoError(b, beside.Sync())
				syncs = append(syncs, time.Since(sync))
				b.StartTimer()
				begin := time.Now()
				session := w.SignIn(members[holder], held, time.Second)
				gatetest.Opened(b, session)
				times = append(times, time.Since(begin))
				closed, err := session.SignOut(context.Background())
				require.NoError(b, err)
				require.Equal(b, core.BySignOut, closed.Reason)
			}
			slices.Sort(times)
			slices.Sort(trips)
			slices.Sort(syncs)
			took, trip := times[len(times)/2], trips[len(trips)/2]
			b.ReportMetric(float64(syncs[len(syncs)/2].Microseconds()), "µs-sync")
			b.ReportMetric(float64(took.Microseconds()), "µs")
			b.ReportMetric(float64((took - trip).Microseconds()), "µs-above-rtt")
		})
	}
}
