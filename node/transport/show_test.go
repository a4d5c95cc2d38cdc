package transport

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
)

// A gate is identified by those that serve gates or look for that one, and by nobody else.
func TestIdentify_Roles_Told(t *testing.T) {
	g := newGroup(t, "g")
	shown := func(name string, change func(*certificate.Claims)) ([]*x509.Certificate, certificate.Certificate) {
		key, cert := g.member(t, name, change)
		made, err := TLSCertificate(key, cert)
		require.NoError(t, err)
		parsed, err := x509.ParseCertificate(made.Certificate[0])
		require.NoError(t, err)
		return []*x509.Certificate{parsed}, cert
	}
	gate, gateCert := shown("gate", func(c *certificate.Claims) { c.Role = certificate.GateRole })
	member, memberCert := shown("member", nil)

	_, err := Identify(g.id, g, gate, g.now)
	assert.ErrorIs(t, err, ErrCertificate)
	assert.ErrorIs(t, err, certificate.ErrRole)
	for _, peer := range []struct {
		shown []*x509.Certificate
		want  certificate.Certificate
	}{{gate, gateCert}, {member, memberCert}} {
		got, err := IdentifyAny(g.id, g, peer.shown, g.now)
		require.NoError(t, err)
		assert.Equal(t, peer.want.Raw(), got.Raw())
	}

	// Who looks for a gate reads it as one, and takes no member for it.
	v := newVerifier(g.id, g, func() time.Time { return g.now })
	v.read = certificate.ParseGate
	got, err := v.identify(gate)
	require.NoError(t, err)
	assert.NoError(t, got.CheckGate(gateCert.Member(), g.now))
	_, err = v.identify(member)
	assert.ErrorIs(t, err, ErrCertificate)
	assert.ErrorIs(t, err, certificate.ErrRole)
}
