package ca

import (
	"bytes"
	"encoding/hex"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/store/faultfs"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

func invite(t testing.TB, a *Authority, name string) Invited {
	t.Helper()
	i, err := a.Invite(name, 0)
	require.NoError(t, err)
	return i
}

func redeem(t testing.TB, a *Authority, i Invited, seed byte) certificate.Certificate {
	t.Helper()
	c, err := a.Redeem(i.ID, i.Secret, i.Name, keyOf(seed))
	require.NoError(t, err)
	return c
}

func TestInvite_Redeemed_CertificateIssued(t *testing.T) {
	a, d := fresh(t)
	i := invite(t, a, "ftp-03")
	assert.Equal(t, "ftp-03", i.Name)
	assert.NotZero(t, i.ID)
	assert.NotZero(t, i.Secret)
	cert := redeem(t, reopen(t, d), i, 2)
	assert.Equal(t, "ftp-03", cert.Name())
	assert.True(t, cert.Key().Equal(keyOf(2)))
	assert.Equal(t, uint64(1), cert.Body().Serial)
	assert.NoError(t, a.Eligible(cert.Member()))

	l, err := a.List()
	require.NoError(t, err)
	require.Len(t, l.Invites, 1)
	assert.Equal(t, InviteID(i.ID), l.Invites[0].ID)
	assert.Equal(t, cert.Member(), l.Invites[0].Member)
	assert.Equal(t, defaultInviteLifetime, l.Invites[0].Expires.Sub(l.Invites[0].Made))
	assert.Equal(t, i.Expires, l.Invites[0].Expires)
	again, err := reopen(t, d).List()
	require.NoError(t, err)
	assert.Equal(t, l, again)
}

// TestInvite_Secret_NotOnDisk: whoever reads the log or a backup of it
// cannot join with it.
func TestInvite_Secret_NotOnDisk(t *testing.T) {
	a, d := fresh(t)
	i := invite(t, a, "a")
	redeem(t, a, i, 2)
	for _, file := range []string{LogFile, GroupFile, serialFile} {
		text, err := d.ReadFile(filepath.Join(testDir, file), -1)
		require.NoError(t, err)
		assert.NotContains(t, string(text), hex.EncodeToString(i.Secret[:]))
		assert.False(t, bytes.Contains(text, i.Secret[:]))
	}
}

func TestRedeem_Twice_Refused(t *testing.T) {
	a, d := fresh(t)
	i := invite(t, a, "a")
	first := redeem(t, a, i, 2)
	_, err := a.Redeem(i.ID, i.Secret, "a", keyOf(3))
	assert.ErrorIs(t, err, ErrRefused)
	_, err = reopen(t, d).Redeem(i.ID, i.Secret, "a", keyOf(3))
	assert.ErrorIs(t, err, ErrRefused)
	assert.Equal(t, first.Raw(), redeem(t, a, i, 2).Raw(), "the answer was lost")
	assert.Equal(t, first.Raw(), redeem(t, reopen(t, d), i, 2).Raw())
	assert.Equal(t, uint64(2), issue(t, a, "b", 4).Body().Serial, "which draws no number")
}

func TestRedeem_AnswerLostAndInviteExpired_SameAnswer(t *testing.T) {
	clock := &clockAt{now: day}
	o := options(faultDisk{faultfs.New(1)})
	o.Now = clock.Now
	a, err := Create(testDir, CreateOptions{Options: o, Name: "demo"})
	require.NoError(t, err)
	used, unused := invite(t, a, "a"), invite(t, a, "b")
	first := redeem(t, a, used, 2)
	clock.now = unused.Expires
	assert.Equal(t, first.Raw(), redeem(t, a, used, 2).Raw())
	_, err = a.Redeem(unused.ID, unused.Secret, "b", keyOf(3))
	assert.ErrorIs(t, err, ErrRefused)

	_, err = a.Revoke(first.Member(), "")
	require.NoError(t, err)
	_, err = a.Redeem(used.ID, used.Secret, "a", keyOf(2))
	assert.ErrorIs(t, err, ErrRevoked)
}

func TestRedeem_Refused_SameError(t *testing.T) {
	clock := &clockAt{now: day}
	o := options(faultDisk{faultfs.New(1)})
	o.Now = clock.Now
	a, err := Create(testDir, CreateOptions{Options: o, Name: "demo"})
	require.NoError(t, err)
	used, open := invite(t, a, "used"), invite(t, a, "open")
	short, err := a.Invite("short", time.Minute)
	require.NoError(t, err)
	redeem(t, a, used, 2)
	clock.now = short.Expires
	wrong := open
	wrong.Secret[0] ^= 1
	tests := []struct {
		name   string
		invite Invited
		detail string
	}{
		{"unknown", Invited{ID: [8]byte{1}, Secret: open.Secret, Name: "open"}, "no invite"},
		{"wrong secret", wrong, "wrong secret"},
		{"secret of another", Invited{ID: open.ID, Secret: used.Secret, Name: "open"}, "wrong secret"},
		{"used", used, "was used by"},
		{"expired", short, "expired at"},
		{"no secret", Invited{ID: open.ID, Name: "open"}, "wrong secret"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := a.Redeem(tt.invite.ID, tt.invite.Secret, tt.invite.Name, keyOf(9))
			assert.ErrorIs(t, err, ErrRefused)
			assert.ErrorContains(t, err, tt.detail, "for the operator")
			for _, other := range []error{ErrUnknown, ErrExpired, ErrNameInUse, ErrOtherName} {
				assert.NotErrorIs(t, err, other)
			}
		})
	}
	redeem(t, a, open, 9)
}

