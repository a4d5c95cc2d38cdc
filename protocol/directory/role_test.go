package directory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/wire"
)

// A gate is no member, however its certificate comes: from a handshake, a message, a page, or as that of a signer.
func TestGate_AnyWay_NotInTheDirectory(t *testing.T) {
	ca := newAuthority(1)
	ben := ca.member(2)
	claims := ben.certificate(month).Body()
	claims.Role = certificate.GateRole
	gate := must(claims.Sign(ca.key))
	d := directory.New(ca, ca.member(1).id)

	assert.False(t, d.Admit(gate))
	_, news, err := d.Learn(gate.Raw())
	assert.ErrorIs(t, err, certificate.ErrRole)
	assert.False(t, news)
	_, news, err = d.LearnSigner(gate.Raw())
	assert.ErrorIs(t, err, certificate.ErrRole)
	assert.False(t, news)
	learned := d.LearnPage([]wire.Entry{{Certificate: gate.Raw(), Endpoint: ben.endpoint(1, "a.example:1")}}, nil)
	assert.ErrorIs(t, learned[0].Err, certificate.ErrRole)
	assert.False(t, learned[0].Certificate || learned[0].Endpoint)

	assert.Zero(t, d.Len())
	assert.Nil(t, d.Key(ben.id), "nothing that it signs verifies")
	assert.ErrorIs(t, d.Eligible(ben.id, now), directory.ErrUnknown)
	_, err = d.LearnEndpoint(ben.endpoint(1, "a.example:1"))
	assert.ErrorIs(t, err, directory.ErrUnknown)

	// One that has a member's certificate stays a member.
	assert.True(t, d.Admit(ben.certificate(month)))
	assert.False(t, d.Admit(gate))
	certified, ok := d.Certificate(ben.id)
	assert.True(t, ok)
	assert.Equal(t, certificate.MemberRole, certified.Role())
}
