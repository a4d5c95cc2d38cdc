package ca

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/node/store/faultfs"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// at is an authority whose clock can be set.
func at(t testing.TB) (*Authority, faultDisk, *clockAt) {
	t.Helper()
	clock, d := &clockAt{now: day}, faultDisk{faultfs.New(1)}
	o := options(d)
	o.Now = clock.Now
	a, err := Create(testDir, CreateOptions{Options: o, Name: "demo"})
	require.NoError(t, err)
	_, err = a.SetConfig(settings("ftp"))
	require.NoError(t, err)
	return a, d, clock
}

func standing(t testing.TB, a *Authority) Rotation {
	t.Helper()
	r, err := a.Rotation()
	require.NoError(t, err)
	return r
}

func uses(r Rotation) (list []Use) {
	for _, k := range r.Keys {
		list = append(list, k.Use)
	}
	return list
}

// rotate does a whole rotation.
func rotate(t testing.TB, a *Authority) {
	t.Helper()
	require.NoError(t, a.IntroduceKey(0))
	require.NoError(t, a.SwitchKey())
	require.NoError(t, a.RetireKey(true))
}

func TestRotation_EachStep_PhaseFollows(t *testing.T) {
	a, d := fresh(t)
	r := standing(t, a)
	assert.Equal(t, Settled, r.Phase)
	assert.Equal(t, []Use{Signs}, uses(r))
	first := issue(t, a, "a", 2)

	require.NoError(t, a.IntroduceKey(0))
	r = standing(t, a)
	assert.Equal(t, Introduced, r.Phase)
	assert.Equal(t, []Use{Signs, Next}, uses(r))
	assert.Equal(t, "ca-2.key", r.Keys[1].File)
	assert.Equal(t, uint64(2), r.Keys[1].Statement.Body().Version)
	assert.Equal(t, a.Config().Settings().Issued.Add(12*time.Minute), r.Heard, "24 times 30s")
	assert.Len(t, a.Config().Settings().Authorities, 2)
	assert.Equal(t, r.Keys[0].Statement.ID(), a.Config().Signer())
	assert.Equal(t, r.Keys[0].Statement.ID(), issue(t, a, "b", 3).Authority())

	require.NoError(t, a.SwitchKey())
	r = standing(t, a)
	assert.Equal(t, Switched, r.Phase)
	assert.Equal(t, []Use{Old, Signs}, uses(r))
	assert.Equal(t, r.Keys[1].Statement.ID(), a.Config().Signer())
	require.Len(t, r.Pending, 2)
	assert.Equal(t, "a", r.Pending[0].Name)
	assert.ErrorIs(t, a.RetireKey(false), ErrPending)

	renewed, err := a.Renew(first.Member())
	require.NoError(t, err)
	assert.Equal(t, r.Keys[1].Statement.ID(), renewed.Authority(), "although the old one was fresh")
	issue(t, a, "b", 3)
	require.NoError(t, a.RetireKey(false))
	r = standing(t, reopen(t, d))
	assert.Equal(t, Settled, r.Phase)
	assert.Equal(t, []Use{Retired, Signs}, uses(r))

	g, _ := published(t, d)
	assert.Equal(t, a.Group(), g.ID())
	assert.Nil(t, g.Key(first.Authority()))
	assert.NotNil(t, g.Key(renewed.Authority()))
	assert.Equal(t, uint64(4), g.Config().Version())
	l, err := a.List()
	require.NoError(t, err)
	assert.Equal(t, []int{1, 1, 2, 2}, []int{l.Records[0].Key, l.Records[1].Key, l.Records[2].Key, l.Records[3].Key})
	_, err = a.Parse(first.Raw())
	assert.NoError(t, err, "the authority still knows what it has signed")
}

func TestRotation_StepsInTheWrongOrder_Refused(t *testing.T) {
	d := faultDisk{faultfs.New(1)}
	a := create(t, d)
	assert.ErrorIs(t, a.IntroduceKey(0), ErrNoConfiguration)
	_, err := a.SetConfig(settings("ftp"))
	require.NoError(t, err)
	assert.ErrorIs(t, a.IntroduceKey(maxLifetime+1), ErrLifetime)
	assert.ErrorIs(t, a.SwitchKey(), ErrNotRotating)
	assert.ErrorIs(t, a.RetireKey(true), ErrNotRotating)
	assert.ErrorIs(t, a.WithdrawKey(), ErrNotRotating)
	require.NoError(t, a.IntroduceKey(0))
	assert.ErrorIs(t, a.IntroduceKey(0), ErrRotating)
	assert.ErrorIs(t, a.RetireKey(true), ErrNotRotating)
	require.NoError(t, a.SwitchKey())
	assert.ErrorIs(t, a.IntroduceKey(0), ErrRotating)
	assert.ErrorIs(t, a.SwitchKey(), ErrNotRotating)
	assert.ErrorIs(t, a.WithdrawKey(), ErrNotRotating, "it has signed")
	require.NoError(t, a.RetireKey(false))
	assert.ErrorIs(t, a.RetireKey(true), ErrNotRotating)
}

