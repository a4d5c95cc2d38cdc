package service

import (
	"crypto/ed25519"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
)

// A rotation by another process, while the service runs: members follow, one by
// one and whenever they come; also one that sleeps through all of it.
func TestRotation(t *testing.T) {
	b := newBench(t)
	early, late, away := b.join("early"), b.join("late"), b.join("away")
	steps := []func() error{
		func() error { return b.ca.IntroduceKey(0) },
		b.ca.SwitchKey,
		func() error { return b.ca.RetireKey(true) },
	}
	follow := func(m *member) {
		t.Helper()
		news, err := m.client().Sync(t.Context(), enrolment.Mine{})
		require.NoError(t, err, b.log.String())
		m.enrolled.Group = news.Group
		renewed, err := m.client().Renew(t.Context())
		require.NoError(t, err, b.log.String())
		m.enrolled.Certificate = renewed.Certificate
	}
	by := func(m *member) [16]byte { return m.enrolled.Certificate.Authority() }
	old := by(early)
	for i, step := range steps {
		require.NoError(t, step())
		follow(early)
		assert.EqualValues(t, 2+i, early.enrolled.Group.Config().Version())
		b.join([]string{"x", "y", "z"}[i])
	}
	assert.NotEqual(t, old, by(early))
	assert.Nil(t, early.enrolled.Group.Key(old))
	for _, m := range []*member{late, away} {
		_, err := certificate.Parse(b.group(), m.enrolled.Certificate.Raw(), early.enrolled.Group)
		require.ErrorIs(t, err, certificate.ErrUnknownCA, "the others refuse it by now")
		follow(m)
		assert.Equal(t, by(early), by(m))
		assert.EqualValues(t, 4, m.enrolled.Group.Config().Version())
	}
}

// Newcomers meet those whom the service knows also after a rotation: at once when
// they have renewed, and otherwise when they do.
func TestSeen_Rotation_Kept(t *testing.T) {
	b := newBench(t)
	m, rest := b.join("a"), b.join("b")
	for _, one := range []*member{m, rest} {
		_, err := one.client().Sync(t.Context(), enrolment.Mine{Endpoint: one.endpoint(1, "a.example.org:4133")})
		require.NoError(t, err)
	}
	require.NoError(t, b.ca.IntroduceKey(0))
	require.NoError(t, b.ca.SwitchKey())
	renew := func(one *member) {
		t.Helper()
		news, err := one.client().Sync(t.Context(), enrolment.Mine{})
		require.NoError(t, err)
		one.enrolled.Group = news.Group
		_, err = one.client().Renew(t.Context())
		require.NoError(t, err, b.log.String())
	}
	renew(m)
	require.NoError(t, b.ca.RetireKey(true))
	assert.Len(t, b.join("c").enrolled.Peers, 1)
	renew(rest)
	assert.Len(t, b.join("d").enrolled.Peers, 2)
	_, err := b.ca.Revoke(m.id(), "")
	require.NoError(t, err)
	assert.Len(t, b.join("e").enrolled.Peers, 1)
}

// Who has a key that was retired can make certificates with it, and gets no
// other one for them.
func TestRotation_RetiredKeyStolen_Useless(t *testing.T) {
	b := newBench(t)
	m := b.join("a")
	_, signer, err := b.ca.Signer()
	require.NoError(t, err)
	stolen, err := signature.NewPrivateKey(signer.(ed25519.PrivateKey).Seed())
	require.NoError(t, err)
	require.NoError(t, b.ca.IntroduceKey(0))
	require.NoError(t, b.ca.SwitchKey())
	require.NoError(t, b.ca.RetireKey(true))
	news, err := m.client().Sync(t.Context(), enrolment.Mine{})
	require.NoError(t, err, b.log.String())

	thief := &member{bench: b, key: newKey(t)}
	claims := m.enrolled.Certificate.Body()
	claims.Key, claims.Serial = thief.key.Public().Bytes(), 999
	thief.enrolled.Certificate, err = claims.Sign(stolen)
	require.NoError(t, err)
	thief.enrolled.Group = news.Group
	_, err = thief.client().Renew(t.Context())
	assert.ErrorIs(t, err, enrolment.ErrRefused)
	_, err = thief.client().Sync(t.Context(), enrolment.Mine{})
	assert.ErrorIs(t, err, enrolment.ErrRefused)
	assert.ErrorIs(t, b.ca.Eligible(thief.id()), ca.ErrUnknown)
}