func TestRedeem_IssueRefuses_Refused(t *testing.T) {
	a, _ := fresh(t)
	gone := issue(t, a, "gone", 2)
	_, err := a.Revoke(gone.Member(), "")
	require.NoError(t, err)
	i := invite(t, a, "a")
	_, err = a.Redeem(i.ID, i.Secret, "b", keyOf(3))
	assert.ErrorIs(t, err, ErrOtherName)
	_, err = a.Redeem(i.ID, i.Secret, "a", keyOf(2))
	assert.ErrorIs(t, err, ErrRevoked)
	_, err = a.Redeem(i.ID, i.Secret, "a", a.Certificate().Key())
	assert.ErrorIs(t, err, ErrOwnKey)
	issue(t, a, "a", 4)
	_, err = a.Redeem(i.ID, i.Secret, "a", keyOf(3))
	assert.ErrorIs(t, err, ErrNameInUse)
	assert.Equal(t, keyOf(4).Bytes(), redeem(t, a, i, 4).Body().Key, "it is still good, also for a member that there is")
}

func TestInvite_Invalid_Refused(t *testing.T) {
	a, d := fresh(t)
	issue(t, a, "taken", 2)
	tests := []struct {
		name     string
		member   string
		lifetime time.Duration
		want     error
	}{
		{"name", "a/b", 0, certificate.ErrName},
		{"short", "a", time.Second, ErrLifetime},
		{"long", "a", maxInviteLifetime + 1, ErrLifetime},
		{"name in use", "taken", 0, ErrNameInUse},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := a.Invite(tt.member, tt.lifetime)
			assert.ErrorIs(t, err, tt.want)
		})
	}
	o := options(d)
	o.Rand = bytes.NewReader(nil)
	b, err := Open(testDir, o)
	require.NoError(t, err)
	_, err = b.Invite("a", 0)
	assert.Error(t, err, "no randomness")
	l, err := a.List()
	require.NoError(t, err)
	assert.Empty(t, l.Invites)
}

func TestInvite_EncryptedKey_NoPassphrase(t *testing.T) {
	d := faultDisk{faultfs.New(1)}
	_, err := Create(testDir, CreateOptions{Options: options(d), Name: "demo", Secret: []byte("sesame")})
	require.NoError(t, err)
	invite(t, reopen(t, d), "a")
}

