package transport

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestQUICSettings: T-1, T-7, T-10 and T-15 of spec/protocol.md. What is not
// named there is off.
func TestQUICSettings(t *testing.T) {
	want := quic.Config{
		Versions:                       []quic.Version{1},
		HandshakeIdleTimeout:           3 * time.Second,
		MaxIdleTimeout:                 45 * time.Second,
		InitialStreamReceiveWindow:     64 << 10,
		InitialConnectionReceiveWindow: 64 << 10,
		MaxStreamReceiveWindow:         128 << 10,
		MaxConnectionReceiveWindow:     128 << 10,
		MaxIncomingStreams:             -1,
		MaxIncomingUniStreams:          -1,
		DisablePathMTUDiscovery:        true,
		KeepAlivePeriod:                15 * time.Second,
	}
	dialler := &Transport{}
	assert.Equal(t, want, *quicConfig(dialler.keepAlive()), "the dialler")
	dialler.cfg.DialOnly = true
	assert.Equal(t, 2500*time.Millisecond, quicConfig(dialler.keepAlive()).KeepAlivePeriod, "a dialler that only dials out")
	want.MaxIncomingStreams, want.KeepAlivePeriod = 1, 0
	assert.Equal(t, want, *quicConfig(0), "the acceptor")
}

// TestTLSSettings: T-1 and T-2.
func TestTLSSettings(t *testing.T) {
	for side, c := range map[string]*tls.Config{"both": baseTLS(ALPN), "acceptor": (&lobby{protocols: []string{ALPN}}).serverTLS()} {
		assert.Equal(t, uint16(tls.VersionTLS13), c.MinVersion, side)
		assert.Equal(t, []string{"wander/1"}, c.NextProtos, side)
		assert.True(t, c.SessionTicketsDisabled, side)
		assert.Equal(t, []tls.CurveID{tls.X25519}, c.CurvePreferences, side)
		assert.Nil(t, c.ClientSessionCache, side)
	}
}

// TestRefusal_OnTheWire_Code: what T-4 says that a stranger sees.
func TestRefusal_OnTheWire_Code(t *testing.T) {
	g := newGroup(t, "g")
	a := g.open(t, newBook(), loopback(t), "a", nil)
	stranger := forge(t, seedKey("stranger"), nil)
	for _, c := range []struct {
		alpn string
		code quic.TransportErrorCode
	}{{ALPN, 0x12a}, {"wander/2", 0x178}} {
		r := newRaw(t, loopback(t), stranger)
		r.tls.NextProtos = []string{c.alpn}
		err := refusedDial(t, r, a)
		var refused *quic.TransportError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, c.code, refused.ErrorCode)
		assert.True(t, refused.Remote)
	}
}
