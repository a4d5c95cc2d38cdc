package directory_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

var (
	_ directory.Group = (*group.Group)(nil)
	_ token.Keys      = (*directory.Directory)(nil)
)

func TestLearn_Member_Found(t *testing.T) {
	ca := newAuthority(1)
	ada, ben := ca.member(1), ca.member(2)
	d := directory.New(ca, ada.id)
	assert.Zero(t, d.Len())
	assert.Nil(t, d.Key(ben.id))

	cert := ben.certificate(month)
	got, news, err := d.Learn(cert.Raw())
	require.NoError(t, err)
	assert.True(t, news)
	assert.Equal(t, cert.Raw(), got.Raw())
	assert.Equal(t, 1, d.Len())
	assert.True(t, d.Key(ben.id).Equal(ben.key.Public()))
	kept, ok := d.Certificate(ben.id)
	require.True(t, ok)
	assert.Equal(t, cert.Raw(), kept.Raw())
	assert.Empty(t, d.Addresses(ben.id))

	news, err = d.LearnEndpoint(ben.endpoint(5, "one.example.org:4133", "192.0.2.7:4133"))
	require.NoError(t, err)
	assert.True(t, news)
	assert.Equal(t, []string{"one.example.org:4133", "192.0.2.7:4133"}, d.Addresses(ben.id))
	raw, ok := d.Endpoint(ben.id)
	assert.True(t, ok)
	assert.Equal(t, ben.endpoint(5, "one.example.org:4133", "192.0.2.7:4133"), raw)
}

func TestDirectory_Stranger_NothingKnown(t *testing.T) {
	ca := newAuthority(1)
	d := directory.New(ca, ca.member(1).id)
	m := ca.member(2).id
	assert.Nil(t, d.Key(m))
	assert.Empty(t, d.Addresses(m))
	_, ok := d.Certificate(m)
	assert.False(t, ok)
	_, ok = d.Endpoint(m)
	assert.False(t, ok)
	_, ok = d.Revocation(m)
	assert.False(t, ok)
	d.Connected(m, true)
	assert.ErrorIs(t, d.Eligible(m, now), directory.ErrUnknown)
	assert.Zero(t, d.Len())
}

func TestLearn_RenewedCertificate_SameMember(t *testing.T) {
	ca := newAuthority(1)
	ben := ca.member(2)
	old, renewed := ben.issued(1, -time.Hour, month), ben.issued(2, -time.Hour, 2*month)
	d := directory.New(ca, ca.member(1).id)
	for i, c := range []struct {
		cert certificate.Certificate
		news bool
	}{{old, true}, {old, false}, {renewed, true}, {old, false}, {renewed, false}} {
		got, news, err := d.Learn(c.cert.Raw())
		require.NoError(t, err)
		assert.Equal(t, c.news, news, "learning %d", i)
		assert.Equal(t, c.cert.Raw(), got.Raw(), "the certificate that was asked about comes back")
	}
	kept, _ := d.Certificate(ben.id)
	assert.Equal(t, renewed.Raw(), kept.Raw())
	assert.Equal(t, 1, d.Len())
	assert.Equal(t, []ident.Member{ben.id}, slices.Collect(d.Members()))
}

func TestAdmit_VerifiedInHandshake_Taken(t *testing.T) {
	ca := newAuthority(1)
	ben := ca.member(2)
	d := directory.New(ca, ca.member(1).id)
	cert := ben.certificate(month)
	assert.True(t, d.Admit(cert))
	assert.False(t, d.Admit(cert))
	assert.Equal(t, 1, ca.asked, "whether the key is in force")
	_, news, err := d.Learn(cert.Raw())
	require.NoError(t, err)
	assert.False(t, news)
	assert.Equal(t, 1, ca.asked, "what is known is not verified again")
}

