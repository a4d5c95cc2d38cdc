package service

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/group"
)

const (
	life  = group.DefaultCertificateLifetime
	grace = 7 * 24 * time.Hour
)

// graceful is a bench whose group renews so long after the end.
func newGraceful(t *testing.T) *bench {
	b := newBench(t)
	b.grace(grace)
	return b
}

func (b *bench) grace(d time.Duration) {
	b.t.Helper()
	s := b.ca.Config().Settings()
	s.RenewGrace = d
	_, err := b.ca.SetConfig(s)
	require.NoError(b.t, err)
}

// pass lets time pass; the service keeps its own TLS certificate.
func (b *bench) pass(d time.Duration) {
	b.clock.move(d)
	b.server.upkeep()
}

// A member whose certificate ended less than renew_grace ago proves its key in the handshake, and gets another
// certificate for the same name and key.
func TestRenew_Expired_WithinGrace(t *testing.T) {
	b := newGraceful(t)
	m := b.join("a")
	b.pass(life + grace - time.Millisecond)
	_, err := m.client().Sync(t.Context(), enrolment.Mine{})
	require.ErrorIs(t, err, enrolment.ErrExpired, "it renews, and nothing else")
	renewed, err := m.client().Renew(t.Context())
	require.NoError(t, err)
	assert.Equal(t, m.id(), renewed.Certificate.Member())
	assert.Equal(t, "a", renewed.Certificate.Name())
	assert.NoError(t, renewed.Certificate.ValidAt(b.clock.Now()))
	assert.Contains(t, b.log.String(), "renewed within the grace")

	// The answer may be lost: the newest certificate comes again, without another serial number.
	again, err := m.client().Renew(t.Context())
	require.NoError(t, err)
	assert.Equal(t, renewed.Certificate.Hash(), again.Certificate.Hash())

	// The grace counts from the end of the newest one.
	b.pass(life + grace)
	_, err = m.client().Renew(t.Context())
	assert.ErrorIs(t, err, enrolment.ErrExpired)
}

// Without a grace an expired certificate is good for nothing, also if the CA has issued a newer one for the same key.
func TestRenew_NoGrace_ExpiredRefused(t *testing.T) {
	b := newBench(t)
	m := b.join("a")
	b.pass(life - time.Hour)
	_, err := m.client().Renew(t.Context())
	require.NoError(t, err)
	b.pass(time.Hour)
	_, err = m.client().Renew(t.Context())
	assert.ErrorIs(t, err, enrolment.ErrExpired)
}

// Past the grace, and in a group without one, nothing is renewed. The configuration in force decides.
func TestRenew_GraceOver_Refused(t *testing.T) {
	b := newBench(t)
	m := b.join("a")
	b.pass(life)
	_, err := m.client().Renew(t.Context())
	require.ErrorIs(t, err, enrolment.ErrExpired, "there is none")
	assert.Contains(t, b.log.String(), "member certificate expired: certificate has expired at 2026-05-30T12:00:00Z")
	b.grace(grace)
	b.pass(grace)
	_, err = m.client().Renew(t.Context())
	require.ErrorIs(t, err, enrolment.ErrExpired, "it is over")
	assert.Contains(t, b.log.String(), "may not be renewed any more: it ended on 2026-05-30T12:00:00Z, and renew_grace is 7d")
	b.grace(2 * grace)
	_, err = m.client().Renew(t.Context())
	assert.NoError(t, err, "an operator has made it longer")
}

// A member that is gone for good is told why, as before its certificate ended. It may ask no more often than others.
func TestRenew_ExpiredAndGone_ToldWhy(t *testing.T) {
	b := newGraceful(t)
	revoked, left, other := b.join("a"), b.join("b"), b.join("c")
	_, err := b.ca.Revoke(revoked.id(), "stolen")
	require.NoError(t, err)
	require.NoError(t, left.client().Leave(t.Context(), left.leave()))
	b.pass(life)
	_, err = revoked.client().Renew(t.Context())
	var says *enrolment.RevokedError
	require.ErrorAs(t, err, &says)
	assert.NotEmpty(t, says.Revocation)
	_, err = left.client().Renew(t.Context())
	require.ErrorIs(t, err, enrolment.ErrLeft)
	for range memberBurst {
		b.server.members.take(other.id(), b.clock.Now())
	}
	_, err = other.client().Renew(t.Context())
	assert.ErrorIs(t, err, enrolment.ErrBusy)
}

// A name that somebody else has by now is not given twice.
func TestRenew_ExpiredNameTaken_Refused(t *testing.T) {
	b := newGraceful(t)
	m := b.join("a")
	b.pass(life)
	b.join("a")
	_, err := m.client().Renew(t.Context())
	assert.ErrorIs(t, err, enrolment.ErrRefused)
}
