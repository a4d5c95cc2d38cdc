package transport

import (
	"net"
	"os"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// bound is a socket of the system, on the loopback of an address family.
func bound(t *testing.T, network, address string) *net.UDPConn {
	conn, err := net.ListenPacket(network, address)
	if err != nil {
		t.Skipf("%s: %v", network, err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn.(*net.UDPConn)
}

func quietly(t *testing.T, conn *net.UDPConn) *quietSocket {
	q, ok := quiet(conn).(*quietSocket)
	require.True(t, ok)
	return q
}

// room is where as many packets are read to as quic-go asks for.
func room() []ipv4.Message {
	list := make([]ipv4.Message, maxRead)
	for i := range list {
		list[i].Buffers, list[i].OOB = [][]byte{make([]byte, 1500)}, make([]byte, 128)
	}
	return list
}

func TestQuietSocket_PacketsOfAllFamilies_WrittenAndReadAsByTheNetPackage(t *testing.T) {
	for _, c := range []struct{ name, network, address, to string }{
		{"IPv4", "udp4", "127.0.0.1:0", "127.0.0.1"},
		{"IPv6", "udp6", "[::1]:0", "::1"},
		{"both, to IPv4", "udp", "[::]:0", "127.0.0.1"},
		{"both, to IPv6", "udp", "[::]:0", "::1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			plain, q := bound(t, c.network, c.address), quietly(t, bound(t, c.network, c.address))
			ip := net.ParseIP(c.to)
			port := func(c net.PacketConn) *net.UDPAddr {
				return &net.UDPAddr{IP: ip, Port: c.LocalAddr().(*net.UDPAddr).Port}
			}
			n, oob, err := q.WriteMsgUDP([]byte("there"), nil, port(plain))
			require.NoError(t, err)
			assert.Equal(t, []int{5, 0}, []int{n, oob})
			b := make([]byte, 100)
			n, from, err := plain.ReadFromUDP(b)
			require.NoError(t, err)
			assert.Equal(t, "there", string(b[:n]))
			assert.True(t, from.IP.Equal(ip))
			assert.Equal(t, port(q).Port, from.Port)
			for _, text := range []string{"and", "", "back"} {
				_, err = plain.WriteToUDP([]byte(text), port(q))
				require.NoError(t, err)
			}
			list := room()
			n, err = q.ReadBatch(list, 0)
			require.NoError(t, err)
			require.Equal(t, 3, n)
			assert.Equal(t, "and", string(list[0].Buffers[0][:list[0].N]))
			assert.Zero(t, list[1].N)
			assert.Equal(t, "back", string(list[2].Buffers[0][:list[2].N]))
			for _, m := range list[:n] {
				assert.True(t, m.Addr.(*net.UDPAddr).IP.Equal(ip))
				assert.Equal(t, port(plain).Port, m.Addr.(*net.UDPAddr).Port)
				assert.Empty(t, m.Addr.(*net.UDPAddr).Zone)
			}
		})
	}
}

func TestQuietSocket_ControlMessages_WrittenAndRead(t *testing.T) {
	q := quietly(t, bound(t, "udp4", "127.0.0.1:0"))
	raw, err := q.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_RECVTOS, 1) }))
	require.NoError(t, err)
	tos := make([]byte, unix.CmsgSpace(1))
	h := (*unix.Cmsghdr)(unsafe.Pointer(&tos[0]))
	h.Level, h.Type = unix.IPPROTO_IP, unix.IP_TOS
	h.SetLen(unix.CmsgLen(1))
	tos[unix.CmsgLen(0)] = 1
	_, oob, err := q.WriteMsgUDP([]byte("x"), tos, q.LocalAddr().(*net.UDPAddr))
	require.NoError(t, err)
	assert.Equal(t, len(tos), oob)
	list := room()
	n, err := q.ReadBatch(list, 0)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	header, body, _, err := unix.ParseOneSocketControlMessage(list[0].OOB[:list[0].NN])
	require.NoError(t, err)
	assert.Equal(t, []int32{unix.IPPROTO_IP, unix.IP_TOS}, []int32{header.Level, header.Type})
	assert.Equal(t, []byte{1}, body)
}

func TestQuietSocket_NothingComesUntilDeadline_TimesOut(t *testing.T) {
	q := quietly(t, bound(t, "udp4", "127.0.0.1:0"))
	require.NoError(t, q.SetReadDeadline(time.Now().Add(time.Millisecond)))
	_, err := q.ReadBatch(room(), 0)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, q.SetReadDeadline(time.Time{}))
	require.NoError(t, q.Close())
	_, err = q.ReadBatch(room(), 0)
	require.ErrorIs(t, err, net.ErrClosed)
	_, _, err = q.WriteMsgUDP(nil, nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9})
	require.ErrorIs(t, err, net.ErrClosed)
}

func TestQuietSocket_TooLarge_ErrorOfTheSystem(t *testing.T) {
	q := quietly(t, bound(t, "udp4", "127.0.0.1:0"))
	_, _, err := q.WriteMsgUDP(make([]byte, 1<<16), nil, q.LocalAddr().(*net.UDPAddr))
	require.ErrorIs(t, err, syscall.EMSGSIZE)
	var system *os.SyscallError
	require.ErrorAs(t, err, &system)
	assert.Equal(t, "sendmsg", system.Syscall) // which quic-go looks at
}

func TestQuietSocket_AddressesOnlyNetKnows_LeftToIt(t *testing.T) {
	q := quietly(t, bound(t, "udp4", "127.0.0.1:0"))
	for _, to := range []*net.UDPAddr{nil, {IP: net.IPv6loopback, Port: 9}, {IP: net.IPv6linklocalallnodes, Zone: "lo", Port: 9}} {
		_, _, want := q.UDPConn.WriteMsgUDP(nil, nil, to)
		_, _, err := q.WriteMsgUDP(nil, nil, to)
		require.Error(t, want)
		assert.Equal(t, want.Error(), err.Error())
	}
}

func TestQuiet_OtherSocket_StaysAsItIs(t *testing.T) {
	other := struct{ net.PacketConn }{}
	assert.Equal(t, net.PacketConn(other), quiet(other))
}