// TestRotation_NoCertificateNeeded_NotPending: the dead, the gone and those whose
// certificates have expired do not hold up a rotation.
func TestRotation_NoCertificateNeeded_NotPending(t *testing.T) {
	a, _, clock := at(t)
	issue(t, a, "gone", 2)
	dead := issue(t, a, "dead", 3)
	_, err := a.Issue(Request{Name: "short", Key: keyOf(4), Lifetime: time.Hour})
	require.NoError(t, err)
	require.NoError(t, a.IntroduceKey(0))
	require.NoError(t, a.SwitchKey())
	require.NoError(t, a.Left(leaveOf(t, a.Group(), 2)))
	_, err = a.Revoke(dead.Member(), "")
	require.NoError(t, err)
	assert.Len(t, standing(t, a).Pending, 1)
	clock.now = clock.now.Add(time.Hour)
	assert.Empty(t, standing(t, a).Pending)
	require.NoError(t, a.RetireKey(false))
}

func TestRotation_Withdrawn_KeyGone(t *testing.T) {
	a, d := fresh(t)
	require.NoError(t, a.IntroduceKey(0))
	g, _ := published(t, d)
	statement := g.Vouchers()[0]
	require.NoError(t, a.WithdrawKey())
	r := standing(t, reopen(t, d))
	assert.Equal(t, Settled, r.Phase)
	assert.Equal(t, []Use{Signs, Retired}, uses(r))
	g, _ = published(t, d)
	assert.Empty(t, g.Vouchers())
	_, err := g.WithAuthority(statement)
	assert.ErrorIs(t, err, group.ErrRetired)

	rotate(t, a)
	assert.Equal(t, []Use{Retired, Retired, Signs}, uses(standing(t, a)))
	g, _ = published(t, d)
	assert.Len(t, g.Vouchers(), 1)
}

// TestManyRotations: up to as many as the chain of statements can have.
func TestManyRotations(t *testing.T) {
	a, d := fresh(t)
	behind, _ := published(t, d)
	for range group.MaxAuthorities - 1 {
		rotate(t, a)
	}
	require.ErrorIs(t, a.IntroduceKey(0), group.ErrTooManyAuthorities)
	p, err := a.Publication()
	require.NoError(t, err)
	assert.Len(t, p.Authorities, group.MaxAuthorities)
	g, err := behind.Update(p.Configuration, p.Authorities[1:])
	require.NoError(t, err, "also for who has heard of none")
	cert := issue(t, a, "a", 2)
	_, err = certificate.Parse(g.ID(), cert.Raw(), g)
	assert.NoError(t, err)
}

// TestRotation_AnotherProcess_Seen: the one that serves goes on with the right key, and
// is asked for the passphrase once.
func TestRotation_AnotherProcess_Seen(t *testing.T) {
	d := faultDisk{faultfs.New(1)}
	_, err := Create(testDir, CreateOptions{Options: options(d), Name: "demo", Secret: []byte("sesame")})
	require.NoError(t, err)
	asked := 0
	open := func() *Authority {
		o := options(d)
		o.Passphrase = func() ([]byte, error) { asked++; return []byte("sesame"), nil }
		a, err := Open(testDir, o)
		require.NoError(t, err)
		return a
	}
	serving, command := open(), open()
	_, err = serving.SetConfig(settings("ftp"))
	require.NoError(t, err)
	old := issue(t, serving, "a", 2)
	require.NoError(t, command.IntroduceKey(0))
	require.NoError(t, command.SwitchKey())
	assert.Equal(t, 2, asked)
	assert.Equal(t, keyfile.EncryptedPrivateKey, blocks(t, d, "ca-2.key")[0].Type)
	assert.NotEqual(t, old.Authority(), issue(t, serving, "b", 3).Authority())
	assert.Equal(t, 2, asked)
	statement, key, err := serving.Signer()
	require.NoError(t, err)
	public := statement.Key().Bytes()
	assert.EqualValues(t, public[:], key.Public())
	assert.Equal(t, standing(t, command).Keys[1].Statement.ID(), statement.ID())
}

// TestRotation_OldKeyRemovedAfterSwitch_Works: it signs nothing any more.
func TestRotation_OldKeyRemovedAfterSwitch_Works(t *testing.T) {
	a, d := fresh(t)
	require.NoError(t, a.IntroduceKey(0))
	require.NoError(t, a.SwitchKey())
	require.NoError(t, d.Rename(filepath.Join(testDir, KeyFile), "/elsewhere"))
	b := reopen(t, d)
	issue(t, b, "a", 2)
	require.NoError(t, b.RetireKey(false))
	_, err := Create(testDir, CreateOptions{Options: options(d), Name: "demo"})
	assert.ErrorIs(t, err, ErrExists)
}