func TestRenew(t *testing.T) {
	clock := &clockAt{now: day}
	o := options(faultDisk{faultfs.New(1)})
	o.Now = clock.Now
	a, err := Create(testDir, CreateOptions{Options: o, Name: "demo"})
	require.NoError(t, err)
	first := issue(t, a, "a", 2)
	renew := func() certificate.Certificate {
		t.Helper()
		c, err := a.Renew(first.Member())
		require.NoError(t, err)
		assert.Equal(t, first.Member(), c.Member())
		assert.Equal(t, "a", c.Name())
		return c
	}
	assert.Equal(t, first.Raw(), renew().Raw(), "it is fresh")
	clock.now = day.AddDate(0, 0, 29)
	assert.Equal(t, first.Raw(), renew().Raw())
	clock.now = day.AddDate(0, 0, 31)
	second := renew()
	assert.Equal(t, uint64(2), second.Body().Serial)
	assert.Equal(t, second.Raw(), renew().Raw())
	clock.now = day.AddDate(1, 0, 0)
	assert.Equal(t, uint64(3), renew().Body().Serial, "also when it has expired")

	_, err = a.Renew(ident.Member{1})
	assert.ErrorIs(t, err, ErrUnknown)
	_, err = a.Revoke(first.Member(), "")
	require.NoError(t, err)
	_, err = a.Renew(first.Member())
	assert.ErrorIs(t, err, ErrRevoked)
}

func TestStanding(t *testing.T) {
	a, d := fresh(t)
	b := reopen(t, d)
	cert := issue(t, a, "a", 2)
	assert.NoError(t, b.Eligible(cert.Member()))
	assert.ErrorIs(t, b.Eligible(ident.Member{1}), ErrUnknown)
	_, err := a.Revoke(cert.Member(), "")
	require.NoError(t, err)
	assert.ErrorIs(t, b.Eligible(cert.Member()), ErrRevoked, "it sees what another process did")
}

func TestPublication(t *testing.T) {
	d := faultDisk{faultfs.New(1)}
	a := create(t, d)
	p, err := a.Publication()
	require.NoError(t, err)
	assert.Equal(t, [][]byte{a.Certificate().Raw()}, p.Authorities)
	assert.Nil(t, p.Configuration)
	b := reopen(t, d)
	config, err := b.SetConfig(settings("ftp"))
	require.NoError(t, err)
	revoked, err := b.Revoke(ident.Member{1}, "")
	require.NoError(t, err)
	p, err = a.Publication()
	require.NoError(t, err)
	assert.Equal(t, config.Raw(), p.Configuration)
	assert.Equal(t, [][]byte{revoked.Raw()}, p.Revocations)
	assert.Equal(t, uint64(1), p.ConfigVersion)
	assert.Equal(t, uint64(1), p.RevocationVersion)
	assert.Empty(t, p.Leaves)
}

func TestSigner(t *testing.T) {
	a, _ := fresh(t)
	statement, key, err := a.Signer()
	require.NoError(t, err)
	assert.Equal(t, a.Certificate().Raw(), statement.Raw())
	public := statement.Key().Bytes()
	assert.EqualValues(t, public[:], key.Public())
}

func TestInviteID_Text_RoundTrip(t *testing.T) {
	id := InviteID{1, 0xab}
	text, err := id.MarshalText()
	require.NoError(t, err)
	var again InviteID
	require.NoError(t, again.UnmarshalText(text))
	assert.Equal(t, id, again)
	for _, bad := range []string{"", "01ab", "zz00000000000000", "01ab0000000000000"} {
		assert.Error(t, again.UnmarshalText([]byte(bad)), bad)
	}
}

// TestRedeem_Concurrent_OnceOnly: processes and clients at the same time.
func TestRedeem_Concurrent_OnceOnly(t *testing.T) {
	const tries = 6
	dir := t.TempDir()
	a, err := Create(dir, CreateOptions{Name: "demo"})
	require.NoError(t, err)
	b, err := Open(dir, Options{})
	require.NoError(t, err)
	i := invite(t, a, "a")
	results := make(chan error)
	for n := range byte(tries) {
		go func() {
			_, err := []*Authority{a, b}[n%2].Redeem(i.ID, i.Secret, "a", keyOf(10+n))
			results <- err
		}()
		go func() {
			_, err := []*Authority{a, b}[n%2].Invite("b", 0)
			results <- err
		}()
	}
	refused := 0
	for range 2 * tries {
		if err := <-results; errors.Is(err, ErrRefused) {
			refused++
		} else {
			assert.NoError(t, err)
		}
	}
	assert.Equal(t, tries-1, refused)
	l, err := b.List()
	require.NoError(t, err)
	assert.Len(t, l.Records, 1)
	assert.Len(t, l.Invites, 1+tries)
}