func TestLearn_Repeated_NoSignatureCheck(t *testing.T) {
	ca := newAuthority(1)
	ben := ca.member(2)
	d := directory.New(ca, ca.member(1).id)
	for range 3 {
		_, _, err := d.Learn(ben.certificate(month).Raw())
		require.NoError(t, err)
		_, err = d.LearnRevocation(ben.revocation(1))
		require.NoError(t, err)
	}
	assert.Equal(t, 3, ca.asked, "once for each signature, and once whether the key is in force")
}

func TestRefusedObjects(t *testing.T) {
	ca, other := newAuthority(1), newAuthority(2)
	ben, cleo := ca.member(2), ca.member(3)
	d := directory.New(ca, ca.member(1).id)
	d.Admit(ben.certificate(month))
	altered := func(raw []byte) []byte {
		raw = slices.Clone(raw)
		raw[len(raw)-1] ^= 1
		return raw
	}
	foreign := other.member(2)
	stolen := must(certificate.Endpoint{Member: cleo.id, Mode: certificate.DialsOut}.Sign(ca.id, cleo.key)).Raw()
	copy(stolen[8:], ben.id[:]) // the key id in the header
	for name, c := range map[string]struct {
		learn func([]byte) (bool, error)
		raw   []byte
		want  error
	}{
		"nothing":                       {learnCertificate(d), nil, certificate.ErrMalformed},
		"altered certificate":           {learnCertificate(d), altered(cleo.certificate(month).Raw()), certificate.ErrSignature},
		"certificate of another group":  {learnCertificate(d), foreign.certificate(month).Raw(), certificate.ErrGroup},
		"endpoint for a certificate":    {learnCertificate(d), ben.endpoint(1, "a.example:1"), certificate.ErrMalformed},
		"revocation for a certificate":  {learnCertificate(d), ben.revocation(1), certificate.ErrMalformed},
		"no endpoint":                   {d.LearnEndpoint, []byte("endpoint"), certificate.ErrMalformed},
		"altered endpoint":              {d.LearnEndpoint, altered(ben.endpoint(1, "a.example:1")), certificate.ErrSignature},
		"endpoint of an unknown member": {d.LearnEndpoint, cleo.endpoint(1, "a.example:1"), directory.ErrUnknown},
		"endpoint under another name":   {d.LearnEndpoint, stolen, certificate.ErrSigner},
		"endpoint of another group":     {d.LearnEndpoint, foreign.endpoint(1, "a.example:1"), directory.ErrUnknown},
		"no revocation":                 {d.LearnRevocation, []byte("revocation"), certificate.ErrMalformed},
		"altered revocation":            {d.LearnRevocation, altered(ben.revocation(1)), certificate.ErrSignature},
		"revocation by another CA":      {d.LearnRevocation, foreign.revocation(1), certificate.ErrUnknownCA},
		"certificate for a revocation":  {d.LearnRevocation, ben.certificate(month).Raw(), certificate.ErrMalformed},
	} {
		news, err := c.learn(c.raw)
		assert.ErrorIs(t, err, c.want, name)
		assert.False(t, news, name)
	}
	assert.Equal(t, 1, d.Len())
	assert.NoError(t, d.Eligible(ben.id, now))
	assert.Empty(t, d.Addresses(ben.id))
}

func learnCertificate(d *directory.Directory) func([]byte) (bool, error) {
	return func(raw []byte) (bool, error) {
		_, news, err := d.Learn(raw)
		return news, err
	}
}

func TestEndpoint_LowerSequence_Ignored(t *testing.T) {
	ca := newAuthority(1)
	ben := ca.member(2)
	d := directory.New(ca, ca.member(1).id)
	d.Admit(ben.certificate(month))
	for i, c := range []struct {
		raw  []byte
		news bool
		want []string
	}{
		{ben.endpoint(3, "three.example:1"), true, []string{"three.example:1"}},
		{ben.endpoint(3, "three.example:1"), false, []string{"three.example:1"}},
		{ben.endpoint(2, "two.example:1"), false, []string{"three.example:1"}},
		{ben.endpoint(4), true, nil},
		{ben.endpoint(9, "nine.example:1"), true, []string{"nine.example:1"}},
	} {
		news, err := d.LearnEndpoint(c.raw)
		require.NoError(t, err)
		assert.Equal(t, c.news, news, i)
		assert.Equal(t, c.want, d.Addresses(ben.id), i)
	}
}

