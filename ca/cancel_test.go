package ca

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCancel(t *testing.T) {
	a, d := fresh(t)
	first, second, other := invite(t, a, "a"), invite(t, a, "a"), invite(t, a, "b")
	ended, err := a.Cancel(InviteID(second.ID).String())
	require.NoError(t, err)
	require.Len(t, ended, 1)
	assert.Equal(t, InviteID(second.ID), ended[0].ID)
	_, err = a.Redeem(second.ID, second.Secret, "a", keyOf(2))
	assert.ErrorIs(t, err, ErrRefused)
	assert.ErrorContains(t, err, "was revoked at")

	ended, err = reopen(t, d).Cancel("a")
	require.NoError(t, err)
	require.Len(t, ended, 1, "the other one is ended already")
	assert.Equal(t, InviteID(first.ID), ended[0].ID)
	for _, again := range []string{"a", InviteID(first.ID).String()} {
		ended, err = a.Cancel(again)
		require.NoError(t, err)
		assert.Empty(t, ended)
	}
	_, err = a.Redeem(first.ID, first.Secret, "a", keyOf(2))
	assert.ErrorIs(t, err, ErrRefused)

	cert := redeem(t, a, other, 3)
	_, err = a.Cancel(InviteID(other.ID).String())
	assert.ErrorIs(t, err, ErrInviteUsed)
	ended, err = a.Cancel("b")
	require.NoError(t, err)
	assert.Empty(t, ended)
	assert.Equal(t, cert.Raw(), redeem(t, a, other, 3).Raw(), "a lost answer still comes again")
	for _, unknown := range []string{"c", "0102030405060708", ""} {
		_, err = a.Cancel(unknown)
		assert.ErrorIs(t, err, ErrNoInvite)
	}
}

func TestCancel_ExpiredInvite_Refused(t *testing.T) {
	a, _ := fresh(t)
	i, err := a.Invite("a", minInviteLifetime)
	require.NoError(t, err)
	now := i.Expires
	a.ledger.options.Now = func() time.Time { return now }
	ended, err := a.Cancel("a")
	require.NoError(t, err)
	assert.Empty(t, ended)
}

// TestRevoke_InvitesOpen_Ended: whoever stole the machine with a second
// invite is not back with it.
func TestRevoke_InvitesOpen_Ended(t *testing.T) {
	a, d := fresh(t)
	used, spare, other := invite(t, a, "a"), invite(t, a, "a"), invite(t, a, "b")
	cert := redeem(t, a, used, 2)
	_, err := a.Revoke(cert.Member(), "stolen")
	require.NoError(t, err)
	_, err = reopen(t, d).Redeem(spare.ID, spare.Secret, "a", keyOf(3))
	assert.ErrorIs(t, err, ErrRefused)
	redeem(t, a, other, 4)

	later := invite(t, a, "a") // for the one who comes back
	_, err = a.Revoke(cert.Member(), "again")
	assert.ErrorIs(t, err, ErrRevoked)
	_, err = a.Redeem(later.ID, later.Secret, "a", keyOf(3))
	assert.ErrorIs(t, err, ErrRefused, "who revokes means it")
}