func TestRotation_NewKeyLost_Refused(t *testing.T) {
	a, d := fresh(t)
	require.NoError(t, a.IntroduceKey(0))
	require.NoError(t, d.Remove(filepath.Join(testDir, "ca-2.key")))
	b := reopen(t, d)
	require.Error(t, b.SwitchKey())
	assert.Equal(t, Introduced, standing(t, b).Phase, "nothing is signed with a key that is not there")
	issue(t, b, "a", 2)
	require.NoError(t, b.WithdrawKey())
	rotate(t, b)
}

func TestIssue_KeyOfTheCA_Refused(t *testing.T) {
	a, _ := fresh(t)
	rotate(t, a)
	for _, k := range standing(t, a).Keys {
		_, err := a.Issue(Request{Name: "a", Key: k.Statement.Key()})
		assert.ErrorIs(t, err, ErrOwnKey, k.File)
	}
}

func TestRevocationFloor(t *testing.T) {
	a, d, clock := at(t)
	floor := func() uint64 { return a.Config().Settings().RevocationFloor }
	revoke := func(m ident.Member) {
		t.Helper()
		_, err := a.Revoke(m, "")
		require.NoError(t, err)
	}
	first := issue(t, a, "a", 2)
	revoke(first.Member())
	clock.now = day.AddDate(0, 0, 10)
	late := issue(t, a, "b", 3)
	clock.now = day.AddDate(0, 0, 20)
	revoke(ident.Member{1})
	revoke(late.Member())

	resources := []string{"ftp"}
	sign := func(days int) {
		t.Helper()
		clock.now = day.AddDate(0, 0, days)
		resources = append(resources, string(rune('a'+len(resources))))
		_, err := a.SetConfig(settings(resources...))
		require.NoError(t, err)
	}
	sign(96)
	assert.Zero(t, floor(), "90 days of a certificate, and 7 for clocks")
	sign(98)
	assert.Equal(t, uint64(1), floor())
	sign(116)
	assert.Equal(t, uint64(1), floor())
	sign(118)
	assert.Equal(t, uint64(3), floor())

	p, err := a.Publication()
	require.NoError(t, err)
	assert.Empty(t, p.Revocations)
	assert.Equal(t, uint64(3), p.RevocationVersion)
	assert.Equal(t, uint64(3), p.RevocationFloor)
	_, revocations := published(t, d)
	assert.Empty(t, revocations)
	_, err = a.Issue(Request{Name: "z", Key: keyOf(2)})
	assert.ErrorIs(t, err, ErrRevoked, "the authority forgets nobody")

	revoke(ident.Member{2})
	_, revocations = published(t, d)
	require.Len(t, revocations, 1)
	assert.Equal(t, uint64(4), revocations[0].Body().Version)
}

// TestRevocationFloor_LongCertificates_Waits: a lifetime that is shortened does
// not end those that were issued before.
func TestRevocationFloor_LongCertificates_Waits(t *testing.T) {
	a, _, clock := at(t)
	first := issue(t, a, "a", 2)
	_, err := a.Revoke(first.Member(), "")
	require.NoError(t, err)
	s := settings("ftp")
	s.CertificateLifetime = time.Hour
	_, err = a.SetConfig(s)
	require.NoError(t, err)
	clock.now = day.AddDate(0, 0, 30)
	s.UpdateCapacity = 7
	_, err = a.SetConfig(s)
	require.NoError(t, err)
	assert.Zero(t, a.Config().Settings().RevocationFloor)
	_, err = a.SetConfig(s)
	assert.ErrorIs(t, err, ErrUnchanged)
	clock.now = day.AddDate(0, 0, 98)
	_, err = a.SetConfig(s)
	assert.ErrorIs(t, err, ErrUnchanged, "a floor that could rise is no reason to sign")
	s.UpdateCapacity = 8
	_, err = a.SetConfig(s)
	require.NoError(t, err)
	assert.Equal(t, uint64(1), a.Config().Settings().RevocationFloor)
}

// TestRevocations_KeyRetired_Over: nobody could verify them any more, and
// the certificates that they are about are worth nothing either.
func TestRevocations_KeyRetired_Over(t *testing.T) {
	a, d := fresh(t)
	first := issue(t, a, "a", 2)
	_, err := a.Revoke(first.Member(), "")
	require.NoError(t, err)
	require.NoError(t, a.IntroduceKey(0))
	second := issue(t, a, "b", 3)
	require.NoError(t, a.SwitchKey())
	_, err = a.Revoke(second.Member(), "")
	require.NoError(t, err)
	assert.Zero(t, a.Config().Settings().RevocationFloor)
	require.NoError(t, a.RetireKey(false))
	assert.Equal(t, uint64(1), a.Config().Settings().RevocationFloor)
	g, revocations := published(t, d)
	require.Len(t, revocations, 1)
	assert.Equal(t, second.Member(), revocations[0].Body().Member)
	for _, c := range []certificate.Certificate{first, second} {
		_, err = certificate.Parse(g.ID(), c.Raw(), g)
		assert.ErrorIs(t, err, certificate.ErrUnknownCA)
	}
}