func TestStatus(t *testing.T) {
	ca := newAuthority(1)
	d := directory.New(ca, ca.member(1).id)
	valid, expired, early, dead, deadUnknown, unknown := ca.member(2), ca.member(3), ca.member(4), ca.member(5), ca.member(6), ca.member(7)
	d.Admit(valid.certificate(month))
	d.Admit(expired.certificate(-time.Second))
	d.Admit(early.issued(9, time.Hour, month))
	d.Admit(dead.certificate(-time.Second))
	for i, s := range []someone{dead, deadUnknown} {
		news, err := d.LearnRevocation(s.revocation(uint64(i + 1)))
		require.NoError(t, err)
		assert.True(t, news)
	}
	for name, c := range map[string]struct {
		member someone
		want   error
	}{
		"valid":               {valid, nil},
		"expired":             {expired, certificate.ErrExpired},
		"early":               {early, certificate.ErrNotYetValid},
		"revoked and expired": {dead, directory.ErrRevoked},
		"revoked, unknown":    {deadUnknown, directory.ErrRevoked},
		"unknown":             {unknown, directory.ErrUnknown},
	} {
		assert.ErrorIs(t, d.Eligible(c.member.id, now), c.want, name)
	}
	assert.NoError(t, d.Eligible(early.id, now.Add(2*time.Hour)), "time is an argument")
	assert.ErrorIs(t, d.Eligible(valid.id, now.Add(month)), certificate.ErrExpired)
}

// What a member signed while alive is settled after its death.
func TestKey_DepartedMember_Remains(t *testing.T) {
	ca := newAuthority(1)
	ben, cleo := ca.member(2), ca.member(3)
	d := directory.New(ca, ca.member(1).id)
	_, news, err := d.Learn(ben.certificate(-time.Hour).Raw())
	require.NoError(t, err)
	assert.True(t, news)
	_, err = d.LearnRevocation(cleo.revocation(1))
	require.NoError(t, err)
	_, news, err = d.Learn(cleo.certificate(month).Raw())
	require.NoError(t, err)
	assert.True(t, news)
	assert.True(t, d.Key(ben.id).Equal(ben.key.Public()))
	assert.True(t, d.Key(cleo.id).Equal(cleo.key.Public()))
}

func TestFullDirectory(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(4)
	d := directory.New(ca, list[0].id)
	d.SetLimit(2)
	introduce(t, d, list[0], list[1])
	learn := learnCertificate(d)
	news, err := learn(list[2].certificate(month).Raw())
	assert.ErrorIs(t, err, directory.ErrFull)
	assert.False(t, news)
	assert.False(t, d.Admit(list[2].certificate(month)))
	assert.Nil(t, d.Key(list[2].id))
	members, objects := d.Traces()
	assert.Equal(t, 2, members)
	assert.Equal(t, 2, objects)

	news, err = learn(list[1].issued(77, -time.Hour, 2*month).Raw())
	require.NoError(t, err, "news of those who are known")
	assert.True(t, news)
	news, err = d.LearnRevocation(list[3].revocation(1))
	require.NoError(t, err, "a revocation is not kept out by the living")
	assert.True(t, news)
	_, err = learn(list[3].certificate(month).Raw())
	require.NoError(t, err, "nor the key of the dead, for what it signed")
	_, err = d.LearnRevocation(list[1].revocation(2))
	require.NoError(t, err)
	_, err = learn(list[2].certificate(month).Raw())
	require.NoError(t, err, "who is revoked makes room")
	_, err = learn(ca.member(9).certificate(month).Raw())
	assert.ErrorIs(t, err, directory.ErrFull)
	d.SetLimit(3)
	_, err = learn(ca.member(9).certificate(month).Raw())
	assert.NoError(t, err)
}

