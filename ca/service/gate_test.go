package service

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/invite"
)

// joinGate is join for a gate.
func (b *bench) joinGate(name string) *member {
	b.t.Helper()
	made, err := b.ca.InviteGate(name, time.Hour)
	require.NoError(b.t, err)
	by, _, err := b.ca.Signer()
	require.NoError(b.t, err)
	i := invite.Invite{
		Group: b.group(), Authority: by.ID(), Addresses: []string{b.address},
		ID: made.ID, Secret: made.Secret, Name: made.Name, Expires: made.Expires,
	}
	m := &member{bench: b, key: newKey(b.t)}
	m.enrolled, err = enrolment.Enrol(b.t.Context(), i, b.request(name, m.key), b.clock.Now)
	require.NoError(b.t, err, b.log.String())
	return m
}

// A gate enrols, learns what is published and renews its certificate as members do. Nobody is told of it as a peer.
func TestGate_WholeLife_Answered(t *testing.T) {
	b := newBench(t)
	gate := b.joinGate("gate")
	assert.Equal(t, certificate.GateRole, gate.enrolled.Certificate.Role())

	b.configure("tape")
	news, err := gate.client().Sync(t.Context(), enrolment.Mine{})
	require.NoError(t, err, b.log.String())
	assert.EqualValues(t, 2, news.Group.Config().Version())
	_, err = gate.client().Sync(t.Context(), enrolment.Mine{Endpoint: gate.endpoint(1, "gate.example.org:4136")})
	assert.ErrorIs(t, err, enrolment.ErrRefused, "no member dials a gate as a peer")

	a := b.join("a")
	assert.Empty(t, a.enrolled.Peers)
	assert.Zero(t, a.enrolled.Others, "the first member makes the tokens, whatever gates there are")

	b.clock.move(5 * 24 * time.Hour)
	b.server.upkeep()
	renewed, err := gate.client().Renew(t.Context())
	require.NoError(t, err, b.log.String())
	assert.Equal(t, certificate.GateRole, renewed.Certificate.Role())
	assert.Equal(t, gate.id(), renewed.Certificate.Member())
	assert.Greater(t, renewed.Certificate.Body().Serial, gate.enrolled.Certificate.Body().Serial)

	_, err = b.ca.Revoke(gate.id(), "stolen")
	require.NoError(t, err)
	_, err = gate.client().Sync(t.Context(), enrolment.Mine{})
	assert.ErrorIs(t, err, enrolment.ErrRevoked)
	assert.ErrorIs(t, b.ca.Eligible(gate.id()), ca.ErrRevoked)
}