func TestLimit_OutOfRange_Clamped(t *testing.T) {
	ca := newAuthority(1)
	d := directory.New(ca, ca.member(1).id)
	d.SetLimit(-1)
	assert.True(t, d.Admit(ca.member(1).certificate(month)))
	assert.False(t, d.Admit(ca.member(2).certificate(month)))
	d.SetLimit(directory.MaxMembers + 1)
	assert.True(t, d.Admit(ca.member(2).certificate(month)))
}

func TestRevocations_AsManyAsMembers_Kept(t *testing.T) {
	ca := newAuthority(1)
	d := directory.New(ca, ca.member(0).id)
	d.LimitRevocations(2)
	for version := uint64(1); version <= 2; version++ {
		must(d.LearnRevocation(ca.member(version).revocation(version)))
	}
	news, err := d.LearnRevocation(ca.member(3).revocation(3))
	assert.ErrorIs(t, err, directory.ErrFull)
	assert.False(t, news)
	assert.Equal(t, uint64(2), d.RevocationVersion())
	assert.ErrorIs(t, d.Eligible(ca.member(3).id, now), directory.ErrUnknown)
}

func nobody(ident.Member) bool { return false }

func TestForget(t *testing.T) {
	ca := newAuthority(1)
	self, gone, recent, connected, dead, valid := ca.member(0), ca.member(1), ca.member(2), ca.member(3), ca.member(4), ca.member(5)
	d := directory.New(ca, self.id)
	for _, s := range []someone{self, gone, connected, dead} {
		d.Admit(s.issued(1, -2*month, -month))
		must(d.LearnEndpoint(s.endpoint(1, "a.example:1")))
	}
	d.Connected(connected.id, true)
	must(d.LearnRevocation(dead.revocation(1)))
	d.Admit(recent.issued(1, -month, -time.Hour))
	introduce(t, d, valid)
	d.SetLimit(5)
	assert.False(t, d.Admit(ca.member(6).certificate(month)))

	d.Forget(now.Add(-month), nobody)
	assert.Equal(t, 6, d.Len(), "a certificate that ends at this time has not ended before it")
	d.Forget(now.Add(-time.Hour), func(m ident.Member) bool { return m == gone.id })
	assert.NotNil(t, d.Key(gone.id), "needed")
	d.Forget(now.Add(-time.Hour), nobody)
	assert.Equal(t, ids([]someone{self, recent, connected, valid}), slices.Collect(d.Members()))
	for _, s := range []someone{gone, dead} {
		assert.Nil(t, d.Key(s.id))
		assert.Empty(t, d.Addresses(s.id))
	}
	assert.ErrorIs(t, d.Eligible(gone.id, now), directory.ErrUnknown)
	assert.ErrorIs(t, d.Eligible(dead.id, now), directory.ErrRevoked, "permanently")
	places, listed := d.Traces()
	assert.Equal(t, 5, places)
	assert.Equal(t, 4, listed)
	for at := now.Add(-3 * month); at.Before(now.Add(month)); at = at.Add(time.Hour) {
		m, ok := d.Choose(seeded(1), at, nil)
		assert.True(t, !ok || m == valid.id || m == connected.id)
	}

	assert.True(t, d.Admit(ca.member(6).certificate(month)), "there is room again")
	assert.True(t, d.Admit(dead.issued(1, -2*month, -month)))
	_, news, err := d.Learn(gone.issued(1, -2*month, -month).Raw())
	assert.ErrorIs(t, err, directory.ErrForgotten, "no peer teaches it again")
	assert.False(t, news)
	_, news, err = d.LearnSigner(gone.issued(1, -2*month, -month).Raw())
	assert.ErrorIs(t, err, directory.ErrFull, "a token may still need it")
	assert.False(t, news)
}
